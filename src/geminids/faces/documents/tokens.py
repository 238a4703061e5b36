"""Tokens and what they cost: the one shape of them in all documents."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from geminids.faces.documents.base import Document, filled

if TYPE_CHECKING:
    from geminids.core.model import Usage
    from geminids.query.usage.figures import Tokens
    from geminids.query.usage.row_prices import Unpriced

PLACES = 6


class UsedTokens(Document, frozen=True, kw_only=True):
    """Requests and what they used. `input` is the whole prompt: its parts are the three that follow."""

    requests: int
    """Those of which the agent recorded tokens."""
    unmeasured: int
    """Replies of which it recorded none: they are in no other number here."""
    input: int | None
    fresh: int | None
    cached: int | None
    cache_write: int | None
    cache_write_hour: int | None
    """The part of `cache_write` that the cache holds for an hour."""
    output: int | None
    thoughts: int | None
    tool: int | None
    total: int | None
    cost: float | None
    """Dollars at list price of those requests that have a price."""
    unpriced: int
    """Requests that have none."""


class UnpricedModel(Document, frozen=True, kw_only=True):
    """A model without a price, and why."""

    model: str
    reason: str
    requests: int


def used_tokens(used: Tokens) -> UsedTokens:
    """Tokens as they stand in documents."""
    return filled(UsedTokens, used, cost=dollars(used.cost))


def used_by_request(usage: Usage, cost: Decimal | None) -> UsedTokens:
    """The same of what one message used; no cost means that it has no price."""
    unpriced = usage.requests if cost is None else 0
    return filled(UsedTokens, usage, unmeasured=0, cost=dollars(cost), unpriced=unpriced)


def unpriced_models(found: Iterable[Unpriced]) -> list[UnpricedModel]:
    """Models without a price as they stand in documents."""
    return [filled(UnpricedModel, one) for one in found]


def dollars(cost: Decimal | None) -> float | None:
    """A cost as a number."""
    return None if cost is None else float(round(cost, PLACES))
