"""All there is without messages, project by project, as the index knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from geminids.core.agents.base import CompanionFile
from geminids.core.model import Problem, Project, SessionSummary
from geminids.core.names import storable
from geminids.query.projects.report import Contents, Shelved, known_as
from geminids.storage.codec.packed import problem_of, project_of, unpacked
from geminids.storage.index import contents as kept
from geminids.storage.index import reader
from geminids.storage.index.database import Index
from geminids.storage.index.projects import known_projects
from geminids.storage.index.values import SessionRow
from geminids.sync.projects.identity import Identity


def contents(index: Index, repositories: Mapping[str, str]) -> Contents:
    """Everything, and whose it is."""
    recorded, identity = _identity(index)
    identity.repositories = repositories
    shelves = {
        shelf.number: Shelved(
            recorded[shelf.project],
            [],
            unpacked(shelf.companions, tuple[CompanionFile, ...]),
            (),
            [],
            shelf.agent,
        )
        for shelf in kept.shelves(index)
    }
    for number, summary in kept.summaries_by_shelf(index):
        shelves[number].summaries.append(_summary(summary))
    for number, problem in kept.problems_by_shelf(index):
        shelves[number].problems.append(problem_of(problem))
    return Contents(list(shelves.values()), identity)


def closed_folders(index: Index) -> list[Problem]:
    """What could not be looked into."""
    found = map(problem_of, reader.problems_of_finding(index))
    return [problem for problem in found if problem.is_unreadable]


def all_problems(index: Index) -> list[Problem]:
    """Whatever could not be read."""
    return list(map(problem_of, reader.problems(index)))


def summaries(index: Index, rows: Sequence[SessionRow]) -> list[SessionSummary]:
    """Some sessions with all that is known of them but their messages, in the same order."""
    _, identity = _identity(index)
    found = reader.summaries(index, [row.number for row in rows])
    return [known_as(_summary(summary), identity) for summary in found]


def projects_known(index: Index) -> Callable[[Project], Project]:
    """What gives the best that is known of a project."""
    identity = _identity(index)[1]
    return lambda project: identity.get(_in_letters(project), project)


def _summary(packed: bytes) -> SessionSummary:
    summary = unpacked(packed, SessionSummary)
    project = _in_letters(summary.project)
    return summary if project is summary.project else msgspec.structs.replace(summary, project=project)


def _in_letters(project: Project) -> Project:
    """A project as the index tells it: the names of its folders may be no text."""
    names = (project.path or "", project.slug or "")
    path, slug = map(storable, names)
    if (path, slug) == names:
        return project
    return msgspec.structs.replace(project, path=path or None, slug=slug or None)


def _identity(index: Index) -> tuple[dict[int, Project], Identity]:
    known = known_projects(index)
    recorded = {project.number: project_of(project.recorded) for project in known}
    return recorded, Identity({recorded[project.number]: project_of(project.best) for project in known})
