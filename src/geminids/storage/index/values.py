"""Rows of the index as values: what a list tells of sessions, projects and problems."""

from __future__ import annotations

from datetime import datetime

from geminids.core.names import project_name
from geminids.core.values import NamedTuple


class ProjectRow(NamedTuple):
    """A project as files tell it, or the best that is known of one."""

    path: str | None
    hash: str | None
    slug: str | None
    known_by: str | None
    certain: bool

    @property
    def name(self) -> str:
        """What people call it."""
        return project_name(self.path, self.hash, self.slug)


class Counts(NamedTuple):
    """How much there is of what in a session."""

    prompts: int
    replies: int
    tool_calls: int
    tool_errors: int
    dropped: int


class SessionRow(NamedTuple):
    """What a list tells of a session."""

    number: int
    id: str
    agent: str
    native_id: str
    kind: str
    parent_id: str | None
    title: str | None
    status: str
    started_at: datetime | None
    ended_at: datetime | None
    counts: Counts
    file: str | None
    problems: int
    kept: bool
    """Whether files of it are gone, and it is read from copies."""
    is_incomplete: bool
    """Whether records of its files could not be read: then its numbers are lower bounds."""
    project: ProjectRow

    @property
    def last_at(self) -> datetime | None:
        """The last moment that is known of it."""
        return self.ended_at or self.started_at


class ProblemRow(NamedTuple):
    """Something that could not be read, and where."""

    file: str
    kind: str
    detail: str
    line: int | None
    start: int | None
    end: int | None


MOST_SPANS = 12
"""Places of a message that are noted, where its pieces and versions stand: the first one, and the last."""


def file_spans(spans: str) -> list[tuple[int, int, int]]:
    """File, start and end of each place at which a message stands."""
    split = (span.split(":") for span in spans.split())
    return [(int(file), int(start), int(end)) for file, start, end in split]
