"""`stats --json`: figures in groups.

A number that nobody recorded is null. Costs are dollars at list price, rounded to six places.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from geminids.faces.cli.stats_tables import LABEL, shown_groups

if TYPE_CHECKING:
    from geminids.query.usage.figures import Figures, Tokens
    from geminids.query.usage.stats import Statistics, StatsGroup

PLACES = 6


class UsedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Requests and what they used. `input` is the whole prompt: its parts are the three that follow."""

    requests: int
    """Those of which the agent recorded tokens."""
    unmeasured: int
    """Replies of which it recorded none: they are in no other number here."""
    input: int | None
    fresh: int | None
    cached: int | None
    cache_write: int | None
    cache_write_hour: int | None
    """The part of `cache_write` that is kept for an hour."""
    output: int | None
    thoughts: int | None
    tool: int | None
    total: int | None
    cost: float | None
    """Dollars at list price of those requests that have a price, rounded to six places."""
    unpriced: int
    """Requests that have none."""


class Deeds(msgspec.Struct, frozen=True, kw_only=True):
    """What was done; null where it is not told of such a group."""

    sessions: int
    """Those that a human led."""
    subagents: int
    prompts: int | None
    replies: int | None
    active: float | None
    """Seconds in which somebody was at work: longer pauses are left out."""
    calls: int | None
    errors: int | None
    cancelled: int | None
    files: int | None
    """Different files that were changed."""
    added: int | None
    removed: int | None
    """Lines."""
    tokens: UsedTokens | None
    estimated: UsedTokens | None
    """What requests without recorded tokens may have used; in no other number. Null if not asked for."""


class DeedsOfGroup(Deeds, frozen=True, kw_only=True):
    """What was done in one group."""

    key: str
    """A day as 2026-11-15 (the first of a week or month), a name, or the id of a session."""
    name: str
    agent: str | None
    """Of a session."""


class DayTokens(msgspec.Struct, frozen=True, kw_only=True):
    """What was used on a day, in local time."""

    day: date
    tokens: UsedTokens


class PriceBasis(msgspec.Struct, frozen=True, kw_only=True):
    """Where the prices come from."""

    label: str
    """What a cost is."""
    library: str | None
    """The price list and its release; null if none was needed or there is none."""
    overrides: Sequence[str]
    """The names in the settings whose prices took part."""


class UnpricedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model without a price, and why."""

    model: str
    reason: str
    requests: int


class StatsDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/stats/1"):
    """What sessions did, used and cost."""

    by: str
    since: datetime | None
    until: datetime | None
    agents: Sequence[str]
    total: Deeds
    """Of all groups, also of those that a limit leaves out."""
    groups: Sequence[DeedsOfGroup]
    """In order of time, or the largest first."""
    days: Sequence[DayTokens]
    prices: PriceBasis
    unpriced: Sequence[UnpricedModel]


def stats_document(found: Statistics, limit: int | None) -> StatsDocument:
    """Figures as a document."""
    groups, _ = shown_groups(found, limit)
    return StatsDocument(
        by=found.by,
        since=found.since,
        until=found.until,
        agents=found.agents,
        total=Deeds(**_deeds(found.total, "day")),
        groups=[_group(found.by, group) for group in groups],
        days=[DayTokens(day=day, tokens=used_tokens(used)) for day, used in found.days],
        prices=PriceBasis(label=LABEL, library=found.basis.library, overrides=found.basis.overrides),
        unpriced=[UnpricedModel(**model._asdict()) for model in found.unpriced],
    )


def _group(by: str, group: StatsGroup) -> DeedsOfGroup:
    return DeedsOfGroup(key=group.key, name=group.name, agent=group.agent, **_deeds(group.figures, by))


def _deeds(figures: Figures, by: str) -> dict[str, Any]:
    told = figures.told(by)
    return told | {
        "active": None if told["active"] is None else told["active"] / 1_000_000,
        "tokens": told["tokens"] and used_tokens(told["tokens"]),
        "estimated": told["estimated"] and used_tokens(told["estimated"]),
    }


def used_tokens(used: Tokens) -> UsedTokens:
    """Tokens as they stand in documents."""
    return UsedTokens(**used._asdict() | {"fresh": used.fresh, "cost": rounded(used.cost)})


def rounded(cost: Decimal | None) -> float | None:
    """Dollars as a number."""
    return None if cost is None else float(round(cost, PLACES))
