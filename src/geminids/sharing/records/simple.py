"""The plainer translation of a session, which other tools make: what they read, they can read from us.

It renames, takes calls and thoughts out of the messages they stand in, and drops the rest; nothing in it
is an extension of ours. What Gemini CLI wrote is told message by message, as the agent sees them now; what
Claude Code and Codex CLI wrote is told line by line. `simple_gemini`, `simple_claude` and `simple_codex` have
the rules.

A session whose files are gone, or that was written by another agent, is first told as Gemini CLI would write
it, and that is translated: so every session has such a record. What it cannot carry, the loss report says.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from geminids import __version__
from geminids.agents.gemini.write.messages import MessageWriter
from geminids.agents.gemini.write.names import moment as written_moment
from geminids.core.model import Message, Session, SessionKind, State
from geminids.sharing.records.errors import SessionTooDeepError
from geminids.sharing.records.natives import NativeFile, Natives
from geminids.sharing.records.presenting import presentable
from geminids.sharing.records.profile import UNKNOWN, VERSION
from geminids.sharing.records.simple_claude import claude_entries, claude_surroundings
from geminids.sharing.records.simple_codex import codex_entries, codex_surroundings
from geminids.sharing.records.simple_gemini import gemini_entry
from geminids.sharing.records.simple_lines import Line, lines_of
from geminids.sharing.records.simple_members import Entry, Surroundings, moment
from geminids.sharing.records.translating import PROGRAMS, PROVIDERS

Native = dict[str, Any]

_GEMINI = "gemini"


class _Told(NamedTuple):
    """The entries of a session, and what its files say about it as a whole."""

    entries: list[Entry]
    about: Surroundings


def simple_record(session: Session, natives: Natives | None = None) -> dict[str, Any]:
    """A session in the plainer translation; with its native records, what they say is passed on as it is.

    Raises RecordError if something is nested too deep to be told.
    """
    try:
        told: dict[str, Any] = presentable(_record(session, _told(session, natives)))
    except RecursionError as error:
        raise SessionTooDeepError from error
    return told


def _record(session: Session, told: _Told) -> dict[str, Any]:
    about = {
        "format": "interactive",
        "session-id": session.native_id,
        "agent-meta": _agent(session, told.about.release),
        "entries": told.entries,
        "session-start": told.about.start,
        "environment": {"working-dir": told.about.folder} if told.about.folder else None,
    }
    record = {
        "version": VERSION,
        "id": session.native_id,
        "recording-agent": {"name": "geminids", "version": __version__},
        "session": {name: value for name, value in about.items() if value is not None},
        "created": told.about.start,
    }
    return {name: value for name, value in record.items() if value is not None}


def _agent(session: Session, release: str | None) -> dict[str, str]:
    model = next(iter(session.models), UNKNOWN)
    made_by = (provider for prefix, provider in PROVIDERS.items() if model.startswith(prefix))
    agent = {
        "model-id": model,
        "model-provider": next(made_by, UNKNOWN),
        "cli-name": PROGRAMS.get(session.agent, session.agent),
    }
    return {**agent, "cli-version": release} if release else agent


def _told(session: Session, natives: Natives | None) -> _Told:
    if natives is not None and not natives.missing:
        told = _told_by_line(session, natives)
        if told is not None and told.entries:
            return told
    messages = [gemini_entry(message) for message in _as_gemini_has_them(session, natives)]
    return _Told(messages, Surroundings(_start(session, natives)))


def _told_by_line(session: Session, natives: Natives) -> _Told | None:
    match session.agent:
        case "claude":
            lines = lines_of(session, natives, lambda line: _is_of_main(session, line))
            return _Told(list(claude_entries(lines)), claude_surroundings(lines))
        case "codex":
            lines = lines_of(session, natives, lambda _: True)
            return _Told(list(codex_entries(lines)), codex_surroundings(lines))
        case _:
            return None


def _is_of_main(session: Session, line: Line) -> bool:
    """Whether a line of Claude Code without a message is the session's: a subagent may share a file with it.

    Lines with a message that the session does not hold are such a subagent's, or copies of requests.
    """
    return "message" not in line and session.kind is not SessionKind.SUBAGENT


def _as_gemini_has_them(session: Session, natives: Natives | None) -> Iterator[Native]:
    """The messages that the agent still sees: as Gemini CLI wrote them, else as it would write them."""
    current = [message for message in session.messages if message.state is State.CURRENT]
    writer = MessageWriter(current, of_subagent=session.kind is SessionKind.SUBAGENT)
    for message in current:
        # The writer follows the conversation, so it is given every message.
        told = writer.record(message)
        written = _last_version(message, natives) if natives and session.agent == _GEMINI else None
        yield told if written is None else written


def _last_version(message: Message, natives: Natives) -> Native | None:
    """A message as it was last written under its own id; None if it does not stand in a session file.

    Other places are copies, as in a history that was written anew.
    """
    versions = list(_versions(message, natives))
    same = [version for version in versions if version["id"] == versions[0]["id"]]
    return same[-1] if same else None


def _versions(message: Message, natives: Natives) -> Iterator[Native]:
    for place in (message.source, *message.also_at):
        file = natives.file_of(place)
        version: Any = file.value_at(place) if file else None
        match version:
            case {"id": str(), "type": str()}:
                yield version


def _start(session: Session, natives: Natives | None) -> str | None:
    """When the session began: as its header has it, unless it began at another time than its file."""
    for header in _headers(natives) if natives and session.agent == _GEMINI else ():
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
