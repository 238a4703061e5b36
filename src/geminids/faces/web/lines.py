"""Sessions as lines of a list, the same wherever they are listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from geminids.core.model import Counts, SessionKind, SessionSummary, Status
from geminids.faces.web.documents.sessions import ProjectName, SessionLine
from geminids.library import Library
from geminids.sharing.transcript import safe
from geminids.storage.durable.values import Marks
from geminids.storage.index.values import SessionRow

RUNNING = timedelta(minutes=3)
"""A session that was written to so lately seems to be running."""


def lines(library: Library, rows: Sequence[SessionRow | SessionSummary]) -> list[SessionLine]:
    """Sessions with what the user said of them."""
    marks = library.marks([row.id for row in rows])
    now = datetime.now(UTC)
    return [
        _line(row, key, marks.get(row.id), now) for row, key in zip(rows, library.keys(rows), strict=True)
    ]


def _line(row: SessionRow | SessionSummary, key: str, said: Marks | None, now: datetime) -> SessionLine:
    last = row.last_at
    counts = row.counts
    return SessionLine(
        id=key,
        agent=row.agent,
        kind=SessionKind(row.kind),
        parent_id=row.parent_id,
        project=project_name(row.project),
        title=harmless(row.title),
        name=harmless(said.name) if said else None,
        tags=tuple(said.tags) if said else (),
        status=Status(row.status),
        started_at=row.started_at,
        ended_at=row.ended_at,
        is_running=last is not None and now - RUNNING <= last <= now + RUNNING,
        counts=Counts(
            prompts=counts.prompts,
            replies=counts.replies,
            tool_calls=counts.tool_calls,
            tool_errors=counts.tool_errors,
            dropped=counts.dropped,
        ),
        problems=row.problems if isinstance(row.problems, int) else len(row.problems),
        kept=row.kept,
    )


class Known(Protocol):
    """A project, as a list or the model tells it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def path(self) -> str | None: ...  # noqa: D102
    @property
    def hash(self) -> str | None: ...  # noqa: D102
    @property
    def slug(self) -> str | None: ...  # noqa: D102


def project_name(project: Known) -> ProjectName:
    """A project as it is named in answers."""
    return ProjectName(
        key=project_key(project),
        name=safe.line(project.name),
        path=harmless(project.path),
        hash=project.hash,
        slug=harmless(project.slug),
    )


def project_key(project: Known) -> str:
    """What means a project wherever sessions are narrowed; the same for all agents that know its folder."""
    return project.path or project.hash or project.slug or ""


def harmless(words: str | None) -> str | None:
    """Words on one line that can neither hide nor reorder anything."""
    return None if words is None else safe.line(words)


def harmless_all(words: Iterable[str]) -> list[str]:
    """The same of several."""
    return [safe.line(one) for one in words]
