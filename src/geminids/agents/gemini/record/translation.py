"""Sessions in the plainer translation, message by message: as Gemini CLI wrote them, else as it would.

A session of another agent is told as Gemini CLI would write it, so every session can be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from geminids.agents.gemini.record.simple import message_entry
from geminids.agents.gemini.write.messages import MessageWriter
from geminids.agents.gemini.write.names import moment as written_moment
from geminids.core.agents.records import NativeFile, Natives, Surroundings, Translation
from geminids.core.model import Message, Session, SessionKind, State
from geminids.sharing.records.simple_members import moment

Native = dict[str, Any]


def translation(session: Session, natives: Natives | None = None) -> Translation:
    """The messages that the agent still sees, with native records of Gemini CLI as those have them."""
    entries = [message_entry(message) for message in _messages(session, natives)]
    return Translation(entries, Surroundings(_start(session, natives)))


def _messages(session: Session, natives: Natives | None) -> Iterator[Native]:
    """The messages that the agent still sees: as Gemini CLI wrote them, else as it would write them."""
    current = [message for message in session.messages if message.state is State.CURRENT]
    writer = MessageWriter(current, of_subagent=session.kind is SessionKind.SUBAGENT)
    for message in current:
        # The writer follows the conversation, so it is given every message.
        record = writer.record(message)
        written = _last_version(message, natives) if natives else None
        yield record if written is None else written


def _last_version(message: Message, natives: Natives) -> Native | None:
    """A message as it was last written under its own id; None if it does not stand in a session file.

    Other places are copies, as in a history that was written anew.
    """
    versions = list(_versions(message, natives))
    same = [version for version in versions if version["id"] == versions[0]["id"]]
    return same[-1] if same else None


def _versions(message: Message, natives: Natives) -> Iterator[Native]:
    for place in message.places:
        file = natives.file_of(place)
        version: Any = file.value_at(place) if file else None
        match version:
            case {"id": str(), "type": str()}:
                yield version


def _start(session: Session, natives: Natives | None) -> str | None:
    """When the session began: as its header has it, unless it began at another time than its file."""
    for header in _headers(natives) if natives else ():
        start = moment(header.get("startTime"))
        if isinstance(start, str) and _parsed(start) == session.started_at:
            return start
    return written_moment(session.started_at)


def _parsed(start: str) -> datetime | None:
    try:
        return datetime.fromisoformat(start)
    except ValueError:
        return None


def _headers(natives: Natives) -> Iterator[Native]:
    """What files of Gemini CLI say of their session: a document in itself, a log in lines of its own."""
    for file in natives.files.values():
        for value in [file.document] if file.is_document else _values(file):
            if isinstance(value, dict) and "startTime" in value:
                yield value


def _values(file: NativeFile) -> Iterator[Any]:
    for start, end in file.lines(0, len(file.content)):
        yield file.value_of(start, end)
