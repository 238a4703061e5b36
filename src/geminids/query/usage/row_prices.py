"""What summed rows of usage cost, whatever they are grouped by."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import date, timedelta
from functools import cache

from geminids.core.values import NamedTuple
from geminids.query.usage.figures import amounts_of
from geminids.query.usage.prices import Prices
from geminids.storage.index import totals
from geminids.storage.index.totals import Spent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from geminids.query.usage.amounts import Amounts
    from geminids.query.usage.prices import Basis
    from geminids.storage.index.database import Index

Pricing = Callable[[Collection[tuple[str | None, str]]], Prices]
"""Gives the prices of some models, each with who answers for it if that is known."""
_EPOCH = date(1970, 1, 1)


class Unpriced(NamedTuple):
    """A model without a price, and why."""

    model: str
    reason: str
    requests: int


class RowPrices:
    """Prices for some rows; models without a price are noted."""

    def __init__(self, index: Index, rows: Iterable[Spent], pricing: Pricing) -> None:
        self.models = totals.names(index, sorted({row.model for row in rows} - {0}))
        """The names of the models in them, by their numbers."""
        self._prices = pricing({(None, name) for name in self.models.values()})
        self._unpriced: dict[str, int] = {}
        self._counting = cache(self._uncached)

    @property
    def basis(self) -> Basis:
        """Where the prices are from."""
        return self._prices.basis

    def cost(self, row: Spent) -> Decimal | None:
        """What was paid for; models without a price are noted."""
        cost = self.price(row)
        if cost is None and row.total is not None and (name := self.models.get(row.model)) is not None:
            self._unpriced[name] = self._unpriced.get(name, 0) + row.requests
        return cost

    def price(self, row: Spent) -> Decimal | None:
        """What it would cost."""
        if row.total is None:
            return None
        # Most prices never changed: then no day is needed, and one answer holds for all of them.
        counting = self._counting(row.model, None, row.band) or self._counting(row.model, row.day, row.band)
        return counting(amounts_of(row)) if counting else None

    def _uncached(self, model: int, day: int | None, band: int) -> Callable[[Amounts], Decimal] | None:
        name = self.models.get(model)
        if name is None:
            return None
        return self._prices.counting(None, name, None if day is None else date_of(day), band)

    def unpriced(self) -> list[Unpriced]:
        """The models without a price so far, the most used first."""
        return [
            Unpriced(name, self._prices.why_not(None, name) or "", requests)
            for name, requests in sorted(self._unpriced.items(), key=lambda item: -item[1])
        ]


def date_of(day: int) -> date:
    """The date of a day since 1970."""
    return _EPOCH + timedelta(days=day)
