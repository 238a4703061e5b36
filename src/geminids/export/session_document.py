"""`geminids/session/1`: a session as our own JSON document, written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from geminids.model import Session

SCHEMA = "geminids/session/1"


class Note(msgspec.Struct, frozen=True):
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
    notes: tuple[Note, ...]


class SessionDocument(MarkedSession, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """One conversation, whole."""

    others: Sequence[MarkedSession]
    """Sessions in the same file, where one was given."""


def is_session_document(beginning: bytes) -> bool:
    """Whether a file that begins so is such a document: the name of its schema always comes first."""
    return beginning.lstrip().replace(b" ", b"").startswith(b'{"schema":"%s"' % SCHEMA.encode())


def read_document(content: bytes) -> list[Session]:
    """The sessions in a document. Raises msgspec.DecodeError for what is none."""
    document = msgspec.json.decode(content, type=SessionDocument)
    return [_plain(document), *map(_plain, document.others)]


def _plain(session: MarkedSession) -> Session:
    return Session(**{name: getattr(session, name) for name in Session.__struct_fields__})
