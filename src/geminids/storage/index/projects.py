"""Projects as their files tell them, and the best that is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geminids.core.values import NamedTuple
from geminids.storage.index.database import Index
from geminids.storage.index.reader import project_row
from geminids.storage.index.values import ProjectRow

_RECORDED = "told_path, told_hash, told_slug, told_by, told_certain"
_KNOWN = f"SELECT id, {_RECORDED}, path, told_hash, slug, known_by, certain FROM projects"


class KnownProject(NamedTuple):
    """A project as its files tell it, and the best that is known of it."""

    number: int
    recorded: ProjectRow
    best: ProjectRow


def known_projects(index: Index) -> list[KnownProject]:
    """All projects, in the order in which they were met."""
    return list(map(_known_project, index.connection.execute(f"{_KNOWN} ORDER BY id")))


def project_as_told(index: Index, recorded: ProjectRow) -> KnownProject | None:
    """The project that files tell like this."""
    same = "told_path IS ? AND told_hash IS ? AND told_slug IS ? AND told_by IS ? AND told_certain = ?"
    values = index.connection.execute(f"{_KNOWN} WHERE {same}", recorded).fetchone()
    return _known_project(values) if values else None


def known_projects_in_fixed_order(index: Index) -> list[KnownProject]:
    """All projects, in an order that does not depend on when what was read."""
    return list(map(_known_project, index.connection.execute(f"{_KNOWN} ORDER BY {_RECORDED}")))


def forget_unused_projects(index: Index) -> None:
    """Take out the projects that nothing belongs to any more."""
    index.connection.execute(
        "DELETE FROM projects "
        "WHERE id NOT IN (SELECT project FROM sessions UNION SELECT project FROM shelves)"
    )


def note_best(index: Index, project: KnownProject, best: ProjectRow) -> None:
    """Write the best that is known of a project, if it is not what is known already."""
    facts = (best.path, best.slug, best.known_by, best.certain)
    before = project.best
    if facts != (before.path, before.slug, before.known_by, before.certain):
        index.connection.execute(
            "UPDATE projects SET path = ?, slug = ?, known_by = ?, certain = ? WHERE id = ?",
            (*facts, project.number),
        )


def _known_project(values: Sequence[Any]) -> KnownProject:
    return KnownProject(values[0], project_row(values[1:6]), project_row(values[6:]))
