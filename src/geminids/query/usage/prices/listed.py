"""Prices of models out of the library genai-prices. Loading it takes 0.2 s, so this is done once and kept.

Nothing of the library's arithmetic is repeated here: rates are found by letting it price small requests. What
would not come out exact is left without a price:

- a model whose price changes at a size of input that is not in `BANDS`;
- a price that depends on the time of day (DeepSeek's), on the days on which it does;
- a price for each request besides its tokens (Perplexity's);
- an entry that has no price for input or output: the list does not tell whether it is free or not known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from geminids.core.model_names import AT_AMAZON, AT_GOOGLE
from geminids.core.price_bands import BANDS, band
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.prices.cache import Listed, Period, PriceList, Rates, Tier

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice

_MILLION = 1_000_000
_GIVEN_BACK = ("output", "thoughts")
"""The kinds of tokens that are no input."""

# Agents mark the longer context: `sonnet-4-5[1m]`. The list goes by the size of each request.
_CONTEXT = re.compile(r"\[\w+\]$")
_MILLIONS = re.compile(r"\[(\d+)m\]$", re.IGNORECASE)
# Google's and Amazon's long names: `models/…`, `arn:aws:bedrock:…/us.anthropic.…`.
_RESOURCE = re.compile(r"^(?:(?:(?:projects|publishers)/.*/)?models/|arn:aws[\w-]*:bedrock:[^/]*/)")


def look_up(wanted: Collection[tuple[str | None, str]], footprint: str) -> PriceList | None:
    """What the library has of some models; None if it cannot be loaded."""
    try:
        from genai_prices import __version__
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    snapshot = get_snapshot()
    in_order = sorted(wanted, key=lambda pair: (pair[0] or "", pair[1]))
    models = {(provider, model): _listed(snapshot, provider, model) for provider, model in in_order}
    return PriceList(f"genai-prices {__version__}", footprint, models)


def _listed(snapshot: DataSnapshot, provider: str | None, model: str) -> Listed:
    for asked_provider, name in _spellings(snapshot, provider, model):
        try:
            found_provider, found = snapshot.find_provider_model(name, None, asked_provider, None)
        except LookupError:
            # The list does not know this spelling; a model that it knows by none is told as such below.
            continue
        if not _is_another_version(found.id, name):
            window = _context_window(model, found)
            return Listed(f"{found_provider.id}/{found.id}", tuple(_periods(found)), context_window=window)
    return Listed("", (), "not in the price list of genai-prices")


def _context_window(model: str, found: ModelInfo) -> int | None:
    """As the agent says that it asked for, or as the list has it."""
    if millions := _MILLIONS.search(model.strip()):
        return int(millions[1]) * _MILLION
    return found.context_window


def _spellings(snapshot: DataSnapshot, provider: str | None, model: str) -> Iterator[tuple[str | None, str]]:
    """How the library may know it, best first. What agents write, it knows only in part."""
    name = _RESOURCE.sub("", _CONTEXT.sub("", model.strip()))
    if provider in {None, "anthropic"} and AT_AMAZON.match(name):
        # Anthropic has no such names: the platform that has them charges by its own list.
        yield "aws", name
    elif provider in {None, "anthropic"} and AT_GOOGLE.match(name):
        yield "google", name
    else:
        yield provider, name
    maker, slash, rest = name.partition("/")
    if slash and provider in {None, maker} and any(known.id == maker for known in snapshot.providers):
        yield maker, rest


def _is_another_version(found: str, name: str) -> bool:
    """The library often goes by how a name begins; `opus-4-12` is no `opus-4-1`."""
    return re.match(re.escape(found) + r"\d", name, re.IGNORECASE) is not None


def _periods(model: ModelInfo) -> Iterator[Period]:
    times = _times_of_change(model)
    last: Period | None = None
    for since, day in _first_days(model):
        period = _period(since, [model.get_prices(datetime.combine(day, at, UTC)) for at in times])
        # What changed may be no price of tokens.
        if last is None or period._replace(since=last.since) != last:
            yield (last := period)


def _first_days(model: ModelInfo) -> list[tuple[str, date]]:
    """The days on which a price begins, as they are kept, and for the first price some day before."""
    from genai_prices.types import StartDateConstraint

    rules = [price.constraint for price in model.prices] if isinstance(model.prices, list) else []
    starts = sorted({rule.start_date for rule in rules if isinstance(rule, StartDateConstraint)})
    before = starts[0] - timedelta(days=1) if starts else date(2026, 1, 1)
    return [("", before), *((start.isoformat(), start) for start in starts)]


def _times_of_change(model: ModelInfo) -> list[time]:
    """Moments of a day, in UTC, that see all prices of the day."""
    from genai_prices.types import TimeOfDateConstraint

    times = {time()}
    for price in model.prices if isinstance(model.prices, list) else ():
        if isinstance(price.constraint, TimeOfDateConstraint):
            times |= {_in_utc(price.constraint.start_time), _in_utc(price.constraint.end_time)}
    return sorted(times)


def _in_utc(at: time) -> time:
    moment = datetime.combine(date(2026, 1, 1), at, at.tzinfo or UTC)
    return moment.astimezone(UTC).time()


def _period(since: str, prices: list[ModelPrice]) -> Period:
    price = prices[0]
    if any(other != price for other in prices):
        return Period(since, (), "its price depends on the time of day, and only days are counted")
    starts = _starts_of_tiers(price)
    elsewhere = starts - set(BANDS)
    if elsewhere:
        limit = f"{min(elsewhere):,} tokens of input"
        return Period(since, (), f"its price changes at {limit}, and requests are not counted by that limit")
    if price.input_mtok is None or price.output_mtok is None:
        return Period(since, (), "the price list of genai-prices has no price for its tokens")
    try:
        if _dollars(price, Amounts()):
            return Period(since, (), "each of its requests has a price besides that of its tokens")
        return Period(since, tuple(_tier(price, start) for start in (0, *sorted(starts))))
    except ValueError as error:
        return Period(since, (), f"genai-prices cannot use its own price for it ({error})")


def _starts_of_tiers(price: ModelPrice) -> set[int]:
    from genai_prices.types import TieredPrices

    tiered = (value for value in vars(price).values() if isinstance(value, TieredPrices))
    return {tier.start for value in tiered for tier in value.tiers}


def _tier(price: ModelPrice, start: int) -> Tier:
    """The rates of requests with an input above some size, from the smallest of them."""
    size = start + 1
    paid = _dollars(price, Amounts(fresh=size))

    def rate(kind: str) -> Decimal:
        if kind in _GIVEN_BACK:
            dollars = _dollars(price, Amounts(fresh=size)._replace(**{kind: size})) - paid
        else:
            dollars = _dollars(price, Amounts()._replace(**{kind: size}))
        # As it stands in the list: 10, not 10.000000 or 1E+1.
        return Decimal(format((dollars * _MILLION / size).normalize(), "f"))

    return Tier(band(size), Rates(*map(rate, Amounts._fields)))


def _dollars(price: ModelPrice, amounts: Amounts) -> Decimal:
    """What one request costs, as the library says."""
    from genai_prices import Usage

    usage = Usage(
        input_tokens=amounts.input,
        cache_read_tokens=amounts.cached,
        cache_write_tokens=amounts.cache_write + amounts.cache_write_hour,
        cache_write_5m_tokens=amounts.cache_write,
        cache_write_1h_tokens=amounts.cache_write_hour,
        input_tool_tokens=amounts.tool,
        output_tokens=amounts.output + amounts.thoughts,
        output_reasoning_tokens=amounts.thoughts,
    )
    return price.calc_price(usage)["total_price"]
