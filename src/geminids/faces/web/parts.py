"""The parts of a message as documents: words as HTML, calls with their changes and outputs, pictures."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple
from urllib.parse import urlencode

from geminids.core.model import (
    AgentProgress,
    AnyPart,
    Attachment,
    FileReference,
    Message,
    Origin,
    Screen,
    Text,
    Thought,
    Todos,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from geminids.faces.documents.parts import (
    AnyPartDocument,
    Argument,
    CallDetails,
    CallPart,
    FilePart,
    Output,
    PicturePart,
    ResultPart,
    ThoughtPart,
    UnknownPart,
    WordsPart,
)
from geminids.faces.web.diffs import file_diffs
from geminids.faces.web.prose import is_cut, plain, prose
from geminids.faces.web.screens import output, screen
from geminids.faces.web.times import seconds_between
from geminids.sharing.transcript import safe, words
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    changed_lines,
    error_line,
    line_argument,
    output_text,
    result_of_task,
    value_words,
)
from geminids.sharing.transcript.entries import Detail
from geminids.sharing.transcript.labels import (
    CALL_MARKS,
    NO_WORDS,
    attachment_name,
    call_outcome,
    call_trouble,
    moved_sentence,
    result_title,
    thought_title,
)
from geminids.sharing.transcript.limits import LONGEST_ERROR, cut

MOST_LETTERS = 20_000
"""Of an argument, a file or something unrecognised."""
LONGEST_ARGUMENT = 400
"""Characters in the line of a call."""
_SHOWN_IN_DIFF = frozenset({"content", "new_string", "old_string", "instruction", "patch", "input"})
_BEGINNINGS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF(?s:....)WEBP"),
}
"""The kinds of pictures that are drawn, and how their bytes begin."""


class PartAddress(NamedTuple):
    """Where a part stands: what its addresses are made of."""

    session_id: str
    number: int
    part: int
    is_redacted: bool
    project_path: str | None
    detail: Detail

    def of_piece(self, piece: int) -> str:
        """Where the bytes of an attachment are."""
        asked = {"id": self.session_id, "number": self.number, "part": self.part, "piece": piece}
        return f"/api/session/attachment?{urlencode(asked | ({'redact': 1} if self.is_redacted else {}))}"


def part_document(part: AnyPart, message: Message, address: PartAddress) -> AnyPartDocument:
    """One part of a message."""
    match part:
        case ToolCall():
            return _call(part, message, address)
        case Thought(text=thought):
            title = safe.line(thought_title(part))
            return ThoughtPart(index=address.part, title=title, html=prose(thought), is_cut=is_cut(thought))
        case Text():
            return _words(part, address)
        case Attachment():
            return _picture(part, address, 0)
        case FileReference(path=path, text=content):
            shown = content if address.detail.tools else None
            text = safe.text(shown[:MOST_LETTERS]) if shown is not None else None
            return FilePart(
                index=address.part, path=safe.line(path), text=text, is_cut=len(shown or "") > MOST_LETTERS
            )
        case ToolResult():
            return _result(part, address)
        case Unrecognised(raw=raw):
            return _unknown(raw, address)


def _words(part: Text, address: PartAddress) -> WordsPart:
    is_prose = part.origin is Origin.MODEL
    shown = part.text or (NO_WORDS if part.origin is Origin.NOTICE else "")
    return WordsPart(
        index=address.part,
        origin=part.origin,
        html=prose(shown) if is_prose else plain(shown),
        is_prose=is_prose,
        is_cut=is_cut(shown),
    )


def _unknown(raw: object, address: PartAddress) -> UnknownPart:
    text = value_words(raw, indented=True)
    return UnknownPart(
        index=address.part, text=safe.text(text[:MOST_LETTERS]), is_cut=len(text) > MOST_LETTERS
    )


def _result(part: ToolResult, address: PartAddress) -> ResultPart:
    printed = "\n".join(piece.text for piece in part.parts if isinstance(piece, Text))
    return ResultPart(
        index=address.part,
        title=safe.line(result_title(part)),
        output=output(printed),
        pictures=_pictures(part.parts, address),
    )


# Calls


def _call(call: ToolCall, message: Message, address: PartAddress) -> CallPart:
    outcome = call_outcome(call)
    counted = changed_lines(call.changes)
    argument = line_argument(call, address.project_path, is_whole_below=address.detail.tools)
    handed_back = result_of_task(call) or _report(call)
    return CallPart(
        index=address.part,
        call_id=call.call_id,
        name=safe.line(call.name),
        kind=call.kind,
        status=outcome,
        mark=CALL_MARKS[outcome][0],
        argument=cut(safe.line(argument), LONGEST_ARGUMENT),
        added=counted[0] if counted else None,
        removed=counted[1] if counted else None,
        trouble=safe.line(call_trouble(call)),
        error=cut(safe.line(error_line(call)), LONGEST_ERROR),
        answers=[safe.line(line) for line in answer_lines(call)],
        handed_back=prose(handed_back) if handed_back else "",
        child_id=call.child_id,
        at=call.at,
        seconds=seconds_between(message.at, call.at),
        details=_details(call, address) if address.detail.tools else None,
    )


def _report(call: ToolCall) -> str:
    """What a subagent gave back to this call, where that is told apart from what the model was told."""
    return (call.display.result or "") if isinstance(call.display, AgentProgress) else ""


def _details(call: ToolCall, address: PartAddress) -> CallDetails:
    diffs = file_diffs(call)
    has_diff = any(diff.hunks for diff in diffs)
    moved = call.full_output
    return CallDetails(
        description=safe.text(call.description) if call.description else None,
        arguments=[_argument(name, value, has_diff=has_diff) for name, value in call.arguments.items()],
        diffs=diffs,
        output=None if _report(call) else _output(call),
        todos=[
            type(todo)(safe.line(todo.text), safe.line(todo.status))
            for todo in (call.display.todos if isinstance(call.display, Todos) else ())
        ],
        pictures=_pictures(call.result, address),
        moved=safe.line(words.capital(moved_sentence(moved, moved.path))) if moved else None,
    )


def _output(call: ToolCall) -> Output | None:
    is_moved = call.full_output is not None and call.full_output.text is not None
    if isinstance(call.display, Screen) and not is_moved:
        return screen(call.display)
    return output(output_text(call))


def _argument(name: str, value: object, *, has_diff: bool) -> Argument:
    text = value_words(value, indented=True)
    return Argument(
        name=safe.line(name),
        text=safe.text(text[:MOST_LETTERS]),
        is_cut=len(text) > MOST_LETTERS,
        is_in_diff=has_diff and name in _SHOWN_IN_DIFF,
    )


# Pictures


def _pictures(parts: tuple[object, ...], address: PartAddress) -> list[PicturePart]:
    """The attachments in a result; each is numbered among all of its pieces."""
    return [
        _picture(part, address, piece) for piece, part in enumerate(parts) if isinstance(part, Attachment)
    ]


def _picture(part: Attachment, address: PartAddress, piece: int) -> PicturePart:
    return PicturePart(
        index=address.part,
        name=safe.line(attachment_name(part)),
        mime_type=harmless_type(part.mime_type),
        address=address.of_piece(piece) if part.data else None,
        is_picture=picture_kind(part) is not None,
    )


def harmless_type(written: str | None) -> str | None:
    """A media type in plain letters."""
    return safe.line(written) if written else None


def picture_kind(part: Attachment) -> str | None:
    """The kind of a picture that a browser may draw: told by its name and its bytes, which must agree."""
    kind = (part.mime_type or "").lower()
    if not part.data or kind not in _BEGINNINGS:
        return None
    first = attachment_bytes(part.data[:32])
    return kind if first and _BEGINNINGS[kind].match(first) else None


def attachment_bytes(data: str) -> bytes | None:
    """The bytes of an attachment; None if they are not what they seem."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
