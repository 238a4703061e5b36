"""What sessions did, used and cost, in groups: `stats --json`, and the tables of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from geminids.faces.documents.base import Document, Handle, Printed, filled
from geminids.faces.documents.tokens import (
    UnpricedModel,
    UsedTokens,
    dollars,
    unpriced_models,
    used_tokens,
)
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.query.usage.blocks import Block, Blocks
    from geminids.query.usage.figures import Figures
    from geminids.query.usage.stats import Statistics, StatsGroup


class Deeds(Document, frozen=True, kw_only=True):
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
    incomplete: int
    """Sessions with files that could not be read completely: if any, all numbers are lower bounds."""


class NameOfGroup(Document, frozen=True, kw_only=True):
    """What one grouping calls a group."""

    by: str
    key: str
    """A day as 2026-11-15 (the first of a week or month), a name, or the id of a session."""
    name: str
    agent: str | None
    """Of a session."""


class DeedsOfGroup(Deeds, frozen=True, kw_only=True):
    """What was done in one group."""

    group: Sequence[NameOfGroup]
    """One for each grouping, in their order."""


class DayTokens(Document, frozen=True, kw_only=True):
    """What was used on a day, in local time."""

    day: date
    tokens: UsedTokens


class PriceBasis(Document, frozen=True, kw_only=True):
    """Where the prices come from."""

    label: str
    """What a cost is."""
    library: str | None
    """The price list and its release; null if none was needed or there is none."""
    overrides: Sequence[str]
    """The names in the settings whose prices took part."""


class StatsDocument(Printed, frozen=True, kw_only=True, tag="geminids/stats/2"):
    """What sessions did, used and cost."""

    by: Sequence[str]
    """The groupings, in their order."""
    since: datetime | None
    until: datetime | None
    agents: Sequence[str]
    total: Deeds
    """Of all groups, also of those that a limit leaves out."""
    kinds: Mapping[str, int]
    """How many sessions of each kind are in the total: main, subagent, checkpoint, lost."""
    uncounted: Mapping[str, int]
    """How many are not, since they have no message of their own; none where a time is chosen."""
    groups: Sequence[DeedsOfGroup]
    """In order of time, or the largest first."""
    days: Sequence[DayTokens]
    prices: PriceBasis
    unpriced: Sequence[UnpricedModel]


class BurnRate(Document, frozen=True, kw_only=True):
    """The burn rate of a window, from its first request until now, and a projection to its end."""

    tokens_per_minute: float | None
    cost_per_hour: float | None
    """Dollars at list price."""
    left: float
    """Seconds until its end."""
    projected_tokens: int | None
    projected_cost: float | None
    """What will be used by its end at this rate."""


class UsageBlock(Document, frozen=True, kw_only=True):
    """What an agent used in one five-hour window."""

    agent: str
    start: datetime
    """The full hour, in UTC, of the first request that the agent made in it."""
    end: datetime
    first: datetime
    last: datetime
    """The first request in it that counts here, and the last."""
    idle: float | None
    """Seconds without a request before it, if these are longer than a window; else null."""
    models: Sequence[str]
    """The one that used most first."""
    tokens: UsedTokens
    burn: BurnRate | None
    """Of a window that is not over yet; else null."""


class BlocksDocument(Printed, frozen=True, kw_only=True, tag="geminids/blocks/1"):
    """What was used in each five-hour window, by which subscriptions count their limits."""

    total: UsedTokens
    """Of all windows, also of those that a limit leaves out."""
    incomplete: int
    """Sessions with files that could not be read completely: if any, all numbers are lower bounds."""
    blocks: Sequence[UsageBlock]
    """In order of time."""
    prices: PriceBasis
    unpriced: Sequence[UnpricedModel]


class UsageGroup(Document, frozen=True, kw_only=True):
    """What was done in one group; null where it is not told of such a group."""

    key: Handle
    name: str
    agent: str | None
    sessions: int
    subagents: int
    prompts: int | None
    replies: int | None
    active: float | None
    """Seconds."""
    calls: int | None
    errors: int | None
    cancelled: int | None
    failure_rate: float | None
    files: int | None
    added: int | None
    removed: int | None
    tokens: UsedTokens | None
    incomplete: int
    """Sessions with files that could not be read completely: if any, all numbers are lower bounds."""


class UsageFigures(Document, frozen=True, kw_only=True):
    """What sessions did, used and cost, in groups."""

    by: str
    since: datetime | None
    until: datetime | None
    total: UsageGroup
    groups: Sequence[UsageGroup]
    """In order of time, or the largest first."""
    left_out: int
    """Groups that the limit leaves out."""
    price_list: str | None
    unpriced: Sequence[UnpricedModel]


def stats_document(found: Statistics, groups: Sequence[StatsGroup], label: str) -> StatsDocument:
    """Figures, of some of the groups; `label` says what a cost is."""
    return filled(
        StatsDocument,
        found,
        by=found.groupings,
        total=Deeds(**_deeds(found.total, "day")),
        groups=[
            DeedsOfGroup(
                group=[
                    filled(NameOfGroup, name, by=by)
                    for by, name in zip(found.groupings, group.names, strict=True)
                ],
                **_deeds(group.figures, found.by),
            )
            for group in groups
        ],
        days=[DayTokens(day=day, tokens=used_tokens(used)) for day, used in found.days],
        prices=filled(PriceBasis, found.basis, label=label),
        unpriced=unpriced_models(found.unpriced),
    )


def blocks_document(
    found: Blocks, limit: int | None, label: str, now: datetime, incomplete: int
) -> BlocksDocument:
    """Windows, of which as many of the last ones as are wished; `label` says what a cost is."""
    return filled(
        BlocksDocument,
        found,
        total=used_tokens(found.total),
        incomplete=incomplete,
        blocks=[_block(block, now) for block in found.newest(limit)],
        prices=filled(PriceBasis, found.basis, label=label),
        unpriced=unpriced_models(found.unpriced),
    )


def _block(block: Block, now: datetime) -> UsageBlock:
    burn = block.burn(now)
    rate = burn and filled(
        BurnRate,
        burn,
        tokens_per_minute=None if burn.tokens_per_minute is None else round(burn.tokens_per_minute, 1),
        cost_per_hour=dollars(burn.cost_per_hour),
        left=round(burn.left.total_seconds(), 3),
        projected_cost=dollars(burn.projected_cost),
    )
    idle = block.idle.total_seconds() if block.idle else None
    return filled(UsageBlock, block, idle=idle, tokens=used_tokens(block.tokens), burn=rate)


def usage_figures(found: Statistics, groups: Sequence[StatsGroup]) -> UsageFigures:
    """Figures, of some of the groups."""
    return filled(
        UsageFigures,
        found,
        total=usage_group("day", "total", "Total", found.total),
        groups=[
            usage_group(found.by, group.key, safe.line(group.name), group.figures, group.agent)
            for group in groups
        ],
        left_out=len(found.groups) - len(groups),
        price_list=found.basis.library,
        unpriced=unpriced_models(found.unpriced),
    )


def usage_group(by: str, key: str, name: str, figures: Figures, agent: str | None = None) -> UsageGroup:
    """One line of a table."""
    deeds = _deeds(figures, by)
    del deeds["estimated"]
    rate = round(figures.errors / figures.calls, 4) if deeds["calls"] else None
    return UsageGroup(key=key, name=name, agent=agent, failure_rate=rate, **deeds)


def _deeds(figures: Figures, by: str) -> dict[str, Any]:
    """What was done, by the names of the fields."""
    deeds = figures.by_name(by)
    return deeds | {
        "active": None if deeds["active"] is None else seconds(deeds["active"]),
        "tokens": used_tokens(deeds["tokens"]) if deeds["tokens"] is not None else None,
        "estimated": used_tokens(deeds["estimated"]) if deeds["estimated"] is not None else None,
    }


def seconds(microseconds: int) -> float:
    """How long somebody was at work."""
    return microseconds / 1_000_000
