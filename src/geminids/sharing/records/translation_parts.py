"""The parts of a message as content and children of an entry.

Words, attachments and files are its content: a text where there is just one, else a list of blocks. Thoughts,
calls and what tools answered are its children, in the order of the agent. A call that came to an end is
followed by a result of the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Origin,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
    Unrecognised,
)
from geminids.sharing.records.leftovers import Leftovers, moment
from geminids.sharing.records.profile import OURS

ContentPart = Text | Attachment | FileReference | Unrecognised
ChildPart = Thought | ToolCall | ToolResult

UNDECIDED = (ToolStatus.PENDING, ToolStatus.UNKNOWN)
IS_ERROR = {ToolStatus.SUCCESS: False, ToolStatus.ERROR: True}

_ANSWERING = {"display", "exit_code", "full_output"}
"""What of a call is told with its result."""
_CANONICAL = {"call_id", "name", "arguments", "at", "result", "status", "native_status"}
_STATUS = ("status", ToolStatus | None, None)
_ORIGIN = ("output_origin", Origin | None, None)

CALL = Leftovers(
    ToolCall,
    _CANONICAL | _ANSWERING,
    {"kind": ToolKind.OTHER},
    notes=[_STATUS, ("native_status", str | None, None)],
)
ANSWER = Leftovers(ToolCall, {*ToolCall.__struct_fields__} - _ANSWERING, notes=[_STATUS, _ORIGIN])
RESULT = Leftovers(ToolResult, {"call_id", "parts"}, {"name": None}, notes=[_ORIGIN])


def divided(parts: Iterable[AnyPart]) -> tuple[list[ContentPart], list[ChildPart], list[int]]:
    """Content, children, and how many of the children stand before each piece of content."""
    contents: list[ContentPart] = []
    children: list[ChildPart] = []
    after: list[int] = []
    for part in parts:
        if isinstance(part, ChildPart):
            children.append(part)
        else:
            contents.append(part)
            after.append(len(children))
    return contents, children, after


def leading_thoughts(children: Sequence[object]) -> int:
    """How many children stand before the content, unless something else is noted."""
    return next((n for n, part in enumerate(children) if not isinstance(part, Thought)), len(children))


def content_and_origin(
    parts: Sequence[ContentPart], usual: Origin
) -> tuple[str | list[dict[str, Any]], Origin | None]:
    """Pieces of content, and whose words they are where it is a text and that is not as usual."""
    match parts:
        case [Text(text, origin)]:
            return text, origin if origin is not usual else None
        case _:
            return [_block(part, usual) for part in parts], None


def _block(part: ContentPart, usual: Origin) -> dict[str, Any]:
    match part:
        case Text(text, origin):
            return {"type": "text", "text": text} | _noted_origin(origin, usual)
        case Attachment(mime_type, data, uri, origin):
            about = {"mime-type": mime_type, "data": data, "uri": uri}
            known = {name: value for name, value in about.items() if value is not None}
            return {"type": "attachment"} | known | _noted_origin(origin, Origin.HUMAN)
        case FileReference(path, text):
            return {"type": "file-reference", "path": path} | ({} if text is None else {"text": text})
        case Unrecognised(raw):
            return {"type": "unrecognised", "value": raw}


def _noted_origin(origin: Origin, usual: Origin) -> dict[str, Any]:
    return {} if origin is usual else {OURS: {"origin": origin.value}}


def children_of(message_id: str, parts: Iterable[ChildPart]) -> Iterator[dict[str, Any]]:
    """The children of an entry: thoughts have numbers of their own, calls and results share theirs."""
    thoughts = calls = 0
    for part in parts:
        if isinstance(part, Thought):
            thoughts += 1
            yield _thought(part, f"{message_id}#t{thoughts}")
            continue
        calls += 1
        if isinstance(part, ToolResult):
            yield _result(part, f"{message_id}#r{calls}")
            continue
        yield _call(part, f"{message_id}#c{calls}")
        if has_answer(part):
            yield _answer(part, f"{message_id}#r{calls}")


def has_answer(call: ToolCall) -> bool:
    """Whether anything came of a call that a result can tell of."""
    is_shown = call.display is not None or call.exit_code is not None or call.full_output is not None
    return bool(call.result) or call.status not in UNDECIDED or is_shown


def _thought(thought: Thought, entry_id: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "reasoning", "id": entry_id} | _timestamp(thought.at)
    if thought.subject:
        entry["subject"] = thought.subject
    entry["content"] = thought.text
    return entry


def _call(call: ToolCall, entry_id: str) -> dict[str, Any]:
    entry = {"type": "tool-call", "id": entry_id} | _call_id(call.call_id) | _timestamp(call.at)
    entry |= {"name": call.name, "input": call.arguments}
    if has_answer(call):
        return with_ours(entry, CALL.written(call))
    status = None if call.status is ToolStatus.PENDING else call.status
    return with_ours(entry, CALL.written(call, status=status, native_status=call.native_status))


def _answer(call: ToolCall, entry_id: str) -> dict[str, Any]:
    entry = {"type": "tool-result", "id": entry_id} | _call_id(call.call_id)
    is_error = IS_ERROR.get(call.status)
    if call.native_status is not None:
        entry["status"] = call.native_status
    if is_error is not None:
        entry["is-error"] = is_error
    entry["output"], origin = content_and_origin(call.result, Origin.TOOL)
    status = call.status if is_error is None else None
    return with_ours(entry, ANSWER.written(call, status=status, output_origin=origin))


def _result(result: ToolResult, entry_id: str) -> dict[str, Any]:
    entry = {"type": "tool-result", "id": entry_id} | _call_id(result.call_id)
    entry["output"], origin = content_and_origin(result.parts, Origin.TOOL)
    return with_ours(entry, RESULT.written(result, output_origin=origin))


def _call_id(call_id: str | None) -> dict[str, Any]:
    return {} if call_id is None else {"call-id": call_id}


def _timestamp(at: datetime | None) -> dict[str, Any]:
    return {} if at is None else {"timestamp": moment(at)}


def with_ours(entry: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """An entry with what the format has no member for, if there is anything."""
    if ours:
        entry[OURS] = ours
    return entry
