"""Prices that the user settled, in `settings.toml`. They go before the price list.

[prices."my-model-*"]          # `*` means anything; a name written out goes before it
input = 1.25                   # dollars for a million tokens
output = 10
cached = 0.125                 # else as input
cache-write = 1.5              # else as input
cache-write-hour = 2           # else as cache-write
provider = "my-proxy"          # only there
above-200k = { input = 2.5 }   # for requests with more input; what it leaves out stays as it was
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from geminids.core.price_bands import BANDS, band
from geminids.core.settings import BadSettingsError
from geminids.query.usage.prices.cache import Rates, Tier, rates_of_band

_NEEDED = ("input", "output")
_RATES = (*_NEEDED, "cached", "cache-write", "cache-write-hour")
_SIZES = {f"above-{size // 1000}k" if size % 1000 == 0 else f"above-{size}": size for size in BANDS}
_MOST = 1_000_000
"""A dollar for each token: more is a slip, and far more could not be counted with."""
_WHAT_TO_WRITE = "dollars for a million tokens, such as 1.25"


class Override(NamedTuple):
    """A price that the user settled."""

    name: str
    """The model's name, in which `*` stands for anything."""
    provider: str | None
    """The only provider it holds for."""
    tiers: tuple[Tier, ...]

    def rates(self, band: int) -> Rates:
        """What holds for requests of a band."""
        return rates_of_band(self.tiers, band)

    def is_for(self, provider: str | None, model: str) -> bool:
        """Whether a model of a provider is meant."""
        return self.provider in {None, (provider or "").lower()} and (
            self.name.lower() == model.lower() or ("*" in self.name and _fits(self.name, model))
        )


class Overrides:
    """All prices that the user settled."""

    def __init__(self, overrides: Iterable[Override]) -> None:
        # The one that says most of a model goes first: without `*`, then by length.
        self._overrides = sorted(overrides, key=lambda one: ("*" in one.name, -len(one.name)))

    def find(self, provider: str | None, model: str) -> Override | None:
        """The one that holds for a model."""
        return next((one for one in self._overrides if one.is_for(provider, model)), None)


def _fits(pattern: str, model: str) -> bool:
    first, *others, last = map(re.escape, pattern.split("*"))
    # The first place of each piece will do, so that none is tried again: names may be long, and stars many.
    expression = "".join([first, *(f"(?>.*?{piece})" for piece in others), ".*", last])
    return re.fullmatch(expression, model, re.IGNORECASE | re.DOTALL) is not None


def read_overrides(file: str, table: Mapping[str, Any]) -> Overrides:
    """What stands below [prices] in the settings."""
    return Overrides(_Entry(file, name, written).override() for name, written in table.items())


class _Entry:
    """One model below [prices], as it was written."""

    def __init__(self, file: str, name: str, written: object) -> None:
        self._file = file
        self._name = name
        self._place = f"[prices.{_quoted(name)}]"
        if not name.strip():
            raise self._error(f"{self._place} names no model; `*` stands for any")
        if not isinstance(written, dict):
            raise self._error(f"{name!r} in [prices] must be a section {self._place} with input and output")
        self._written: dict[str, Any] = written

    def override(self) -> Override:
        known = (*_RATES, "provider", *_SIZES)
        self._check_names(self._written, known, self._place)
        missing = [name for name in _NEEDED if name not in self._written]
        if missing:
            raise self._error(f"{self._place} lacks {missing[0]!r}, in {_WHAT_TO_WRITE}")
        return Override(self._name, self._provider(), tuple(self._tiers()))

    def _provider(self) -> str | None:
        match self._written.get("provider"):
            case None:
                return None
            case str(provider):
                return provider.lower()
            case _:
                raise self._error(f"'provider' in {self._place} must be a name in quotes")

    def _tiers(self) -> Iterable[Tier]:
        settled = self._dollars(self._written, self._place)
        yield Tier(0, _rates(settled))
        for name, size in _SIZES.items():
            match self._written.get(name):
                case None:
                    continue
                case dict(above):
                    place = f"{name!r} in {self._place}"
                    self._check_names(above, _RATES, place)
                    settled = {**settled, **self._dollars(above, place)}
                    yield Tier(band(size + 1), _rates(settled))
                case _:
                    raise self._error(f"{name!r} in {self._place} must be a table such as {{ input = 2.5 }}")

    def _dollars(self, written: Mapping[str, Any], place: str) -> dict[str, Decimal]:
        return {name: self._number(name, written[name], place) for name in _RATES if name in written}

    def _number(self, name: str, written: object, place: str) -> Decimal:
        if isinstance(written, int | Decimal) and not isinstance(written, bool):
            dollars = Decimal(written)
            if dollars.is_finite() and 0 <= dollars <= _MOST:
                return dollars
        raise self._error(f"{name!r} in {place} must be {_WHAT_TO_WRITE}")

    def _check_names(self, written: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
        for name in written:
            if name not in known:
                raise self._error(f"{place} has no setting {name!r}; settings are {', '.join(known)}")

    def _error(self, reason: str) -> BadSettingsError:
        return BadSettingsError(self._file, reason)


def _rates(settled: Mapping[str, Decimal]) -> Rates:
    fresh, output = settled["input"], settled["output"]
    cache_write = settled.get("cache-write", fresh)
    return Rates(
        fresh=fresh,
        cached=settled.get("cached", fresh),
        cache_write=cache_write,
        cache_write_hour=settled.get("cache-write-hour", cache_write),
        output=output,
        thoughts=output,
        tool=fresh,
    )


def _quoted(name: str) -> str:
    return f'"{name}"'
