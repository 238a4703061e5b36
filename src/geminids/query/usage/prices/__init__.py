"""What requests cost at list price.

An estimate in dollars, by the library genai-prices (extra `geminids[cost]`) and by what the user settled.
It is no bill: discounts, subscriptions, free tiers, batches, service tiers, web searches and audio are not
in it.

Loading the library takes longer than all of `geminids stats` may. So this differs in two things from a call
for each request:

- Usage comes summed. A price may rise for all tokens of a request if its input is above some size, so
  requests are summed by `band`: between which of these sizes their inputs were. Within a band a price is a
  plain factor.
- Prices are kept between runs in a small text, for the models that were asked for (`cache.py`). The library
  is loaded (`listed.py`) only where a model is new or another release of the library is installed.

A model is priced as the library prices it, or not at all and with a reason.
"""

from __future__ import annotations

from collections.abc import Collection

from geminids.core.values import NamedTuple, Value
from geminids.query.usage.amounts import Amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from decimal import Decimal

    from geminids.core.settings import Settings
    from geminids.query.usage.prices.cache import Listed, PriceList, Rates
    from geminids.query.usage.prices.overrides import Override, Overrides


class Cost(NamedTuple):
    """What some tokens cost, and how that was found."""

    amount: Decimal
    """In dollars."""
    rates: Rates
    """Dollars for a million tokens of each kind."""
    priced_as: str
    """Provider and model in the price list, or the name in the settings."""
    overridden: bool
    """Whether the user settled the price."""


class Basis(Value):
    """Where prices come from."""

    library: str | None
    """The price list that was asked and its release; None if none was needed or there is none."""
    overrides: tuple[str, ...]
    """The names in the settings whose prices took part so far."""


_NOT_LOOKED_UP = "its price was not looked up"
_NO_DAY = "its price has changed, and the day of use is not known"


def overrides_in(settings: Settings) -> Overrides | None:
    """The prices that the user settled; None if there are none."""
    if not settings.prices:
        return None
    from geminids.query.usage.prices.overrides import read_overrides

    return read_overrides(settings.file, settings.prices)


def no_library() -> str:
    """Return why there is no price list, and how to add it."""
    from geminids.core.installation import who_adds

    return (
        f"genai-prices, which has the list prices, cannot be loaded; {who_adds('cost')} adds it. You can "
        "also set a price under [prices] in settings.toml"
    )


class Prices:
    """Answers what tokens cost, for the models that were named when it was loaded."""

    def __init__(
        self,
        price_list: PriceList | None,
        overrides: Overrides | None,
        to_keep: str | None = None,
        unlisted: str = _NOT_LOOKED_UP,
    ) -> None:
        self.to_keep = to_keep
        """The text to keep for the next run; None if the one that was given is still good."""
        self._list = price_list
        self._unlisted = unlisted
        self._overrides = overrides
        self._answers: dict[tuple[str | None, str, date | None, int], tuple[Rates, str, bool] | None] = {}
        self._counting: dict[
            tuple[str | None, str, date | None, int], Callable[[Amounts], Decimal] | None
        ] = {}
        self._used: set[str] = set()

    @classmethod
    def load(
        cls, kept: str | None, overrides: Overrides | None, wanted: Collection[tuple[str | None, str]]
    ) -> Prices:
        """Prices for some models, each with its provider or None if only the model's name is known.

        The kept text is used if it knows them all and the same release of the library is installed.
        """
        from geminids.query.usage.prices.cache import keepable_text, library_footprint, read_kept

        listed = {pair for pair in wanted if overrides is None or overrides.find(*pair) is None}
        if not listed:
            return cls(None, overrides)
        footprint = library_footprint()
        if footprint is None:
            return cls(None, overrides, unlisted=no_library())
        known = read_kept(kept) if kept else None
        # An empty footprint tells nothing of the release.
        if known and footprint and known.footprint == footprint and listed <= known.models.keys():
            return cls(known, overrides)
        from geminids.query.usage.prices.listed import look_up

        # What was asked for earlier will be asked for again.
        made = look_up(listed | (known.models.keys() if known else set()), footprint)
        if made is None:
            return cls(None, overrides, unlisted=no_library())
        return cls(made, overrides, keepable_text(made))

    def cost(
        self, provider: str | None, model: str, day: date | None, band: int, amounts: Amounts
    ) -> Cost | None:
        """What these tokens cost on a day of UTC; None if that is not known, and `why_not` says why."""
        counting = self.counting(provider, model, day, band)
        answer = self._answers[provider, model, day, band]
        return Cost(counting(amounts), *answer) if counting and answer else None

    def counting(
        self, provider: str | None, model: str, day: date | None, band: int
    ) -> Callable[[Amounts], Decimal] | None:
        """What answers how many dollars tokens of a band cost on a day; None if that is not known."""
        from geminids.query.usage.prices.cache import counting

        asked = provider, model, day, band
        if asked not in self._counting:
            answer = self._answers[asked] = self._answer(*asked)
            self._counting[asked] = counting(answer[0]) if answer else None
        return self._counting[asked]

    def why_not(self, provider: str | None, model: str) -> str | None:
        """The reason if `cost` knew no price, on some day at least."""
        if self._override(provider, model):
            return None
        listed = self._listed(provider, model)
        if listed is None:
            return self._unlisted
        reasons = [listed.why_not, *(period.why_not for period in listed.periods)]
        if len(listed.periods) > 1:
            reasons.append(_NO_DAY)
        return next(filter(None, reasons), None)

    def context_window(self, provider: str | None, model: str) -> int | None:
        """How many tokens a prompt of it may have; None if the list does not tell."""
        listed = self._listed(provider, model)
        return listed.context_window if listed else None

    @property
    def basis(self) -> Basis:
        """Where these prices come from."""
        return Basis(self._list.library if self._list else None, tuple(sorted(self._used)))

    def _listed(self, provider: str | None, model: str) -> Listed | None:
        return self._list.models.get((provider, model)) if self._list else None

    def _answer(
        self, provider: str | None, model: str, day: date | None, band: int
    ) -> tuple[Rates, str, bool] | None:
        """All of a cost but the amount."""
        override = self._override(provider, model)
        if override:
            self._used.add(override.name)
            return override.rates(band), override.name, True
        listed = self._listed(provider, model)
        period = listed.period(day) if listed else None
        if listed is None or period is None or period.why_not:
            return None
        return period.rates(band), listed.priced_as, False

    def _override(self, provider: str | None, model: str) -> Override | None:
        return self._overrides.find(provider, model) if self._overrides else None
