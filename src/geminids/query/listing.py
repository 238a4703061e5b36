"""Which sessions a list shows, in which order, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from geminids.model import Problem, Project, SessionKind, SessionSummary
from geminids.query.matching import match, nearest
from geminids.query.moments import FIRST

LED_BY_HUMANS = frozenset({SessionKind.MAIN, SessionKind.CHECKPOINT, SessionKind.LOST})
"""What people look for when they look for their sessions."""


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants to see; None and empty ask for everything."""

    kinds: frozenset[SessionKind] | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class Listing(msgspec.Struct, frozen=True):
    """The sessions that were asked for, newest first, and what was left out."""

    sessions: tuple[SessionSummary, ...]
    considered: int
    """How many sessions there are of the kind that was asked for."""
    hidden: dict[str, int]
    """How many sessions a filter hid, by the filter's name."""
    projects: tuple[str, ...]
    """The names of all projects there are, whatever was asked for."""
    problems: tuple[Problem, ...]
    """What could not be read at all."""
    left_unread: tuple[Problem, ...] = ()
    """What is too large to be read for a list."""
    meant: tuple[Project, ...] = ()
    """The projects that were meant, if one was asked for."""

    def nearest_projects(self, wanted: str) -> list[str]:
        """Names of projects that look like this one, or else a few of those there are."""
        return nearest(self.projects, wanted)


def listing(summaries: Iterable[SessionSummary], wanted: Filter, problems: Sequence[Problem] = ()) -> Listing:
    """Sort the sessions into those that were asked for and those that were not."""
    known = list(summaries)
    meant = match((s.project for s in known), wanted.project) if wanted.project is not None else None
    shown: list[SessionSummary] = []
    hidden: Counter[str] = Counter()
    among = None if meant is None else frozenset(meant)
    for summary in known:
        if reason := _hidden_by(summary, wanted, among):
            hidden[reason] += 1
        else:
            shown.append(summary)
    refused = [problem for problem in problems if problem.is_unreadable]
    shown.sort(key=newest_last, reverse=True)
    considered = sum(wanted.kinds is None or summary.kind in wanted.kinds for summary in known)
    projects = sorted({summary.project.name for summary in known})
    return Listing(
        tuple(shown),
        considered,
        dict(hidden),
        tuple(projects),
        tuple(refused),
        left_unread(problems),
        meant or (),
    )


def left_unread(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """What is too large to be read whole, each file once."""
    return tuple({problem.file: problem for problem in problems if not problem.is_damage}.values())


def newest_last(summary: SessionSummary) -> tuple[datetime, str]:
    """The order of time; a session without any time comes before all others."""
    return (summary.last_at or FIRST, summary.id)


def _hidden_by(summary: SessionSummary, wanted: Filter, meant: frozenset[Project] | None) -> str | None:
    if meant is not None and summary.project not in meant:
        return "project"
    if wanted.since and (summary.last_at or FIRST) < wanted.since:
        return "since"
    if wanted.until and (summary.started_at is None or summary.started_at >= wanted.until):
        return "until"
    if wanted.kinds is not None and summary.kind not in wanted.kinds:
        return "kind"
    return None
