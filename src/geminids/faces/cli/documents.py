"""The JSON documents that commands print, each with the name of its schema.

The schemas in `docs/` are generated from these classes. A new field may come at any time; one that
goes or changes its meaning makes a new number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from geminids.core.model import SessionSummary
from geminids.faces.cli.data import encode, encode_with_halves, join
from geminids.query.health.facts import IndexFacts
from geminids.query.health.fidelity import Fidelity
from geminids.query.health.overview import Overview
from geminids.query.projects.report import Projects, Resolved
from geminids.query.projects.timeline import ProjectStory
from geminids.query.sessions.marked import Marked, MarkedSessions
from geminids.sharing.export.session_document import MarkedNote
from geminids.storage.durable.values import Marks
from geminids.sync.values import Outcome

Document = TypeVar("Document", bound=msgspec.Struct)


class MarkedSummary(SessionSummary, frozen=True, kw_only=True):
    """A session without its messages, and what the user said of it."""

    name: str | None
    """What the user calls it; lists show it instead of the title."""
    tags: tuple[str, ...]
    notes: tuple[MarkedNote, ...]


class MarkedInLittle(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said of a session."""

    id: str
    title: str | None
    is_here: bool
    """Whether it is among the sessions that were looked at. Else it is gone, or in another home."""
    name: str | None
    tags: tuple[str, ...]
    notes: tuple[MarkedNote, ...]


class ListDocument(msgspec.Struct, frozen=True, tag_field="schema", tag="geminids/list/1"):
    """Sessions without their messages, newest first. `--jsonl` prints each on a line of its own."""

    sessions: Sequence[MarkedSummary]


class MarkDocument(MarkedInLittle, frozen=True, kw_only=True, tag_field="schema", tag="geminids/mark/1"):
    """A session, and what the user said of it."""


class MarksDocument(msgspec.Struct, frozen=True, tag_field="schema", tag="geminids/marks/1"):
    """All sessions of which the user said something, the newest first, and last those that are not here."""

    tags: Mapping[str, int]
    """How many sessions have each tag."""
    sessions: Sequence[MarkedInLittle]


class OverviewDocument(Overview, frozen=True, kw_only=True, tag_field="schema", tag="geminids/overview/1"):
    """What there is, in little."""


class DoctorDocument(Fidelity, frozen=True, kw_only=True, tag_field="schema", tag="geminids/doctor/1"):
    """What became of every byte and record."""


class AgentViewDocument(msgspec.Struct, frozen=True, tag_field="schema", tag="geminids/agent-view/1"):
    """A record as the agent itself would load it: its own fields, which are others for each agent."""


class ProjectsDocument(Projects, frozen=True, kw_only=True, tag_field="schema", tag="geminids/projects/1"):
    """The projects there are, the last used first."""


class ProjectDocument(ProjectStory, frozen=True, kw_only=True, tag_field="schema", tag="geminids/project/1"):
    """One project and everything it holds, the oldest first."""


class ResolvedDocument(Resolved, frozen=True, kw_only=True, tag_field="schema", tag="geminids/resolved/1"):
    """What a search for folders has found."""


class SyncDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/sync/1"):
    """What a sync took in, and what the index holds now."""

    built: bool
    """Whether the index was made from nothing."""
    bundles: int
    """How many groups of files were read; nearly always each holds one session."""
    bytes: int
    kept: int
    """Of how many files copies were kept."""
    seconds: float
    failed: bool
    """Whether the index could not be brought up to date, or not be kept, or copies could not."""
    said: Sequence[str]
    """What a person should know about it."""
    index: IndexFacts


def document(kind: type[Document], value: msgspec.Struct, **more: Any) -> bytes:
    """The fields of a value, and more of them, as a document."""
    return encode(kind(**msgspec.structs.asdict(value), **more))


def marked(kind: type[Document], session: SessionSummary, marks: Mapping[str, Marks]) -> Document:
    """The fields of a session, and what was said of it."""
    return kind(**msgspec.structs.asdict(session), **_told(marks.get(session.id, _NO_MARKS)))


def mark_document(session: Marked) -> bytes:
    """What was said of one session as a document."""
    return encode(_in_little(MarkDocument, session))


def marks_document(found: MarkedSessions) -> bytes:
    """All that was said as a document."""
    sessions = [_in_little(MarkedInLittle, session) for session in found.sessions]
    return encode(MarksDocument(found.tags, sessions))


_NO_MARKS = Marks()


def _in_little(kind: type[Document], session: Marked) -> Document:
    return kind(id=session.id, title=session.title, is_here=session.is_here, **_told(session.marks))


def _told(said: Marks) -> dict[str, Any]:
    return {"name": said.name, "tags": said.tags, "notes": tuple(MarkedNote(*note) for note in said.notes)}


def agent_view_document(record: dict[str, Any]) -> bytes:
    """A record in the agent's own form as a document."""
    return join(encode({"schema": AgentViewDocument.__struct_config__.tag}), encode_with_halves(record))


def sync_document(outcome: Outcome, facts: IndexFacts) -> bytes:
    """What a sync did as a document."""
    told = {
        name: value for name, value in outcome._asdict().items() if name in SyncDocument.__struct_fields__
    }
    return encode(SyncDocument(index=facts, **told))
