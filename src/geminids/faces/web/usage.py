"""What sessions did, used and cost: in groups, over time, by the hour of the day."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec

from geminids.faces.web.documents.usage import (
    Hour,
    Hours,
    LargeSession,
    LargestSessions,
    SeriesPart,
    UnpricedModel,
    UsageFigures,
    UsageGroup,
    UsageSeries,
    UsedTokens,
)
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, Page, SomeWords, Words
from geminids.faces.web.lines import harmless
from geminids.query.usage.figures import Figures, Tokens
from geminids.query.usage.over_time import OverTime, UsagePart
from geminids.query.usage.stats import Statistics, StatsGroup, StatsQuestion
from geminids.sharing.transcript import safe
from geminids.storage.index.values import SessionRow

Group = Literal["day", "week", "month", "model", "agent", "project", "session", "tool"]
_CENTS = 6
"""Places of a cost."""
_TIMES = frozenset({"day", "week", "month"})


class AskedOfUsage(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions count."""

    q: Words = ""
    """In the language of searches: the sessions that it finds; `model:` counts only their requests."""
    project: Words | None = None
    agent: SomeWords = ()
    since: Words | None = None
    until: Words | None = None


class AskedForFigures(AskedOfUsage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How they are grouped."""

    by: Group = "day"
    limit: Annotated[int, msgspec.Meta(ge=1, le=5000)] = 400
    """Groups that are listed: of time the last ones, of others the largest."""
    fold: bool = True
    """Whether subagents count as their parents, where sessions are told apart."""


class AskedForSeries(AskedOfUsage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is told over time, and how it is split."""

    by: Literal["day", "week", "month"] | None = None
    """Where it is not said, what fits the span."""
    split: Literal["model", "agent", "project"] = "model"
    limit: Annotated[int, msgspec.Meta(ge=1, le=12)] = 6
    """Parts that are told, the largest first."""


class AskedForLargest(AskedOfUsage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many sessions of each order."""

    limit: Page = 12


def usage(desk: Desk, asked: AskedForFigures) -> UsageFigures:
    """What sessions did, used and cost, in groups."""
    found = desk.library.stats(_question(asked, by=asked.by, fold=asked.fold), desk.now)
    groups = found.groups
    shown = groups[-asked.limit :] if asked.by in _TIMES else groups[: asked.limit]
    return UsageFigures(
        by=found.by,
        since=found.since,
        until=found.until,
        total=usage_group("day", StatsGroup("total", "All together", found.total)),
        groups=[usage_group(asked.by, group) for group in shown],
        left_out=len(groups) - len(shown),
        price_list=found.basis.library,
        unpriced=_unpriced(found),
    )


def series(desk: Desk, asked: AskedForSeries) -> UsageSeries:
    """Usage over time, split into its largest parts."""
    found = desk.library.over_time(_question(asked, by=asked.split), asked.by, asked.limit, desk.now)
    return UsageSeries(
        by=found.by,
        split=found.split,
        since=found.since,
        until=found.until,
        keys=[str(first) for first in found.periods],
        total=used_tokens(found.total.used),
        points=[used_tokens(point) for point in found.total.points],
        parts=[_series_part(part) for part in found.parts],
        rest=_series_part(found.rest) if found.rest else None,
        left_out=found.left_out,
        price_list=found.basis.library,
        unpriced=_unpriced(found),
    )


def largest(desk: Desk, asked: AskedForLargest) -> LargestSessions:
    """The sessions that used most, and those that took most time, each with its subagents."""
    found = desk.library.largest_sessions(_question(asked, by="session"), asked.limit, desk.now)
    return LargestSessions(
        by_tokens=[_large(row, tokens=tokens) for row, tokens in found.by_tokens],
        by_time=[_large(row, seconds=active / 1_000_000) for row, active in found.by_time],
    )


def _large(row: SessionRow, *, tokens: int | None = None, seconds: float | None = None) -> LargeSession:
    return LargeSession(id=row.id, title=harmless(row.title), agent=row.agent, tokens=tokens, active=seconds)


def hours(desk: Desk, asked: AskedOfUsage) -> Hours:
    """In which hours of which weekdays people typed and models answered."""
    found = desk.library.hours(_question(asked, by="day"), desk.now)
    return Hours(hours=[Hour(**hour._asdict()) for hour in found])


ENDPOINTS = (
    Endpoint("/api/usage", AskedForFigures, UsageFigures, usage, is_kept=True),
    Endpoint("/api/usage/series", AskedForSeries, UsageSeries, series, is_kept=True),
    Endpoint("/api/usage/sessions", AskedForLargest, LargestSessions, largest, is_kept=True),
    Endpoint("/api/usage/hours", AskedOfUsage, Hours, hours, is_kept=True),
)


def _question(asked: AskedOfUsage, *, by: str, fold: bool = True) -> StatsQuestion:
    return StatsQuestion(
        by=by,
        words=asked.q.strip(),
        since=asked.since or None,
        until=asked.until or None,
        project=asked.project or None,
        agents=asked.agent,
        fold=fold,
    )


def _series_part(part: UsagePart) -> SeriesPart:
    return SeriesPart(
        key=part.key,
        name=safe.line(part.name),
        used=used_tokens(part.used),
        totals=[point.total for point in part.points],
        costs=[rounded(point.cost) for point in part.points],
    )


def usage_group(by: str, group: StatsGroup) -> UsageGroup:
    """One line of a table."""
    told: dict[str, Any] = group.figures.told(by)
    active, tokens, calls = told["active"], told["tokens"], told["calls"]
    counted = ("sessions", "subagents", "prompts", "replies", "calls", "errors", "cancelled", "files")
    return UsageGroup(
        key=group.key,
        name=safe.line(group.name),
        agent=group.agent,
        active=None if active is None else active / 1_000_000,
        failure_rate=_failure_rate(group.figures) if calls else None,
        added=told["added"],
        removed=told["removed"],
        tokens=used_tokens(tokens) if tokens is not None else None,
        **{name: told[name] for name in counted},
    )


def _failure_rate(figures: Figures) -> float:
    return round(figures.errors / figures.calls, 4)


def used_tokens(used: Tokens) -> UsedTokens:
    """Tokens as they stand in answers."""
    kinds = (
        "requests",
        "unmeasured",
        "input",
        "cached",
        "cache_write",
        "output",
        "thoughts",
        "tool",
        "total",
    )
    return UsedTokens(
        fresh=used.fresh,
        cost=rounded(used.cost),
        unpriced=used.unpriced,
        **{name: getattr(used, name) for name in kinds},
    )


def rounded(cost: Decimal | None) -> float | None:
    """Dollars as a number."""
    return None if cost is None else float(round(cost, _CENTS))


def _unpriced(found: Statistics | OverTime) -> Sequence[UnpricedModel]:
    return [
        UnpricedModel(model=one.model, reason=one.reason, requests=one.requests) for one in found.unpriced
    ]
