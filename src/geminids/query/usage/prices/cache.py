"""List prices as they are kept between runs, and whether they still are those of the library.

The text is JSON. It names the files of the library it was made from with their sizes and times: to look at
these takes a tenth of a millisecond, to ask for the installed version takes forty. A text that is damaged, of
another shape or of other files is as good as none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from operator import mul

from geminids.core.price_bands import BANDS
from geminids.core.values import NamedTuple, Value
from geminids.storage.small_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from typing import Any

    from geminids.query.usage.amounts import Amounts

LIBRARY = "genai_prices"
_SHAPE = 2
"""Raised when the text is written, or prices are found, in another way."""


class Rates(NamedTuple):
    """Dollars for a million tokens of each kind, by the names of `Amounts`."""

    fresh: Decimal
    cached: Decimal
    cache_write: Decimal
    cache_write_hour: Decimal
    output: Decimal
    thoughts: Decimal
    tool: Decimal


def counting(rates: Rates) -> Callable[[Amounts], Decimal]:
    """What answers how many dollars some tokens cost, at these rates."""
    # In whole numbers and a power of ten: nearly all that a cost takes is then done by the processor itself.
    exponent = min(int(rate.as_tuple().exponent) for rate in rates)
    whole = [int(rate.scaleb(-exponent)) for rate in rates]
    of_one_token = exponent - 6
    return lambda amounts: Decimal(sum(map(mul, whole, amounts))).scaleb(of_one_token)


class Tier(NamedTuple):
    """Rates from a band on."""

    band: int
    rates: Rates


def rates_of_band(tiers: Sequence[Tier], band: int) -> Rates:
    """The rates of the highest tier that begins at this band or below; the first begins at 0."""
    return next(tier.rates for tier in reversed(tiers) if tier.band <= band)


class Period(Value):
    """A time in which a price held."""

    since: str
    """Its first day, as 2026-05-01; empty for the first period."""
    tiers: tuple[Tier, ...]
    why_not: str | None = None
    """Why there is no price in that time; then there are no tiers."""

    def rates(self, band: int) -> Rates:
        """What holds for requests of a band."""
        return rates_of_band(self.tiers, band)


class Listed(Value):
    """What the price list has of a model."""

    priced_as: str
    """Provider and model, as the list names them."""
    periods: tuple[Period, ...]
    why_not: str | None = None
    """Why it has nothing of it; then there are no periods."""
    context_window: int | None = None
    """Tokens that a prompt may have at most."""

    def period(self, day: date | None) -> Period | None:
        """The one a day is in. Without a day there is an answer only if the price never changed."""
        if len(self.periods) == 1 and not self.periods[0].since:
            return self.periods[0]
        if day is None:
            return self.periods[0] if len(self.periods) == 1 else None
        written = day.isoformat()
        return next((period for period in reversed(self.periods) if period.since <= written), None)


class PriceList(Value):
    """Some models of one release of the library."""

    library: str
    """Its name and version, for people."""
    footprint: str
    models: Mapping[tuple[str | None, str], Listed]


def library_footprint() -> str | None:
    """The library's files with their sizes and times; empty if nothing tells them, None without a library."""
    # As an import would look for it, but nothing is run, and importlib.util need not be loaded.
    for finder in sys.meta_path:
        spec = finder.find_spec(LIBRARY, None)
        if spec is not None:
            return "\n".join(map(_footprint, spec.submodule_search_locations or ()))
    return None


def _footprint(folder: str) -> str:
    try:
        with os.scandir(folder) as entries:
            python = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py")]
    except OSError:
        # It lies in an archive, or elsewhere that is no folder.
        return ""
    return " ".join([folder, *(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in sorted(python))])


def keepable_text(prices: PriceList) -> str:
    """The text that `read_kept` reads."""
    models = [
        [
            provider,
            model,
            listed.priced_as,
            listed.why_not,
            listed.context_window,
            list(map(_written_period, listed.periods)),
        ]
        for (provider, model), listed in prices.models.items()
    ]
    document = {
        "shape": _SHAPE,
        "bands": BANDS,
        "library": prices.library,
        "footprint": prices.footprint,
        "models": models,
    }
    import json

    return json.dumps(document, separators=(",", ":"))


def _written_period(period: Period) -> list[object]:
    tiers = [[tier.band, *(format(rate, "f") for rate in tier.rates)] for tier in period.tiers]
    return [period.since, period.why_not, tiers]


def read_kept(text: str) -> PriceList | None:
    """What was kept; None if it cannot be used."""
    try:
        match read_json(text):
            case {
                "shape": int(shape),
                "bands": list(bands),
                "library": str(library),
                "footprint": str(footprint),
                "models": list(models),
            } if shape == _SHAPE and tuple(bands) == BANDS:
                return PriceList(library, footprint, dict(map(_read_model, models)))
            case _:
                return None
    except (ValueError, TypeError, InvalidOperation, RecursionError):
        return None


def _read_model(written: Any) -> tuple[tuple[str | None, str], Listed]:
    match written:
        case [
            str() | None as provider,
            str(model),
            str(priced_as),
            str() | None as why_not,
            int() | None as context_window,
            list(periods),
        ]:
            listed = Listed(priced_as, tuple(map(_read_period, periods)), why_not, context_window)
            return (provider, model), listed
        case _:
            raise ValueError("no model")


def _read_period(written: Any) -> Period:
    match written:
        case [str(since), str(why_not), []]:
            return Period(since, (), why_not)
        case [str(since), None, [[0, *_], *_] as tiers]:
            return Period(since, tuple(map(_read_tier, tiers)))
        case _:
            raise ValueError("no period")


def _read_tier(written: Any) -> Tier:
    match written:
        case [int(band), *rates] if len(rates) == len(Rates._fields):
            return Tier(band, Rates(*map(_read_rate, rates)))
        case _:
            raise ValueError("no tier")


def _read_rate(written: Any) -> Decimal:
    match written:
        case str() if (rate := Decimal(written)).is_finite() and rate >= 0:
            return rate
        case _:
            raise ValueError("no rate")
