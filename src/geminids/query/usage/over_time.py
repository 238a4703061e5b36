"""Usage over time, split into its largest parts: one question to the index for all of them."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.values import Value
from geminids.query.usage.counted import first_day_of, scope_of
from geminids.query.usage.figures import Tokens
from geminids.query.usage.row_prices import Pricing, RowPrices, Unpriced, date_of
from geminids.query.usage.stats import NAMING, StatsQuestion, group_of
from geminids.storage.index import totals
from geminids.storage.index.totals import Key, Spent

if TYPE_CHECKING:
    from geminids.query.search.language import Query
    from geminids.query.usage.prices import Basis
    from geminids.storage.index.database import Index

SPLITS = ("model", "agent", "project")
"""What usage over time can be split by."""
_MANY_DAYS, _MANY_WEEKS = 120, 1200
"""Days: a longer span is told by weeks, a still longer one by months, unless somebody says by what."""


class UsagePart(NamedTuple):
    """One of the parts that a total is split into, or several together."""

    key: str
    name: str
    used: Tokens
    points: Sequence[Tokens]
    """For each period of the whole."""


class OverTime(Value):
    """What was asked for."""

    by: str
    split: str
    periods: Sequence[date]
    """The first days of those in which anything was used, in order."""
    total: UsagePart
    parts: Sequence[UsagePart]
    """The largest first."""
    rest: UsagePart | None
    """All parts beyond those, together."""
    left_out: int
    """How many those are."""
    since: datetime | None
    until: datetime | None
    basis: "Basis"
    unpriced: Sequence[Unpriced]


def over_time(
    index: "Index",
    question: StatsQuestion,
    query: "Query | None",
    found: Sequence[int] | None,
    pricing: Pricing,
    *,
    periods: str | None,
    most: int,
) -> OverTime:
    """What was used in each day, week or month; without a wish they are chosen by the span.

    `question.by` is what it is split by; `most` parts are told. `found` are the sessions with the words of
    the query, if it has any.
    """
    group = group_of(index, question)
    scope = scope_of(index, query, found)
    spent = totals.spent(index, scope, group)
    guessed = totals.estimated(index, scope, group)
    prices = RowPrices(index, (*spent, *guessed), pricing)
    by = periods or _fitting([row.day for row in (*spent, *guessed)])
    sums = _sums(by, spent, guessed, prices)
    firsts = sorted({first for _, first in sums})
    keys = _largest_first(sums)
    names = _names(index, question.by, keys, prices.models)
    named, others = keys[:most], set(keys[most:])
    return OverTime(
        by=by,
        split=question.by,
        periods=list(map(date_of, firsts)),
        total=_part("", "", sums, firsts, set(keys)),
        parts=[_part(*names[key], sums, firsts, {key}) for key in named],
        rest=_part("", "", sums, firsts, others) if others else None,
        left_out=len(others),
        since=query.since if query else None,
        until=query.before if query else None,
        basis=prices.basis,
        unpriced=prices.unpriced(),
    )


_Sums = dict[tuple[Key, int], Tokens]
"""By the number of a part and the first day of a period."""


def _sums(by: str, spent: Sequence[Spent], guessed: Sequence[Spent], prices: RowPrices) -> _Sums:
    first_days = {day: first_day_of(by, day) for day in {row.day for row in (*spent, *guessed)}}
    used: defaultdict[tuple[Key, int], list[Tokens]] = defaultdict(list)
    for row in spent:
        used[row.key, first_days[row.day]].append(Tokens.of(row, prices.cost(row)))
    for row in guessed:
        used[row.key, first_days[row.day]].append(Tokens(unmeasured=row.requests))
    return {place: Tokens.sum(all_of_it) for place, all_of_it in used.items()}


def _largest_first(sums: _Sums) -> list[Key]:
    """The numbers of the parts."""
    totals_of: defaultdict[Key, int] = defaultdict(int)
    for (key, _), used in sums.items():
        totals_of[key] += used.total or 0
    return sorted(totals_of, key=lambda key: -totals_of[key])


def _names(
    index: "Index", split: str, keys: Sequence[Key], models: dict[int, str]
) -> dict[Key, tuple[str, str]]:
    """The key and the name of each part, by its number."""
    named = NAMING[split](index, keys, models)
    return {key: (named[key].key, named[key].name) for key in keys}


def _part(key: str, name: str, sums: _Sums, firsts: Sequence[int], numbers: set[Key]) -> UsagePart:
    """Those of some numbers, together."""
    points: dict[int, list[Tokens]] = {first: [] for first in firsts}
    for (number, first), used in sums.items():
        if number in numbers:
            points[first].append(used)
    used_in = list(map(Tokens.sum, points.values()))
    return UsagePart(key, name, Tokens.sum(used_in), used_in)


def _fitting(days: Sequence[int]) -> str:
    """The periods that a picture has room for."""
    span = max(days) - min(days) if days else 0
    return "day" if span <= _MANY_DAYS else "week" if span <= _MANY_WEEKS else "month"
