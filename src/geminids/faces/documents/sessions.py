"""Sessions without their messages: in lists, with what the user said of them and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from geminids.core.model import Counts, SessionKind, SessionSummary, Status
from geminids.faces.documents.base import Document, Filled, Handle, Printed, filled, harmless
from geminids.faces.documents.tokens import dollars
from geminids.query.sessions.listing import RUNNING_SECONDS, is_running
from geminids.sharing.export.data import encode, encode_with_halves
from geminids.sharing.export.session_document import MarkedNote
from geminids.sharing.transcript import safe
from geminids.storage.durable.values import Marks

if TYPE_CHECKING:
    from geminids.core.names import NamedFolder
    from geminids.query.sessions.marked import Marked, MarkedSessions
    from geminids.query.usage.by_session import SessionUse
    from geminids.storage.index.values import SessionRow

RUNNING = timedelta(seconds=RUNNING_SECONDS)
_NO_MARKS = Marks()

# What commands print


class MarkedSummary(SessionSummary, frozen=True, kw_only=True):
    """A session without its messages, and what the user said of it."""

    name: str | None
    """What the user calls it; lists show it instead of the title."""
    tags: tuple[str, ...]
    notes: tuple[MarkedNote, ...]


class ListedSession(MarkedSummary, frozen=True, kw_only=True):
    """A session in a list: without its messages, with what it cost and what the user said of it."""

    cost: float | None
    """Dollars at list price, with that of the subagents that it led; null where nothing has a price."""
    incomplete: bool
    """Whether its files, or those of its subagents, could not be read completely: its numbers are lower
    bounds."""


class MarkedInLittle(Document, frozen=True, kw_only=True):
    """What the user said of a session."""

    id: str
    title: str | None
    is_here: bool
    """Whether it is among the sessions that were looked at. Else it is gone, or in another home."""
    name: str | None
    tags: tuple[str, ...]
    notes: tuple[MarkedNote, ...]


class ListDocument(Printed, frozen=True, kw_only=True, omit_defaults=True, tag="geminids/list/1"):
    """Sessions without their messages, newest first. `--jsonl` prints each on a line of its own."""

    sessions: Sequence[ListedSession]
    to_come: int = 0
    """Groups of files that are not read yet, since a first index is made: what they hold is missing here.
    Left out where there are none."""


class MarkDocument(MarkedInLittle, Printed, frozen=True, kw_only=True, tag="geminids/mark/1"):
    """A session, and what the user said of it."""


class MarksDocument(Printed, frozen=True, kw_only=True, tag="geminids/marks/1"):
    """All sessions that the user marked, the newest first, and last those that are not here; or the sessions
    that `mark` was given, in the order in which they were.
    """

    tags: Mapping[str, int]
    """How many sessions have each tag."""
    sessions: Sequence[MarkedInLittle]


class AgentViewDocument(Printed, frozen=True, kw_only=True, tag="geminids/agent-view/1"):
    """A record as the agent itself would load it: its own fields, which are others for each agent."""


def listed(session: SessionSummary, marks: Mapping[str, Marks], used: SessionUse | None) -> ListedSession:
    """A session as a list tells it."""
    said = _said(marks.get(session.id, _NO_MARKS))
    return ListedSession(
        **msgspec.structs.asdict(session),
        **said,
        cost=dollars(used.cost) if used else None,
        incomplete=session.is_incomplete or (used is not None and used.is_incomplete),
    )


def marked(kind: type[Filled], session: SessionSummary, marks: Mapping[str, Marks]) -> Filled:
    """A document with the fields of a session, and what was said of it."""
    return kind(**msgspec.structs.asdict(session), **_said(marks.get(session.id, _NO_MARKS)))


def marked_in_little(kind: type[Filled], session: Marked) -> Filled:
    """A document with what was said of a session."""
    return filled(kind, session, **_said(session.marks))


def marks_document(found: MarkedSessions) -> MarksDocument:
    """All that was said."""
    sessions = [marked_in_little(MarkedInLittle, session) for session in found.sessions]
    return MarksDocument(tags=found.tags, sessions=sessions)


def agent_view_document(record: dict[str, Any]) -> bytes:
    """A record in the agent's own form, encoded: halves of characters that agents write stay in it."""
    name, fields = encode(AgentViewDocument()), encode_with_halves(record)
    return name if fields == b"{}" else name[:-1] + b"," + fields[1:]


def _said(marks: Marks) -> dict[str, Any]:
    return {"name": marks.name, "tags": marks.tags, "notes": tuple(MarkedNote(*note) for note in marks.notes)}


# What the page shows


class ProjectName(Document, frozen=True, kw_only=True):
    """The folder of a session, as far as it is known."""

    key: Handle
    """What to give as `project` wherever sessions are narrowed."""
    name: str
    path: str | None
    hash: str | None
    slug: str | None


class SessionLine(Document, frozen=True, kw_only=True):
    """A session in a list."""

    id: Handle
    """What means this session alone; where several have one id, more than that."""
    agent: str
    kind: SessionKind
    parent_id: Handle | None
    project: ProjectName
    title: str | None
    name: str | None
    """What the user calls it; shown instead of the title."""
    tags: Sequence[str]
    status: Status
    started_at: datetime | None
    ended_at: datetime | None
    is_running: bool
    """Whether something was written to it a moment ago."""
    counts: Counts
    problems: int
    kept: bool
    """Whether its file is gone, and it is read from a kept copy."""
    incomplete: bool
    """Whether its files could not be read completely: then its counts are lower bounds."""


class Sessions(Document, frozen=True, kw_only=True):
    """A page of sessions."""

    sessions: Sequence[SessionLine]
    total: int
    is_exact: bool
    """Else there are at least so many."""
    next: str | None
    """What to give as `after` for the next page; null if this is the last one."""
    hidden: Mapping[str, int]
    """How many more sessions there would be without each part of the question."""
    near: Mapping[str, Sequence[str]]
    """What may have been meant by a word or a name that does not occur."""


class FacetValue(Document, frozen=True, kw_only=True):
    """A value, and how many sessions have it."""

    key: Handle
    name: str
    sessions: int


class Facets(Document, frozen=True, kw_only=True):
    """What the sessions of a question have in common, the most frequent first; months in order."""

    total: int
    is_exact: bool
    """Else only the best are counted: texts must be read to tell what is found."""
    agents: Sequence[FacetValue]
    projects: Sequence[FacetValue]
    kinds: Sequence[FacetValue]
    statuses: Sequence[FacetValue]
    months: Sequence[FacetValue]
    tags: Sequence[FacetValue]


def session_line(
    row: SessionRow | SessionSummary, key: str, marks: Marks | None, now: datetime
) -> SessionLine:
    """A session in a list; `key` is what means it alone."""
    said, last = marks or _NO_MARKS, row.last_at
    return filled(
        SessionLine,
        row,
        id=key,
        kind=SessionKind(row.kind),
        project=project_name(row.project),
        title=harmless(row.title),
        name=harmless(said.name),
        tags=tuple(said.tags),
        status=Status(row.status),
        is_running=is_running(last, now),
        counts=filled(Counts, row.counts),
        problems=row.problems if isinstance(row.problems, int) else len(row.problems),
        incomplete=row.is_incomplete,
    )


def project_name(project: NamedFolder) -> ProjectName:
    """A project as it is named in answers."""
    return ProjectName(
        key=project_key(project),
        name=safe.line(project.name),
        path=harmless(project.path),
        hash=project.hash,
        slug=harmless(project.slug),
    )


def project_key(project: NamedFolder) -> str:
    """What means a project wherever sessions are narrowed; the same for all agents that know its folder."""
    return project.path or project.hash or project.slug or ""
