"""What summed rows of usage cost, whatever they are grouped by."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Callable, Collection, Iterable
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from geminids.query.usage.figures import amounts_of
from geminids.query.usage.prices import Prices
from geminids.storage.index import totals
from geminids.storage.index.totals import Spent

if TYPE_CHECKING:
    from decimal import Decimal

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

    def __init__(self, index: "Index", rows: Iterable[Spent], pricing: Pricing) -> None:
        self.models = totals.names(index, sorted({row.model for row in rows} - {0}))
        """The names of the models in them, by their numbers."""
        self._prices = pricing({(None, name) for name in self.models.values()})
        self._unpriced: dict[str, int] = {}

    @property
    def basis(self) -> "Basis":
        """Where the prices are from."""
        return self._prices.basis

    def cost(self, row: Spent) -> "Decimal | None":
        """What was paid for; models without a price are noted."""
        cost = self.price(row)
        name = self.models.get(row.model)
        if cost is None and name is not None and row.total is not None:
            self._unpriced[name] = self._unpriced.get(name, 0) + row.requests
        return cost

    def price(self, row: Spent) -> "Decimal | None":
        """What it would cost."""
        name = self.models.get(row.model)
        if row.total is None or name is None:
            return None
        amounts = amounts_of(row)
        # Most prices never changed: then no day is needed, and one answer holds for all of them.
        cost = self._prices.cost(None, name, None, row.band, amounts)
        cost = cost or self._prices.cost(None, name, date_of(row.day), row.band, amounts)
        return cost.amount if cost else None

    def unpriced(self) -> list[Unpriced]:
        """The models without a price so far, the most used first."""
        return [
            Unpriced(name, self._prices.why_not(None, name) or "", requests)
            for name, requests in sorted(self._unpriced.items(), key=lambda item: -item[1])
        ]


def date_of(day: int) -> date:
    """The date of a day since 1970."""
    return _EPOCH + timedelta(days=day)
