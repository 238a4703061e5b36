"""Usage over time, by the hour of the day, and the sessions that stand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.faces.documents.base import Document, Handle, filled, harmless
from geminids.faces.documents.tokens import (
    UnpricedModel,
    UsedTokens,
    dollars,
    unpriced_models,
    used_tokens,
)
from geminids.faces.documents.usage import seconds
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.query.usage import stats
    from geminids.query.usage.over_time import OverTime, UsagePart
    from geminids.storage.index.values import SessionRow


class SeriesPart(Document, frozen=True, kw_only=True):
    """One of the parts that a total is split into."""

    key: Handle
    name: str
    used: UsedTokens
    """All of it."""
    totals: Sequence[int | None]
    costs: Sequence[float | None]
    """For each period, tokens and dollars; null where nothing was recorded."""


class UsageSeries(Document, frozen=True, kw_only=True):
    """Usage over time, split by model, agent or project. The parts, with the rest, add up to the total."""

    by: str
    """day, week or month"""
    split: str
    since: datetime | None
    until: datetime | None
    keys: Sequence[str]
    """The first days of the periods in which anything was used, in order."""
    total: UsedTokens
    points: Sequence[UsedTokens]
    """All parts together, for each period."""
    parts: Sequence[SeriesPart]
    """The largest first."""
    rest: SeriesPart | None
    """All parts beyond those, together."""
    left_out: int
    """How many parts those are."""
    price_list: str | None
    unpriced: Sequence[UnpricedModel]


class LargeSession(Document, frozen=True, kw_only=True):
    """A session that stands out, with its subagents."""

    id: Handle
    title: str | None
    agent: str
    tokens: int | None
    active: float | None
    """Seconds in which somebody was at work. Only what it stands out by is told."""


class LargestSessions(Document, frozen=True, kw_only=True):
    """The sessions that used most, and those that took most time; the largest first."""

    by_tokens: Sequence[LargeSession]
    by_time: Sequence[LargeSession]


class Hour(Document, frozen=True, kw_only=True):
    """What was said in an hour of a weekday."""

    weekday: int
    """0 is Monday."""
    hour: int
    prompts: int
    replies: int


class Hours(Document, frozen=True, kw_only=True):
    """When people typed and models answered, in local time; hours without anything are left out."""

    hours: Sequence[Hour]


def usage_series(found: OverTime) -> UsageSeries:
    """Usage over time."""
    return filled(
        UsageSeries,
        found,
        keys=[str(first) for first in found.periods],
        total=used_tokens(found.total.used),
        points=[used_tokens(point) for point in found.total.points],
        parts=[_series_part(part) for part in found.parts],
        rest=_series_part(found.rest) if found.rest else None,
        price_list=found.basis.library,
        unpriced=unpriced_models(found.unpriced),
    )


def largest_sessions(found: stats.LargestSessions, keys: Mapping[int, str]) -> LargestSessions:
    """Return the sessions that stand out, each with its key by the number of its row."""

    def large(row: SessionRow, *, tokens: int | None = None, active: float | None = None) -> LargeSession:
        title = harmless(row.title)
        return filled(LargeSession, row, id=keys[row.number], title=title, tokens=tokens, active=active)

    return LargestSessions(
        by_tokens=[large(row, tokens=tokens) for row, tokens in found.by_tokens],
        by_time=[large(row, active=seconds(active)) for row, active in found.by_time],
    )


def _series_part(part: UsagePart) -> SeriesPart:
    return SeriesPart(
        key=part.key,
        name=safe.line(part.name),
        used=used_tokens(part.used),
        totals=[point.total for point in part.points],
        costs=[dollars(point.cost) for point in part.points],
    )
