"""One timeline: everything a project holds in order of time, and what is no longer there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from geminids.core.model import (
    Companion,
    CompanionKind,
    Problem,
    SessionKind,
    SessionSummary,
    TypedLine,
)
from geminids.query.projects.report import Contents, ProjectReport, known_as
from geminids.storage.times import FIRST

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

    @property
    def tells_session(self) -> bool:
        """Whether it is a session that is there."""
        return self.session is not None and self.kind is not EventKind.GAP


class ProjectStory(msgspec.Struct, frozen=True, kw_only=True):
    """A project and everything it holds, the oldest first."""

    report: ProjectReport
    events: tuple[Event, ...]
    typed: tuple[TypedLine, ...]
    """Every line the human typed, as far as it was logged."""
    problems: tuple[Problem, ...]

    @property
    def sessions(self) -> list[SessionSummary]:
        """Its sessions, in the order of the events."""
        return [event.session for event in self.events if event.session and event.tells_session]


def story(contents: Contents, report: ProjectReport, closed: Sequence[Problem]) -> ProjectStory:
    """Everything a project holds in order of time, with gaps where the rest proves that something is gone."""
    parts = contents.parts(report)
    summaries = [known_as(summary, contents.identity) for part in parts for summary in part.summaries]
    companions = [companion.as_companion(part.agent) for part in parts for companion in part.companions]
    # A session may have been carried to the folder of another project.
    known = {summary.id for shelf in contents.shelves for summary in shelf.summaries}
    known.update(name for shelf in contents.shelves for name in shelf.named)
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
            what = "the session that this belonged to is gone"
            at = summary.started_at or summary.last_at
            yield Event(at=at, kind=EventKind.GAP, title=what, session_id=summary.parent_id, session=summary)
    # An agent may take a new id and go on under the old one; then nothing is gone.
    at_work = _working_times(summaries)
    for companion in sorted(companions, key=lambda companion: companion.modified_at or FIRST):
        if not companion.session_id or companion.session_id in there:
            continue
        if not _is_within(companion.modified_at or FIRST, at_work):
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
