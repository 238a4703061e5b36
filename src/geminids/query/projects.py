"""Projects: what is known of each from all its sessions together, and all that it holds in order of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

import msgspec

from geminids.errors import AmbiguousProjectError, ProjectNotFoundError
from geminids.model import (
    Companion,
    CompanionKind,
    KnownBy,
    Problem,
    Project,
    SessionKind,
    SessionSummary,
    TypedLine,
    folder_hash,
)
from geminids.projects.spellings import main_place, same_place
from geminids.query.matching import match, nearest, project_names
from geminids.query.moments import FIRST
from geminids.sources.base import CompanionFile

_SURER = {known_by: rank for rank, known_by in enumerate(KnownBy)}
_ON_TIMELINE = {
    CompanionKind.PLAN,
    CompanionKind.TASKS,
    CompanionKind.MEMORY,
    CompanionKind.RESTORE_POINT,
    CompanionKind.REPORT,
    CompanionKind.IMAGE,
}

_A_LITTLE = timedelta(minutes=1)
"""An agent may still write a file when the last record of a session is done."""

Known = TypeVar("Known", bound=SessionSummary)
Remembered = Callable[[str], Project | None]
"""What was learnt before about the folder of a hash."""


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


class EventKind(StrEnum):
    """What a line of a timeline is."""

    SESSION = "session"
    SUBAGENT = "subagent"
    CHECKPOINT = "checkpoint"
    LOST = "lost"
    FILE = "file"
    """Something that lies beside the sessions."""
    GAP = "gap"
    """Something is gone, and what remains proves it."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened in a project."""

    at: datetime | None
    kind: EventKind
    title: str | None
    session: SessionSummary | None = None
    companion: Companion | None = None
    session_id: str | None = None
    """For a gap: the session that is gone."""


class ProjectStory(msgspec.Struct, frozen=True, kw_only=True):
    """A project and everything it holds, the oldest first."""

    report: ProjectReport
    events: tuple[Event, ...]
    typed: tuple[TypedLine, ...]
    """Every line the human typed, as far as it was logged."""
    problems: tuple[Problem, ...]


class Projects(msgspec.Struct, frozen=True, kw_only=True):
    """The projects there are, the last used first."""

    projects: tuple[ProjectReport, ...]
    problems: tuple[Problem, ...]
    """What could not be read at all."""


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


class Identity(dict[Project, Project]):
    """For each project as its files tell it, the best that is known of it."""

    repositories: Mapping[str, str] = {}
    """The main folder of a repository, by the folder of another work tree of it."""

    def key(self, project: Project) -> str:
        """What two projects have in common if they are one: the folder where it is known, else the hash."""
        if project.path and _is_settled(project):
            return main_place(self.repositories.get(project.path, project.path))
        return project.hash or project.path or project.slug or ""


def identify(
    shelves: Sequence[Shelved], remembered: Remembered, repositories: Mapping[str, str] | None = None
) -> Identity:
    """For each project as its files tell it, the best that all files and our memory know of the same hash."""
    identity = best_known((project for shelf in shelves for project in _told(shelf)), remembered)
    identity.repositories = repositories or {}
    return identity


def best_known(projects: Iterable[Project], remembered: Remembered) -> Identity:
    """For each project the best that any of the others with its hash, or our memory, knows."""
    told = dict.fromkeys(projects)
    best: dict[str, Project] = {}
    for project in told:
        if project.hash:
            best[project.hash] = _surer(best.get(project.hash), project)
    for project_hash, project in best.items():
        known = remembered(project_hash)
        if known and (known.known_by is KnownBy.LINK or not project.certain):
            best[project_hash] = _surer(project, known)
    return Identity({project: _with_path_of(project, best.get(project.hash or "")) for project in told})


def _told(shelf: Shelved) -> Iterator[Project]:
    yield shelf.project
    yield from (summary.project for summary in shelf.summaries)


def _surer(one: Project | None, other: Project) -> Project:
    return max((p for p in (one, other) if p), key=_sureness)


def _sureness(project: Project) -> tuple[bool, bool, bool, int]:
    # A person who says where a project is now knows better than a hash of where it was.
    is_link = project.known_by is KnownBy.LINK
    rank = -_SURER[project.known_by] if project.known_by else -len(_SURER)
    return is_link, project.certain, project.path is not None, rank


def _with_path_of(project: Project, best: Project | None) -> Project:
    if best is None or best.path is None:
        return project
    return Project(best.path, project.hash, project.slug or best.slug, best.known_by, best.certain)


def known_as(summary: Known, identity: Identity) -> Known:
    """The session with the best that is known of its project."""
    project = identity[summary.project]
    return summary if project == summary.project else msgspec.structs.replace(summary, project=project)


def hashes_without_folder(identity: Identity) -> list[str]:
    """The projects of which nobody knows for certain where they are."""
    known = {project.hash for project in identity.values() if _is_settled(project)}
    # A hash that we made of a path ourselves leads nowhere else.
    ours = {p.hash for p in identity.values() if p.path and p.hash and folder_hash(p.path) == p.hash}
    return [
        name for name in dict.fromkeys(p.hash for p in identity.values()) if name and name not in known | ours
    ]


def certain_paths(identity: Identity) -> list[str]:
    """The folders that are known for certain."""
    return list(dict.fromkeys(p.path for p in identity.values() if p.certain and p.path))


def _is_settled(project: Project) -> bool:
    return project.certain or project.known_by is KnownBy.LINK


def hash_meant(found: Sequence[ProjectReport], wanted: str) -> str | None:
    """The hash of the project that is meant, or of that one of its names which is."""
    report = the_one(found, wanted)
    meant = match((report.project, *report.also), wanted)
    return (report.project if report.project in meant else meant[0]).hash


def the_one(found: Sequence[ProjectReport], wanted: str) -> ProjectReport:
    """The one project that is meant. Raises the error that names the candidates or the nearest."""
    by_name = {name: report for report in found for name in (report.project, *report.also)}
    meant = list({id(by_name[name]): by_name[name] for name in match(by_name, wanted)}.values())
    if not meant:
        raise ProjectNotFoundError(wanted, nearest([name.name for name in by_name], wanted))
    if len(meant) > 1:
        names = project_names(report.project for report in meant)
        raise AmbiguousProjectError(wanted, sorted(names.values()))
    return meant[0]


def reports(shelves: Sequence[Shelved], identity: Identity) -> list[ProjectReport]:
    """The projects there are, the last used first; several names of one folder are one project."""
    groups: dict[str, list[Shelved]] = {}
    for shelf in shelves:
        for key, part in _parts(shelf, identity).items():
            groups.setdefault(key, []).append(part)
    found = [_report(parts, identity) for parts in groups.values()]
    return sorted(found, key=lambda report: (report.last or FIRST, report.project.name), reverse=True)


def _parts(shelf: Shelved, identity: Identity) -> dict[str, Shelved]:
    """A shelf by project: sessions in one folder may have been written for different ones."""
    own = identity[shelf.project]
    parts = {identity.key(own): Shelved(own, [], shelf.companions, shelf.typed, shelf.problems, shelf.agent)}
    for summary in shelf.summaries:
        project = identity[summary.project]
        part = parts.setdefault(identity.key(project), Shelved(project, [], (), (), []))
        part.summaries.append(summary)
    if len(parts) > 1 and not shelf.companions and not parts[identity.key(own)].summaries:
        del parts[identity.key(own)]
    return parts


def _report(parts: Sequence[Shelved], identity: Identity) -> ProjectReport:
    summaries = [summary for part in parts for summary in part.summaries]
    names = dict.fromkeys(identity[project] for part in parts for project in _known(part, identity))
    best = max(names, key=lambda name: (_is_main(name, identity), _sureness(name), bool(name.slug)))
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


def story(
    report: ProjectReport,
    shelves: Sequence[Shelved],
    identity: Identity,
    closed: Sequence[Problem],
) -> ProjectStory:
    """Everything a project holds in order of time, with gaps where the rest proves that something is gone."""
    key = identity.key(report.project)
    parts = [part for shelf in shelves for name, part in _parts(shelf, identity).items() if name == key]
    summaries = [known_as(summary, identity) for part in parts for summary in part.summaries]
    companions = [companion.told(part.agent) for part in parts for companion in part.companions]
    # A session may have been carried to the folder of another project.
    known = {summary.id for shelf in shelves for summary in shelf.summaries}
    known.update(name for shelf in shelves for name in shelf.named)
    events = [
        *map(_session_event, summaries),
        *(_file_event(companion) for companion in companions if companion.kind in _ON_TIMELINE),
        *_gaps(summaries, companions, known),
    ]
    events.sort(key=lambda event: (event.at or FIRST, event.kind))
    lines = sorted((line for part in parts for line in part.typed), key=lambda line: line.at or FIRST)
    problems = [*closed, *(problem for part in parts for problem in part.problems)]
    return ProjectStory(report=report, events=tuple(events), typed=tuple(lines), problems=tuple(problems))


_SESSION_EVENTS = {
    SessionKind.MAIN: EventKind.SESSION,
    SessionKind.SUBAGENT: EventKind.SUBAGENT,
    SessionKind.CHECKPOINT: EventKind.CHECKPOINT,
    SessionKind.LOST: EventKind.LOST,
    SessionKind.COPY: EventKind.CHECKPOINT,
}


def _session_event(summary: SessionSummary) -> Event:
    at = summary.ended_at if summary.kind is SessionKind.CHECKPOINT else summary.started_at
    kind = _SESSION_EVENTS[summary.kind]
    return Event(at=at or summary.last_at, kind=kind, title=summary.title, session=summary)


def _file_event(companion: Companion) -> Event:
    return Event(at=companion.modified_at, kind=EventKind.FILE, title=None, companion=companion)


def _gaps(
    summaries: Sequence[SessionSummary], companions: Sequence[Companion], known: Collection[str]
) -> Iterator[Event]:
    """Sessions that are gone, each by the first thing that names it."""
    there = set(known)
    for summary in summaries:
        if summary.parent_id and summary.parent_id not in there:
            there.add(summary.parent_id)
            what = "the session that this was a part of is gone"
            at = summary.started_at or summary.last_at
            yield Event(at=at, kind=EventKind.GAP, title=what, session_id=summary.parent_id, session=summary)
    # An agent may take a new id and go on under the old one; then nothing is gone.
    at_work = _working_times(summaries)
    for companion in sorted(companions, key=lambda companion: companion.modified_at):
        if not companion.session_id or companion.session_id in there:
            continue
        if not _is_within(companion.modified_at, at_work):
            there.add(companion.session_id)
            what = f"the session that this {companion.kind} belongs to is gone"
            yield Event(
                at=companion.modified_at,
                kind=EventKind.GAP,
                title=what,
                session_id=companion.session_id,
                companion=companion,
            )


def _working_times(summaries: Iterable[SessionSummary]) -> list[tuple[datetime, datetime]]:
    """When sessions were at work, in order; times that overlap are one."""
    mains = [summary for summary in summaries if summary.kind is SessionKind.MAIN]
    times = sorted((s.started_at, s.ended_at + _A_LITTLE) for s in mains if s.started_at and s.ended_at)
    joined: list[tuple[datetime, datetime]] = []
    for began, ended in times:
        if joined and began <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(ended, joined[-1][1]))
        else:
            joined.append((began, ended))
    return joined


def _is_within(at: datetime, times: Sequence[tuple[datetime, datetime]]) -> bool:
    before = bisect_right(times, at, key=lambda time: time[0])
    return before > 0 and at <= times[before - 1][1]
