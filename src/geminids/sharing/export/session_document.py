"""`geminids/session/1`: a session as our own JSON document, written and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from geminids.core.model import Message, Session, Thought, ToolCall, is_tellable

SCHEMA = "geminids/session/1"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BEGINNING = re.compile(rb'\s*\{\s*"schema"\s*:\s*"%s"' % re.escape(SCHEMA.encode()))
_PLACE = re.compile(r"`(\$[^`]*)`$")
_LARGEST = 2**63 - 1
"""Bytes; no system has larger files."""


class MarkedNote(msgspec.Struct, frozen=True):
    """Something that the user noted about a session."""

    id: int
    """What `mark --forget-note` takes."""
    at: datetime
    text: str


class MarkedSession(Session, frozen=True, kw_only=True):
    """One conversation, whole, and what the user said of it."""

    name: str | None
    """What the user calls it; lists show it instead of the title."""
    tags: tuple[str, ...]
    notes: tuple[MarkedNote, ...]


class SessionDocument(MarkedSession, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """One conversation, whole."""

    others: Sequence[MarkedSession]
    """Sessions in the same file, where one was given."""


def is_session_document(beginning: bytes) -> bool:
    """Whether a file that begins so is such a document: the name of its schema always comes first."""
    return _BEGINNING.match(beginning.removeprefix(_BYTE_ORDER_MARK)) is not None


def read_document(content: bytes) -> list[Session]:
    """The sessions in a document. Raises msgspec.DecodeError, which tells where, but no word of a session."""
    try:
        document = msgspec.json.decode(content.removeprefix(_BYTE_ORDER_MARK), type=SessionDocument)
    except msgspec.ValidationError as error:
        raise msgspec.DecodeError(_where(str(error))) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError("it is no UTF-8, or nested too deep") from error
    sessions = [_plain(document), *map(_plain, document.others)]
    moments = [moment for session in sessions for moment in _moments(session)]
    if any(moment.tzinfo is None for moment in moments):
        raise msgspec.DecodeError("a time in it has no zone")
    if not all(map(is_tellable, moments)):
        raise msgspec.DecodeError("a time in it is before 1970 or after 2999")
    if not all(0 <= size <= _LARGEST for session in sessions for size in _sizes(session)):
        raise msgspec.DecodeError("a size in it is that of no file")
    return sessions


def _where(complaint: str) -> str:
    """The place that a complaint names; what was found there may be anything."""
    place = _PLACE.search(complaint)
    return f"something is missing or of another kind at {place[1]}" if place else "it misses something"


def _moments(session: Session) -> Iterator[datetime]:
    """All times in a session."""
    beside = (companion.modified_at for companion in session.companions)
    of_messages = (moment for message in session.messages for moment in _moments_of(message))
    yield from filter(None, (session.started_at, session.ended_at, *beside, *of_messages))


def _moments_of(message: Message) -> Iterator[datetime | None]:
    yield message.at
    for part in message.parts:
        if isinstance(part, Thought | ToolCall):
            yield part.at


def _sizes(session: Session) -> Iterator[int]:
    """The sizes of all files in a session, in bytes."""
    yield from (file.size for file in session.files)
    yield from (companion.size for companion in session.companions)
    for message in session.messages:
        for call in message.tool_calls:
            if call.full_output is not None:
                yield from (call.full_output.size, call.full_output.left_out)


def _plain(session: MarkedSession) -> Session:
    return Session(**{name: getattr(session, name) for name in Session.__struct_fields__})
