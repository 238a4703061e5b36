"""What sessions did, used and cost: in groups, over time, by the hour of the day."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec

from geminids.library import (
    Figures,
    Statistics,
    StatsGroup,
    StatsQuestion,
    Tokens,
)
from geminids.transcript import safe
from geminids.web.documents.usage import (
    Hour,
    Hours,
    Series,
    SeriesPoint,
    UnpricedModel,
    UsageFigures,
    UsageGroup,
    UsageSeries,
    UsedTokens,
)
from geminids.web.endpoints import Asked, Desk, Endpoint, SomeWords, Words

Group = Literal["day", "week", "month", "model", "agent", "project", "session", "tool"]
_CENTS = 6
"""Places of a cost."""


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

    by: Literal["day", "week", "month"] = "day"
    split: Literal["model", "agent", "project"] = "model"
    limit: Annotated[int, msgspec.Meta(ge=1, le=12)] = 6
    """Parts that are told, the largest first."""


def usage(desk: Desk, asked: AskedForFigures) -> UsageFigures:
    """What sessions did, used and cost, in groups."""
    found = desk.library.stats(_question(asked, by=asked.by, fold=asked.fold), desk.now)
    groups = found.groups
    shown = groups[-asked.limit :] if asked.by in {"day", "week", "month"} else groups[: asked.limit]
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
    parts = desk.library.stats(_question(asked, by=asked.split), desk.now).groups
    named = [part for part in parts if part.key and part.figures.tokens.total]
    return UsageSeries(
        by=asked.by,
        split=asked.split,
        series=[_series(desk, asked, part) for part in named[: asked.limit]],
        left_out=max(0, len(named) - asked.limit),
    )


def hours(desk: Desk, asked: AskedOfUsage) -> Hours:
    """In which hours of which weekdays people typed and models answered."""
    found = desk.library.hours(_question(asked, by="day"), desk.now)
    return Hours(hours=[Hour(**hour._asdict()) for hour in found])


ENDPOINTS = (
    Endpoint("/api/usage", AskedForFigures, UsageFigures, usage, is_kept=True),
    Endpoint("/api/usage/series", AskedForSeries, UsageSeries, series, is_kept=True),
    Endpoint("/api/usage/hours", AskedOfUsage, Hours, hours, is_kept=True),
)


def _question(asked: AskedOfUsage, *, by: str, fold: bool = True, words: str = "") -> StatsQuestion:
    return StatsQuestion(
        by=by,
        words=" ".join(filter(None, (asked.q.strip(), words))),
        since=asked.since or None,
        until=asked.until or None,
        project=asked.project or None,
        agents=asked.agent,
        fold=fold,
    )


def _series(desk: Desk, asked: AskedForSeries, part: StatsGroup) -> Series:
    only = f'{asked.split}:"{part.key.replace(chr(34), "")}"'
    found = desk.library.stats(_question(asked, by=asked.by, words=only), desk.now)
    return Series(
        key=part.key,
        name=safe.line(part.name),
        points=[
            SeriesPoint(key=group.key, tokens=used_tokens(group.figures.tokens)) for group in found.groups
        ],
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


def _unpriced(found: Statistics) -> Sequence[UnpricedModel]:
    return [
        UnpricedModel(model=one.model, reason=one.reason, requests=one.requests) for one in found.unpriced
    ]
