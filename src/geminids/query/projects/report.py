"""Projects: what is known of each from all its sessions together, and how much there is of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

import msgspec

from geminids.core.agents.base import CompanionFile
from geminids.core.errors import AmbiguousProjectError
from geminids.core.model import (
    Problem,
    Project,
    SessionKind,
    SessionSummary,
    TypedLine,
    folder_hash,
)
from geminids.core.names import project_names
from geminids.core.spellings import same_place
from geminids.query.projects.lookup import exactly, match, not_found
from geminids.storage.times import FIRST
from geminids.sync.projects.identity import Identity, Remembered, best_known, is_settled, sureness

Known = TypeVar("Known", bound=SessionSummary)


class Shelved(msgspec.Struct):
    """What was read of one project's folders."""

    project: Project
    summaries: list[SessionSummary]
    companions: Sequence[CompanionFile]
    typed: tuple[TypedLine, ...]
    problems: list[Problem]
    agent: str = ""
    named: set[str] = msgspec.field(default_factory=set)
    """Ids of sessions under which its sessions say that files of theirs were put away."""


class ProjectReport(msgspec.Struct, frozen=True, kw_only=True):
    """One project: its folder, how that is known, and how much there is of it."""

    project: Project
    also: tuple[Project, ...]
    """What else agents know it as: other hashes and slugs, work trees, other spellings."""
    agents: tuple[str, ...]
    sessions: int
    subagents: int
    checkpoints: int
    lost: int
    first: datetime | None
    last: datetime | None
    bytes: int


class Projects(msgspec.Struct, frozen=True, kw_only=True):
    """The projects there are, the last used first."""

    projects: tuple[ProjectReport, ...]
    problems: tuple[Problem, ...]
    """What could not be read at all."""
    left_unread: tuple[Problem, ...]
    """What is too large to be read for this."""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What a search for folders has found."""

    resolved: tuple[Project, ...]
    missing: tuple[str, ...]
    """Hashes whose folders were not found."""
    looked_at: int
    complete: bool
    """Whether all places were looked at; False if the time was over before."""
    kept: bool
    """Whether what was found could be remembered."""


def identify(
    shelves: Sequence[Shelved], remembered: Remembered, repositories: Mapping[str, str] | None = None
) -> Identity:
    """For each project as its files tell it, the best that all files and our memory know of the same hash."""
    identity = best_known((project for shelf in shelves for project in _told(shelf)), remembered)
    identity.repositories = repositories or {}
    return identity


def _told(shelf: Shelved) -> Iterator[Project]:
    yield shelf.project
    yield from (summary.project for summary in shelf.summaries)


def known_as(summary: Known, identity: Identity) -> Known:
    """The session with the best that is known of its project."""
    project = identity[summary.project]
    return summary if project == summary.project else msgspec.structs.replace(summary, project=project)


def hashes_without_folder(identity: Identity) -> list[str]:
    """The projects of which nobody knows for certain where they are."""
    known = {project.hash for project in identity.values() if is_settled(project)}
    # A hash that we made of a path ourselves leads nowhere else.
    ours = {p.hash for p in identity.values() if p.path and p.hash and folder_hash(p.path) == p.hash}
    return [
        name for name in dict.fromkeys(p.hash for p in identity.values()) if name and name not in known | ours
    ]


def certain_paths(identity: Identity) -> list[str]:
    """The folders that are known for certain."""
    return list(dict.fromkeys(p.path for p in identity.values() if p.certain and p.path))


def _reports_of(names: Iterable[Project], by_name: Mapping[Project, ProjectReport]) -> list[ProjectReport]:
    return list({id(by_name[name]): by_name[name] for name in names}.values())


def hash_meant(found: Sequence[ProjectReport], wanted: str) -> str | None:
    """The hash of the project that is meant, or of that one of its names which is."""
    report = the_one(found, wanted)
    names = (report.project, *report.also)
    matches = exactly(names, wanted) or match(names, wanted)
    # Agents that write the folder itself know no hash of it; one of the other names may have it.
    likely = (*(name for name in matches if name == report.project), *matches, *names)
    return next((name.hash for name in likely if name.hash), None)


def the_one(found: Sequence[ProjectReport], wanted: str) -> ProjectReport:
    """The one project that is meant. Raises the error that names the candidates or the nearest."""
    by_name = {name: report for report in found for name in (report.project, *report.also)}
    matches = _reports_of(match(by_name, wanted), by_name)
    if not matches:
        raise not_found([report.project for report in found], wanted)
    if len(matches) > 1:
        # The folder itself is meant, not what else lies in it.
        matches = _reports_of(exactly(by_name, wanted), by_name) or matches
    if len(matches) > 1:
        names = project_names(report.project for report in matches)
        raise AmbiguousProjectError(wanted, sorted(names.values()))
    return matches[0]


class Contents(NamedTuple):
    """All that was read of some homes, and what is known of whose it is."""

    shelves: Sequence[Shelved]
    identity: Identity

    @property
    def summaries(self) -> list[SessionSummary]:
        """All sessions, each with the best that is known of its project."""
        return [known_as(summary, self.identity) for shelf in self.shelves for summary in shelf.summaries]

    @property
    def problems(self) -> list[Problem]:
        """What stood in the way."""
        return [problem for shelf in self.shelves for problem in shelf.problems]

    def of_agents(self, agents: Collection[str]) -> Contents:
        """What some agents left; what the others know of its projects is still known."""
        return Contents([shelf for shelf in self.shelves if shelf.agent in agents], self.identity)

    def reports(self) -> list[ProjectReport]:
        """The projects there are, the last used first; several names of one folder are one project."""
        groups: dict[str, list[Shelved]] = {}
        for shelf in self.shelves:
            for key, part in _parts(shelf, self.identity).items():
                groups.setdefault(key, []).append(part)
        found = [_report(parts, self.identity) for parts in groups.values()]
        return sorted(found, key=lambda report: (report.last or FIRST, report.project.name), reverse=True)

    def parts(self, report: ProjectReport) -> list[Shelved]:
        """What there is of one project."""
        key = self.identity.key(report.project)
        parts = (part for shelf in self.shelves for part in _parts(shelf, self.identity).items())
        return [part for name, part in parts if name == key]


def _parts(shelf: Shelved, identity: Identity) -> dict[str, Shelved]:
    """A shelf by project: sessions in one folder may have been written for different ones."""
    own = identity[shelf.project]
    parts = {identity.key(own): Shelved(own, [], shelf.companions, shelf.typed, shelf.problems, shelf.agent)}
    for summary in shelf.summaries:
        project = identity[summary.project]
        part = parts.setdefault(identity.key(project), Shelved(project, [], (), (), []))
        part.summaries.append(summary)
    if _is_nothing(parts[identity.key(own)], has_others=len(parts) > 1):
        del parts[identity.key(own)]
    return parts


def _is_nothing(own: Shelved, *, has_others: bool) -> bool:
    """Whether a shelf holds nothing of a project of its own: it is empty, or sorted by something else."""
    if own.summaries or own.typed:
        return False
    is_known = bool(own.project.path or own.project.hash)
    return not own.companions or (has_others and not is_known)


def _report(parts: Sequence[Shelved], identity: Identity) -> ProjectReport:
    summaries = [summary for part in parts for summary in part.summaries]
    names = dict.fromkeys(identity[project] for part in parts for project in _known(part, identity))
    best = max(names, key=lambda name: (_is_main(name, identity), *_telling(name)))
    kinds = [summary.kind for summary in summaries]
    moments = [at for summary in summaries for at in (summary.started_at, summary.ended_at) if at]
    return ProjectReport(
        project=best,
        also=tuple(project for project in names if project != best),
        agents=tuple(sorted({summary.agent for summary in summaries})),
        sessions=kinds.count(SessionKind.MAIN),
        subagents=kinds.count(SessionKind.SUBAGENT),
        checkpoints=kinds.count(SessionKind.CHECKPOINT),
        lost=kinds.count(SessionKind.LOST),
        first=min(moments, default=None),
        last=max(moments, default=None),
        bytes=_bytes(summaries, [companion for part in parts for companion in part.companions]),
    )


def _telling(project: Project) -> tuple[bool | int, ...]:
    """How well a name of a project serves for all: where its folder is as sure, one with a hash is."""
    *sure, rank = sureness(project)
    return (*sure, bool(project.hash), rank, bool(project.slug))


def _known(part: Shelved, identity: Identity) -> Iterator[Project]:
    yield from (project for project in _told(part) if project in identity)


def _is_main(project: Project, identity: Identity) -> bool:
    """Whether this is the folder itself and not a work tree of it."""
    return not project.path or identity.key(project) in (same_place(project.path), project.hash)


def _bytes(summaries: Iterable[SessionSummary], companions: Iterable[CompanionFile]) -> int:
    # One file may hold several sessions; it is counted once.
    sizes = {file.path: file.size for summary in summaries for file in summary.files}
    sizes |= {companion.path: companion.size for companion in companions}
    return sum(sizes.values())
