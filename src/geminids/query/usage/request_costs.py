"""What single requests cost, in any process: prices of models are looked up as they occur."""

from __future__ import annotations

from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING

from geminids.core.model import Message
from geminids.core.price_bands import band
from geminids.query.usage.figures import amounts_of
from geminids.query.usage.prices import Prices

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.query.usage.prices.overrides import Overrides

PLACES = 6
"""Digits of a dollar behind the point."""
OF_SETTINGS = "settings.toml"
"""What prices are from that the user set."""


class RequestCosts:
    """Prices requests as `stats` does, in several threads; can be handed to other processes."""

    def __init__(
        self, overrides: Overrides | None = None, stored: str | None = None, fingerprint: str = ""
    ) -> None:
        """Take the prices of the user and the stored ones; without any, those of the price list."""
        self._overrides = overrides
        self._stored = stored
        self.fingerprint = fingerprint
        """A text that differs if costs may."""
        self._looking_up = Lock()
        self._models: frozenset[str] = frozenset()
        self._prices = Prices(None, None)

    def __reduce__(self) -> tuple[type[RequestCosts], tuple[Overrides | None, str | None, str]]:
        return RequestCosts, (self._overrides, self._stored, self.fingerprint)

    def of(self, message: Message, ended_at: datetime | None = None) -> tuple[Decimal | None, str | None]:
        """Return what the request of a message cost in dollars, and by which price list; else None for both.

        `ended_at` is when its session ended: the time of a message that has none.
        """
        usage, model, at = message.usage, message.model, message.at or ended_at
        if usage is None or usage.total is None or not model:
            return None, None
        if model not in self._models:
            self._look_up(model)
        amounts = amounts_of(usage)
        day = at.astimezone().date() if at else None
        cost = self._prices.cost(None, model, day, band(amounts.input), amounts)
        if cost is None:
            return None, None
        return round(cost.amount, PLACES), OF_SETTINGS if cost.overridden else self._prices.basis.library

    def _look_up(self, model: str) -> None:
        with self._looking_up:
            if model in self._models:
                return
            models = self._models | {model}
            self._prices = Prices.load(self._stored, self._overrides, {(None, name) for name in models})
            self._stored = self._prices.to_keep or self._stored
            # Last: other threads take the prices as soon as the model is among these.
            self._models = models
