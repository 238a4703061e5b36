"""What sessions did, used and cost: in groups, over time, by the hour of the day."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from geminids.faces.documents.base import filled
from geminids.faces.documents.usage import UsageFigures, usage_figures
from geminids.faces.documents.usage_series import (
    Hour,
    Hours,
    LargestSessions,
    UsageSeries,
    largest_sessions,
    usage_series,
)
from geminids.faces.web.endpoints import AskedOfSessions, Desk, Endpoint, Page
from geminids.query.usage.stats import TIMES, StatsQuestion

Group = Literal["day", "week", "month", "model", "agent", "project", "session", "tool"]


class AskedForFigures(AskedOfSessions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How they are grouped."""

    by: Group = "day"
    limit: Annotated[int, msgspec.Meta(ge=1, le=5000)] = 400
    """Groups that are listed: of time the last ones, of others the largest."""
    fold: bool = True
    """Whether subagents count as their parents, where sessions are told apart."""


class AskedForSeries(AskedOfSessions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is told over time, and how it is split."""

    by: Literal["day", "week", "month"] | None = None
    """Where it is not said, what fits the span."""
    split: Literal["model", "agent", "project"] = "model"
    limit: Annotated[int, msgspec.Meta(ge=1, le=12)] = 6
    """Parts that are told, the largest first."""


class AskedForLargest(AskedOfSessions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many sessions of each order."""

    limit: Page = 12


def usage(desk: Desk, asked: AskedForFigures) -> UsageFigures:
    """What sessions did, used and cost, in groups."""
    found = desk.library.stats(_question(asked, by=asked.by, fold=asked.fold), desk.now)
    last, first = found.groups[-asked.limit :], found.groups[: asked.limit]
    return usage_figures(found, last if asked.by in TIMES else first)


def series(desk: Desk, asked: AskedForSeries) -> UsageSeries:
    """Usage over time, split into its largest parts."""
    found = desk.library.over_time(_question(asked, by=asked.split), asked.by, asked.limit, desk.now)
    return usage_series(found)


def largest(desk: Desk, asked: AskedForLargest) -> LargestSessions:
    """The sessions that used most, and those that took most time, each with its subagents."""
    found = desk.library.largest_sessions(_question(asked, by="session"), asked.limit, desk.now)
    rows = [row for row, _ in (*found.by_tokens, *found.by_time)]
    keys = zip((row.number for row in rows), desk.library.keys(rows), strict=True)
    return largest_sessions(found, dict(keys))


def hours(desk: Desk, asked: AskedOfSessions) -> Hours:
    """In which hours of which weekdays people typed and models answered."""
    found = desk.library.hours(_question(asked, by="day"), desk.now)
    return Hours(hours=[filled(Hour, hour) for hour in found])


ENDPOINTS = (
    Endpoint("/api/usage", AskedForFigures, UsageFigures, usage, is_cached=True),
    Endpoint("/api/usage/series", AskedForSeries, UsageSeries, series, is_cached=True),
    Endpoint("/api/usage/sessions", AskedForLargest, LargestSessions, largest, is_cached=True),
    Endpoint("/api/usage/hours", AskedOfSessions, Hours, hours, is_cached=True),
)


def _question(asked: AskedOfSessions, *, by: str, fold: bool = True) -> StatsQuestion:
    return StatsQuestion(
        by=by,
        words=asked.q.strip(),
        since=asked.since or None,
        until=asked.until or None,
        project=asked.project or None,
        agents=asked.agent,
        fold=fold,
    )
