"""What is no JSON: pictures, whole texts, exports; and the record of a message as the agent wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from geminids.core.model import (
    Attachment,
    FileReference,
    Message,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from geminids.faces.documents.transcript import RawRecord
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint, Index, Number, Words
from geminids.faces.web.errors import BadParameterError, NoSuchPieceError
from geminids.faces.web.parts import attachment_bytes, picture_kind
from geminids.faces.web.transcript import Level, message_numbered, turn_of, turns_led
from geminids.library.export_items import Item
from geminids.sharing.export import load as format_called
from geminids.sharing.redact import Redactor
from geminids.sharing.redact.raw_records import redacted_record
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.call_summary import output_text, value_words
from geminids.sharing.transcript.entries import LEVELS, Turn

MOST_RAW = 1_000_000
"""Characters of a record that are shown."""
MOST_READ = 20_000_000
MOST_TEXT = 5_000_000
TEXT = "text/plain; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
BYTES = "application/octet-stream"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class AskedForPart(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of which message."""

    number: Number
    part: Index
    piece: Index = 0
    """Which piece of the result of a call."""


class AskedForText(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which message, or which part of it."""

    number: Number
    part: Index | None = None
    argument: Words | None = None
    """Of a call: this argument instead of what came back."""


class AskedForRecord(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which message, and which of its records."""

    number: Number
    version: Index | None = None
    """From 0; None means the last that was written."""


class AskedForExport(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In which format, and in how much detail."""

    format: Words = "html"
    detail: Level | None = None
    """None means what is usual for the format."""
    secrets: bool = False
    """Leave secrets in, and pictures: what is exported is made to leave this machine."""


class AskedForMarkdown(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of what: a message, all from the prompt before it to the next one, or the whole session."""

    number: Number | None = None
    """None means the whole session."""
    with_answers: bool = False
    """Whether all that belongs to the same prompt is meant."""
    detail: Level = "tools"


def attachment(desk: Desk, asked: AskedForPart) -> Response:
    """A picture, or the bytes of another attachment to be saved."""
    message = message_numbered(desk.session(asked.id).session, asked.number)
    found = _attachment(message, asked)
    content = attachment_bytes(found.data) if found and found.data else None
    if found is None or content is None:
        raise NoSuchPieceError("attachment")
    kind = picture_kind(found)
    disposition = "inline" if kind else f'attachment; filename="attachment-{asked.number}-{asked.part}.bin"'
    return Response(content, headers={"content-disposition": disposition}, media_type=kind or BYTES)


def text(desk: Desk, asked: AskedForText) -> Response:
    """All words of a message as they were written, or of one part: to copy, or where a page shows a piece."""
    message = message_numbered(desk.session(asked.id).session, asked.number)
    if asked.part is None:
        words = "\n\n".join(filter(None, (_said(part) for part in message.parts)))
    elif asked.part < len(message.parts):
        words = _whole(message.parts[asked.part], asked.argument)
    else:
        raise NoSuchPieceError("part")
    return Response(safe.text(words[:MOST_TEXT]).encode("utf-8", "replace"), media_type=TEXT)


def raw(desk: Desk, asked: AskedForRecord) -> RawRecord:
    """The record of a message as the agent wrote it."""
    session = desk.opened.session(desk.library, asked.id, None).session
    message = message_numbered(session, asked.number)
    places = message.places
    version = len(places) - 1 if asked.version is None else asked.version
    if version >= len(places):
        raise NoSuchPieceError("version of this record")
    place = places[version]
    written = desk.library.record(session, place)[:MOST_READ].decode("utf-8", "replace")
    file = place.file
    if desk.is_redacted:
        hide = partial(redacted_record, session=session, written=written, file=file)
        written, file = desk.redaction.using(desk.library, hide)
    shown = written[:MOST_RAW]
    return RawRecord(
        file=safe.line(file),
        line=place.line,
        start=place.start,
        end=place.end,
        pointer=place.pointer,
        size=place.end - place.start,
        text=safe.text(shown),
        is_cut=len(shown) < len(written) or place.end - place.start > MOST_READ,
        version=version,
        versions=len(places),
    )


def markdown(desk: Desk, asked: AskedForMarkdown) -> Response:
    """A message, a prompt with all that came of it, or a session as Markdown, to be copied."""
    if asked.number is None:
        content = _exported(desk, asked.id, "markdown", asked.detail)
    else:
        opened = desk.session(asked.id)
        turns = list(_turns(opened, asked.number, asked.detail, with_answers=asked.with_answers))
        words = desk.library.as_markdown(opened.session, turns, LEVELS[asked.detail])
        content = words.encode("utf-8", "replace")
    return Response(content, media_type=MARKDOWN)


def export(desk: Desk, asked: AskedForExport) -> Response:
    """A session in one of the formats, to be saved."""
    chosen = format_called(asked.format)
    hiding = desk._replace(is_redacted=desk.is_redacted or not asked.secrets)
    content = _exported(hiding, asked.id, asked.format, asked.detail)
    session = hiding.session(asked.id).session
    stem = _NOT_IN_A_NAME.sub("-", f"{session.agent}-{session.native_id}")[:80].strip(".-") or "session"
    headers = {"content-disposition": f'attachment; filename="{quote(stem + chosen.suffix)}"'}
    return Response(content, headers=headers, media_type=BYTES)


ENDPOINTS = (
    Endpoint("/api/session/attachment", AskedForPart, BYTES, attachment),
    Endpoint("/api/session/text", AskedForText, "text/plain", text),
    Endpoint("/api/session/raw", AskedForRecord, RawRecord, raw, hides_itself=True),
    Endpoint("/api/session/markdown", AskedForMarkdown, "text/markdown", markdown),
    Endpoint("/api/session/export", AskedForExport, BYTES, export),
)


def _exported(desk: Desk, wanted: str, format_name: str, level: str | None) -> bytes:
    session = desk.opened.session(desk.library, wanted, None).session
    detail = LEVELS[level] if level else None

    def export(redactor: Redactor | None) -> bytes:
        exporting = desk.library.exporting(format_name, detail, redactor=redactor)
        return b"".join(exporting.pieces([Item(session.id, session.file, lambda: session)]))

    return desk.redaction.using(desk.library, export) if desk.is_redacted else export(None)


def _turns(opened: OpenedSession, number: int, level: str, *, with_answers: bool) -> Iterator[Turn]:
    """The turn of a message, or all turns that belong to the same prompt, as far as they are told."""
    if not with_answers:
        turn = turn_of(opened, message_numbered(opened.session, number), level)
        yield msgspec.structs.replace(turn, continues=False)
        return
    message_numbered(opened.session, number)
    begins = [led.number for led in turns_led(opened)]
    first = max((begin for begin in begins if begin <= number), default=1)
    end = min((begin for begin in begins if begin > number), default=len(opened.session.messages) + 1)
    places, story = opened.places(level), opened.story(level)
    entries = (story[places[one]] for one in range(first, end) if one in places)
    yield from (entry for entry in entries if isinstance(entry, Turn))


def _attachment(message: Message, asked: AskedForPart) -> Attachment | None:
    part = message.parts[asked.part] if asked.part < len(message.parts) else None
    match part:
        case Attachment():
            return part
        case ToolCall(result=pieces) | ToolResult(parts=pieces):
            piece = pieces[asked.piece] if asked.piece < len(pieces) else None
            return piece if isinstance(piece, Attachment) else None
        case _:
            return None


def _said(part: object) -> str:
    """What is said in a part; calls are no words."""
    match part:
        case Text(text=words):
            return words
        case FileReference(path=path):
            return f"@{path}"
        case _:
            return ""


def _whole(part: object, argument: str | None) -> str:
    match part:
        case ToolCall(arguments=arguments) if argument is not None:
            # Pages know them by the names that are shown.
            for name, value in arguments.items():
                if argument in (name, safe.line(name)):
                    return value_words(value, indented=True)
            raise NoSuchPieceError("argument of this name")
        case ToolCall():
            return output_text(part)
        case ToolResult(parts=pieces):
            return "\n".join(piece.text for piece in pieces if isinstance(piece, Text))
        case Text(text=words) | Thought(text=words):
            return words
        case FileReference(text=words):
            return words or ""
        case Unrecognised(raw=value):
            return value_words(value, indented=True)
        case _:
            raise BadParameterError("This part holds no words; it has an address as an attachment.")
