"""`jsonl`: one message a line, each of which can be understood alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from geminids.core.model import AnyPart, Level, Location, Origin, Role, Session, State, Usage
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.transcript.visible import visible_messages

SCHEMA = "geminids/message/1"


class MessageLine(msgspec.Struct, frozen=True, tag_field="schema", tag=SCHEMA):
    """One turn of a conversation: where it belongs, then the fields of a message as in a session."""

    session_id: str
    number: int
    """Its place in the session, from 1; the same however much of the session is told."""
    id: str
    role: Role
    origin: Origin
    state: State
    at: datetime | None
    model: str | None
    parts: tuple[AnyPart, ...]
    usage: Usage | None
    source: Location
    level: Level | None
    also_at: tuple[Location, ...]
    dropped_by: Location | None
    imported: bool
    request_id: str | None
    missing: str | None


class JsonLines(PlainFormat):
    """Messages of any number of sessions."""

    name = "jsonl"
    title = "JSON Lines"
    summary = "One message per line in the schema of geminids, for programs that stream."
    suffix = ".jsonl"
    holds_many = True
    level = "everything"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The lines of one session after the other."""
        for session in sessions:
            for number, message in visible_messages(session, manner.detail):
                line = MessageLine(session.id, number, *msgspec.structs.astuple(message))
                yield encode_harmless(line) + b"\n"
