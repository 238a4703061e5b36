"""Five-hour windows of use, as limits of subscriptions count them, and how fast the present one is used up.

A window begins at the full hour (UTC) of its first request and ends five hours later; the next one begins
with the next request after that. Each agent has windows of its own. Which requests are counted may be
narrowed; where windows begin and end never depends on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from geminids.core.values import NamedTuple, Value
from geminids.query.usage.counted import requests_counted
from geminids.query.usage.figures import Tokens, used_by
from geminids.query.usage.row_prices import Pricing, RowPrices, Unpriced
from geminids.storage.index.hours import HOUR, SpentInHour, spent_by_hour
from geminids.storage.times import microseconds, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.search.language import Query
    from geminids.query.usage.prices import Basis
    from geminids.storage.index.database import Index

HOURS = 5
LENGTH = timedelta(hours=HOURS)
_LEAST_ELAPSED = timedelta(minutes=1)
"""A rate over less time than this says nothing."""
_LOOK_BACK = 24
"""So many hours are looked back at first for the beginning of the present window."""


class Burn(NamedTuple):
    """How fast a window is being used, and what it comes to if that goes on until its end."""

    tokens_per_minute: float | None
    cost_per_hour: Decimal | None
    left: timedelta
    """Until its end."""
    projected_tokens: int | None
    projected_cost: Decimal | None


class Block(NamedTuple):
    """What an agent used in one window."""

    agent: str
    start: datetime
    first: datetime
    """The first request in it that counts here."""
    last: datetime
    tokens: Tokens
    models: Sequence[str]
    """The one that used most first."""
    idle: timedelta | None = None
    """How long nothing was used before it, where that is longer than a window."""

    @property
    def end(self) -> datetime:
        """When it is over."""
        return self.start + LENGTH

    def is_active(self, now: datetime) -> bool:
        """Whether it is the present one."""
        return self.start <= now < self.end

    def burn(self, now: datetime) -> Burn | None:
        """How fast it is used, from its first request until now; None if it is over."""
        if not self.is_active(now):
            return None
        elapsed = max(now - self.first, _LEAST_ELAPSED)
        left = self.end - now
        used, cost = self.tokens.total, self.tokens.cost
        return Burn(
            None if used is None else used / (elapsed / timedelta(minutes=1)),
            None if cost is None else cost / _exact_hours(elapsed),
            left,
            None if used is None else used + round(used * (left / elapsed)),
            None if cost is None else cost + cost * _exact_hours(left) / _exact_hours(elapsed),
        )


class Blocks(Value):
    """All windows that were asked for, in order of time."""

    blocks: Sequence[Block]
    total: Tokens
    basis: Basis
    """Where the prices are from."""
    unpriced: Sequence[Unpriced]

    def newest(self, limit: int | None) -> Sequence[Block]:
        """As many of the last ones as are wished."""
        return self.blocks if limit is None else self.blocks[-limit:]

    def active(self, now: datetime) -> list[Block]:
        """The present window of each agent that has one."""
        return [block for block in self.blocks if block.is_active(now)]


def blocks(index: Index, query: Query | None, found: Sequence[int] | None, pricing: Pricing) -> Blocks:
    """The windows of all agents. `found` are the sessions with the words of the query, if it has any."""
    conditions = requests_counted(index, query, found)
    rows = spent_by_hour(index, conditions)
    return _blocks(index, rows, spent_by_hour(index) if conditions else rows, pricing)


def present_blocks(index: Index, now: datetime, pricing: Pricing) -> Blocks:
    """The window of each agent that is not over; only as much is looked at as it takes to know it."""
    rows = _since_a_pause(index, now)
    found = _blocks(index, rows, rows, pricing)
    return found._replace(blocks=found.active(now))


def _since_a_pause(index: Index, now: datetime) -> list[SpentInHour]:
    """What was used lately, from after a pause that no window outlasts: there one began."""
    present = (microseconds(now) or 0) // HOUR
    back = _LOOK_BACK
    while back < present:
        rows = spent_by_hour(index, since=(present - back) * HOUR)
        # A clock that was wrong may have dated some of them later than now.
        before = [[hour for hour in hours if hour <= present] for hours in _hours(rows).values()]
        if all(_has_pause([present - back, *hours]) for hours in before):
            return rows
        back *= 4
    return spent_by_hour(index)


def _hours(rows: Iterable[SpentInHour]) -> dict[str, list[int]]:
    """The hours in which each agent was used, in order."""
    hours: dict[str, list[int]] = {}
    for row in rows:
        hours.setdefault(row.agent, []).append(row.hour)
    return hours


def _has_pause(hours: Sequence[int]) -> bool:
    return any(later - earlier >= HOURS for earlier, later in pairwise(hours))


def _starts(rows: Iterable[SpentInHour]) -> dict[tuple[str, int], int]:
    """The hour in which the window began that an hour of an agent is in."""
    starts: dict[tuple[str, int], int] = {}
    for agent, hours in _hours(rows).items():
        start: int | None = None
        for hour in hours:
            if start is None or hour >= start + HOURS:
                start = hour
            starts[agent, hour] = start
    return starts


def _blocks(
    index: Index, rows: Sequence[SpentInHour], every: Sequence[SpentInHour], pricing: Pricing
) -> Blocks:
    """Rows as windows, which began where all that was used says."""
    starts = _starts(every)
    prices = RowPrices(index, [row.spent for row in rows], pricing)
    together: dict[tuple[int, str], list[SpentInHour]] = {}
    for row in rows:
        together.setdefault((starts[row.agent, row.hour], row.agent), []).append(row)
    found = [_block(key, together[key], prices) for key in sorted(together)]
    return Blocks(
        blocks=_with_pauses(found),
        total=Tokens.sum(block.tokens for block in found),
        basis=prices.basis,
        unpriced=prices.unpriced(),
    )


def _block(key: tuple[int, str], rows: Sequence[SpentInHour], prices: RowPrices) -> Block:
    start, agent = key
    spent: dict[str, int] = {}
    for row in rows:
        if name := prices.models.get(row.spent.model):
            spent[name] = spent.get(name, 0) + (row.spent.total or 0)
    return Block(
        agent,
        _at(start * HOUR),
        _at(min(row.first for row in rows)),
        _at(max(row.last for row in rows)),
        Tokens.sum(used_by(row.spent, prices.cost(row.spent)) for row in rows),
        sorted(spent, key=lambda name: (-spent[name], name)),
    )


def _with_pauses(found: Sequence[Block]) -> list[Block]:
    """Windows, each with how long its agent had paused."""
    last: dict[str, datetime] = {}
    paused: list[Block] = []
    for block in found:
        idle = block.first - last[block.agent] if block.agent in last else timedelta()
        paused.append(block._replace(idle=idle if idle > LENGTH else None))
        last[block.agent] = block.last
    return paused


def _at(stored: int) -> datetime:
    at = moment(stored)
    assert at is not None
    return at


def _exact_hours(length: timedelta) -> Decimal:
    return Decimal(length // timedelta(microseconds=1)) / HOUR
