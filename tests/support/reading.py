"""Reading homes in tests, and sessions in a form small enough to look at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from geminids.core import agents
from geminids.core.agents.base import Reading, Scan
from geminids.core.agents.protocols import Custodian
from geminids.core.agents.source import Source
from geminids.core.agents.traces import trace
from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Message,
    Session,
    Text,
    Thought,
    ToolCall,
    ToolResult,
)
from geminids.reading.bundles import shelves

_LONGEST = 100
RECORDED = Path(__file__).parents[1] / "fixtures"
"""Homes that no test changes."""


def scans(source: Source, home: Path) -> Iterator[Scan]:
    """What a folder that stands for a user's home holds."""
    for found in source.homes_below(str(home)):
        yield source.scan(found)


def readings(source: Source, home: Path) -> Iterator[Reading]:
    """Everything in a home, project by project, bundle by bundle. Recorded homes are read once."""
    if home.is_relative_to(RECORDED):
        return iter(_recorded(source.name, home))
    return _readings(source, home)


@cache
def _recorded(agent: str, home: Path) -> tuple[Reading, ...]:
    return tuple(_readings(agents.load(agent), home))


def _readings(source: Source, home: Path) -> Iterator[Reading]:
    for shelf in shelves(list(scans(source, home))):
        read = [source.read(bundle) for bundle in shelf.bundles]
        yield from read
        traces = [trace(session) for reading in read for session in reading.sessions]
        yield source.companions().read_beside(shelf.companions, traces, None)


def sessions(source: Source, home: Path) -> list[Session]:
    """The sessions of a home."""
    return [session for reading in readings(source, home) for session in reading.sessions]


def digest(session: Session, home: Path) -> dict[str, Any]:
    """A session as a person would check it: who said what, and what became of it."""
    return {
        "id": session.id,
        "kind": session.kind,
        "parent": session.parent_id,
        "project": session.project.path,
        "known_by": session.project.known_by,
        "title": session.title,
        "from": session.started_at and session.started_at.isoformat(),
        # A saved chat has only the time of its file, and a copied file another one.
        "to": session.started_at and session.ended_at and session.ended_at.isoformat(),
        "status": session.status,
        "models": list(session.models),
        "prompts, replies, calls, errors, dropped": list(_numbers(session)),
        "tokens": session.usage.total,
        **_noted(session),
        "files": [str(Path(file.path).relative_to(home)) for file in session.files],
        "problems": [f"{problem.kind} at {problem.line}: {problem.detail}" for problem in session.problems],
        "messages": [line for message in session.messages for line in _lines(message)],
    }


def _noted(session: Session) -> dict[str, Any]:
    """What only some agents note, where they did."""
    noted = {
        "branch": session.branch,
        "tokens as the agent counted": session.reported and session.reported.total,
        "not recorded": [f"{missing.what}: {missing.requests}" for missing in session.unrecorded],
    }
    return {what: value for what, value in noted.items() if value}


def _numbers(session: Session) -> Iterator[int]:
    counts = session.counts
    yield from (counts.prompts, counts.replies, counts.tool_calls, counts.tool_errors, counts.dropped)


def _lines(message: Message) -> Iterator[str]:
    state = "" if message.state == "current" else f" [{message.state}]"
    tokens = f" ({message.usage.total} tokens)" if message.usage else ""
    yield f"{message.origin}{' imported' if message.imported else ''}{state}{tokens}"
    for part in message.parts:
        yield "  " + _short(_line(part))


def _line(part: AnyPart) -> str:
    match part:
        case Text():
            return f"{part.origin}: {part.text}"
        case Thought():
            return f"thought: {part.subject}: {part.text}"
        case ToolCall():
            changes = [f" {change.operation} {change.path}" for change in part.changes]
            child = f" -> {part.child_id}" if part.child_id else ""
            shown = f" shown as {type(part.display).__name__}" if part.display else ""
            return f"call {part.name} ({part.kind}) {part.status}{''.join(changes)}{child}{shown}"
        case ToolResult():
            return f"answer of {part.name}"
        case Attachment():
            return f"{part.origin}: attachment {part.mime_type}"
        case FileReference():
            return f"file {part.path}: {part.text}"
        case _:
            return f"unrecognised: {part.raw}"


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… ({len(line)})"


def custodian_of(source: Source) -> Custodian:
    """What an agent offers of custody, which it must."""
    offered = source.custodian()
    assert offered is not None
    return offered
