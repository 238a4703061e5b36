"""What the requests of one session cost at list price: each by itself, and all that count together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from geminids.core.model import Message
from geminids.core.price_bands import band
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.figures import amounts_of
from geminids.query.usage.prices import Prices


class Alike(NamedTuple):
    """What requests have in common that one price is for."""

    model: str | None
    day: date | None
    band: int


Sums = Mapping[Alike, tuple[Amounts, int]]
"""Tokens and requests."""


class TotalCost(NamedTuple):
    """What requests cost together."""

    amount: Decimal | None
    """In dollars, of those that have a price; None if none has."""
    unpriced: int
    """Requests that have none."""


class Costing:
    """Answers what messages cost, of the models that the prices were loaded for."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices

    def of(self, message: Message) -> Decimal | None:
        """What a request cost in dollars; None if its tokens or its price are not known."""
        usage = message.usage
        if usage is None or usage.total is None or message.model is None:
            return None
        amounts = amounts_of(usage)
        cost = self._prices.cost(None, message.model, _day(message), band(amounts.input), amounts)
        return cost.amount if cost else None

    @staticmethod
    def sums(messages: Iterable[Message]) -> Sums:
        """What messages used, by what one price is for; those that were taken over from others count there.

        Going through 50,000 takes a while, and is worth doing once.
        """
        sums: dict[Alike, tuple[Amounts, int]] = {}
        for message in messages:
            if message.usage is None or message.usage.total is None or message.imported:
                continue
            amounts = amounts_of(message.usage)
            alike = Alike(message.model, _day(message), band(amounts.input))
            so_far, requests = sums.get(alike, (Amounts(), 0))
            sums[alike] = so_far.plus(amounts), requests + message.usage.requests
        return sums

    def total(self, sums: Sums) -> TotalCost:
        """What they cost together."""
        costs = [(self._sum(alike, amounts), requests) for alike, (amounts, requests) in sums.items()]
        priced = [cost for cost, _ in costs if cost is not None]
        return TotalCost(
            sum(priced, Decimal(0)) if priced else None,
            sum(requests for cost, requests in costs if cost is None),
        )

    def _sum(self, alike: Alike, amounts: Amounts) -> Decimal | None:
        if alike.model is None:
            return None
        cost = self._prices.cost(None, alike.model, alike.day, alike.band, amounts)
        return cost.amount if cost else None


def _day(message: Message) -> date | None:
    return message.at.astimezone().date() if message.at else None
