"""Content and children of an entry as the parts of a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Origin,
    ResultPart,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    ToolStatus,
    Unrecognised,
)
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.shapes import (
    AttachmentBlock,
    Block,
    CallShape,
    Child,
    Content,
    FileBlock,
    OriginNote,
    ResultShape,
    TextBlock,
    ThoughtShape,
    UnrecognisedBlock,
)
from geminids.sharing.records.translation_parts import (
    ANSWER,
    CALL,
    RESULT,
    ChildPart,
    ContentPart,
    leading_thoughts,
)


def read_content(content: Content | None, usual: Origin, origin: Origin | None) -> list[ContentPart]:
    """The pieces of content; `origin` says whose a single text is, where that is not as usual."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content, origin or usual)]
    return [_part(block, usual) for block in content]


def _part(block: Block, usual: Origin) -> ContentPart:
    match block:
        case TextBlock():
            return Text(block.text, _origin(block.ours, usual))
        case AttachmentBlock():
            origin = _origin(block.ours, Origin.HUMAN)
            return Attachment(block.mime_type, block.data, block.uri, origin)
        case FileBlock():
            return FileReference(block.path, block.text)
        case UnrecognisedBlock():
            return Unrecognised(block.value)


def _origin(note: OriginNote | None, usual: Origin) -> Origin:
    return note.origin if note else usual


def read_children(children: Sequence[Child], pointer: str) -> Iterator[ChildPart]:
    """The parts that children tell of; a result with the number of the call before it belongs to this."""
    calls = 0
    waiting: CallShape | None = None
    for number, child in enumerate(children):
        place = f"{pointer}/children/{number}"
        if isinstance(child, ResultShape) and waiting and child.id.endswith(f"#r{calls}"):
            yield _answered(waiting, child, f"{pointer}/children/{number - 1}", place)
            waiting = None
            continue
        if waiting:
            yield _unanswered(waiting, f"{pointer}/children/{number - 1}")
            waiting = None
        calls += not isinstance(child, ThoughtShape)
        match child:
            case ThoughtShape():
                yield Thought(child.content, child.subject, child.timestamp)
            case CallShape():
                waiting = child
            case ResultShape():
                yield _result(child, place)
    if waiting:
        yield _unanswered(waiting, f"{pointer}/children/{len(children) - 1}")


def in_order(
    contents: list[ContentPart], children: list[ChildPart], after: Sequence[int] | None, pointer: str
) -> tuple[AnyPart, ...]:
    """All parts in the agent's order; `after` says how many children stand before each piece of content."""
    places = [leading_thoughts(children)] * len(contents) if after is None else [*after]
    is_order = places == sorted(places) and all(0 <= place <= len(children) for place in places)
    if len(places) != len(contents) or not is_order:
        raise RecordError(f"The record is damaged: {pointer}/x-geminids/content_after fits no content.")
    parts: list[AnyPart] = []
    done = 0
    for content, place in zip(contents, places, strict=True):
        parts += children[done:place]
        parts.append(content)
        done = place
    return (*parts, *children[done:])


def _call(call: CallShape, left: dict[str, Any], **more: Any) -> ToolCall:
    known: dict[str, Any] = {
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.input,
        "at": call.timestamp,
    }
    return ToolCall(**known, **left, **more)


def _unanswered(call: CallShape, pointer: str) -> ToolCall:
    left = CALL.read(call.ours, f"{pointer}/x-geminids")
    return _call(call, left | {"status": left["status"] or ToolStatus.PENDING})


def _answered(call: CallShape, result: ResultShape, pointer: str, result_pointer: str) -> ToolCall:
    left = CALL.read(call.ours, f"{pointer}/x-geminids")
    answer = ANSWER.read(result.ours, f"{result_pointer}/x-geminids")
    if result.call_id != call.call_id:
        raise RecordError(f"The record is damaged: {result_pointer}/call-id is not that of its call.")
    status = answer.pop("status") or _status(result, result_pointer)
    output = _output(result, answer.pop("output_origin"), result_pointer)
    noted = left | answer | {"status": status, "native_status": result.status}
    return _call(call, noted, result=output)


def _status(result: ResultShape, pointer: str) -> ToolStatus:
    if result.is_error is None:
        raise RecordError(f"The record is damaged: {pointer} does not say how the call ended.")
    return ToolStatus.ERROR if result.is_error else ToolStatus.SUCCESS


def _result(result: ResultShape, pointer: str) -> ToolResult:
    left = RESULT.read(result.ours, f"{pointer}/x-geminids")
    output = _output(result, left.pop("output_origin"), pointer)
    return ToolResult(call_id=result.call_id, parts=output, **left)


def _output(result: ResultShape, origin: Origin | None, pointer: str) -> tuple[ResultPart, ...]:
    parts = read_content(result.output, Origin.TOOL, origin)
    answers = tuple(part for part in parts if not isinstance(part, FileReference))
    if len(answers) != len(parts):
        raise RecordError(f"The record is damaged: {pointer}/output holds what no tool can answer.")
    return answers
