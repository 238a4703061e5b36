"""All there is without messages, project by project, as the index knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from geminids.core.agents.base import CompanionFile
from geminids.core.model import Problem, SessionSummary
from geminids.query.projects.known_projects import identity_of, in_letters
from geminids.query.projects.report import Contents, Shelved, known_as
from geminids.storage.codec.packed import problem_of, unpacked
from geminids.storage.index import contents as kept
from geminids.storage.index import reader
from geminids.storage.index.database import Index
from geminids.storage.index.values import SessionRow


def contents(index: Index, repositories: Mapping[str, str]) -> Contents:
    """Everything, and whose it is."""
    recorded, identity = identity_of(index)
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
    _, identity = identity_of(index)
    found = reader.summaries(index, [row.number for row in rows])
    return [known_as(_summary(summary), identity) for summary in found]


def _summary(packed: bytes) -> SessionSummary:
    summary = unpacked(packed, SessionSummary)
    project = in_letters(summary.project)
    return summary if project is summary.project else msgspec.structs.replace(summary, project=project)
