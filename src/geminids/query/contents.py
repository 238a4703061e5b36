"""All there is without messages, project by project, as the index knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from geminids.model import KnownBy, Problem, ProblemKind, Project, SessionSummary
from geminids.names import keepable
from geminids.projects.identity import Identity
from geminids.query.projects import Contents, Shelved, known_as
from geminids.sources.base import CompanionFile
from geminids.store import reading
from geminids.store.index import Index
from geminids.sync.packing import unpacked


def contents(index: Index, repositories: Mapping[str, str]) -> Contents:
    """Everything, and whose it is."""
    told, identity = _identity(index)
    identity.repositories = repositories
    shelves = {
        number: Shelved(told[project], [], unpacked(companions, tuple[CompanionFile, ...]), (), [], agent)
        for number, agent, project, companions in index.connection.execute(
            "SELECT id, agent, project, companions FROM shelves ORDER BY id"
        )
    }
    rows = index.connection.execute(
        "SELECT shelf, summary FROM sessions JOIN bundles ON bundles.id = bundle ORDER BY sessions.id"
    )
    for shelf, summary in rows:
        shelves[shelf].summaries.append(_summary(summary))
    problems = index.connection.execute(
        'SELECT shelf, file, kind, detail, line, start, "end" '
        "FROM problems JOIN bundles ON bundles.id = bundle"
    )
    for shelf, *problem in problems:
        shelves[shelf].problems.append(_problem(problem))
    return Contents(list(shelves.values()), identity)


def closed_folders(index: Index) -> list[Problem]:
    """What could not be looked into."""
    found = index.connection.execute(
        'SELECT file, kind, detail, line, start, "end" FROM problems WHERE bundle IS NULL'
    )
    return [problem for problem in map(_problem, found) if problem.is_unreadable]


def all_problems(index: Index) -> list[Problem]:
    """Whatever could not be read."""
    return list(map(_problem, reading.problems(index)))


def summaries(index: Index, rows: Sequence[reading.SessionRow]) -> list[SessionSummary]:
    """Some sessions with all that is known of them but their messages, in the same order."""
    _, identity = _identity(index)
    kept = reading.summaries(index, [row.number for row in rows])
    return [known_as(_summary(summary), identity) for summary in kept]


def known_project(index: Index, project: Project) -> Project:
    """The best that is known of a project."""
    return _identity(index)[1].get(_in_letters(project), project)


def _summary(kept: bytes) -> SessionSummary:
    summary = unpacked(kept, SessionSummary)
    project = _in_letters(summary.project)
    return summary if project is summary.project else msgspec.structs.replace(summary, project=project)


def _in_letters(project: Project) -> Project:
    """A project as the index tells it: the names of its folders may be no text."""
    names = (project.path or "", project.slug or "")
    path, slug = map(keepable, names)
    if (path, slug) == names:
        return project
    return msgspec.structs.replace(project, path=path or None, slug=slug or None)


def _identity(index: Index) -> tuple[dict[int, Project], Identity]:
    rows = index.connection.execute(
        "SELECT id, told_path, told_hash, told_slug, told_by, told_certain, "
        "path, told_hash, slug, known_by, certain FROM projects"
    ).fetchall()
    told = {row[0]: _project(*row[1:6]) for row in rows}
    return told, Identity({told[row[0]]: _project(*row[6:]) for row in rows})


def _project(
    path: str | None, name: str | None, slug: str | None, known_by: str | None, certain: int
) -> Project:
    return Project(path, name, slug, KnownBy(known_by) if known_by else None, bool(certain))


def _problem(row: Sequence[Any]) -> Problem:
    file, kind, detail, line, start, end = row
    return Problem(file, ProblemKind(kind), detail, line, start, end)
