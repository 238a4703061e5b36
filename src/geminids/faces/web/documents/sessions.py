"""Sessions in lists, and what they can be narrowed by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.model import Counts, SessionKind, Status
from geminids.faces.web.documents.base import Document, Handle


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
