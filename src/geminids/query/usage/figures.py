"""Figures that add up: what some sessions did and used."""

from __future__ import annotations

from geminids.core.values import NamedTuple
from geminids.query.usage.amounts import Amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal
    from typing import Any

    from geminids.core.model import Usage
    from geminids.storage.index.totals import Done, Spent


class Tokens(NamedTuple):
    """Requests and what they used; a kind of token that nobody recorded is None.

    `input` is the whole prompt: `fresh`, `cached` and `cache_write` are its parts.
    """

    requests: int = 0
    """Those of which the agent recorded tokens."""
    unmeasured: int = 0
    """Replies of which it recorded none: they are in no other number here."""
    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    cache_write_hour: int | None = None
    """The part of `cache_write` that is kept for an hour."""
    output: int | None = None
    thoughts: int | None = None
    tool: int | None = None
    total: int | None = None
    cost: Decimal | None = None
    """Dollars at list price, of those requests that have a price."""
    unpriced: int = 0
    """Requests that have none."""

    @property
    def fresh(self) -> int | None:
        """The part of the prompts that came from no cache and went into none."""
        if self.input is None:
            return None
        return self.input - (self.cached or 0) - (self.cache_write or 0)

    @classmethod
    def of(cls, spent: Spent, cost: Decimal | None) -> Tokens:
        """What one group used, and what that cost; None if there is no price."""
        return cls(*used_by(spent, cost))

    @classmethod
    def sum(cls, many: Iterable[tuple[Any, ...]]) -> Tokens:
        """All of them together; a kind of token nobody recorded stays unknown."""
        # By columns, many times faster than one after the other: there are tens of thousands.
        return cls(*map(_sum, zip(*many, strict=True)))


def used_by(spent: Spent, cost: Decimal | None) -> tuple[Any, ...]:
    """The values of `Tokens` of one group: where many are summed up, none of them need be such a value."""
    return (*spent[4:], cost, spent.requests if cost is None else 0)


class Figures(NamedTuple):
    """What was done and used."""

    sessions: int = 0
    """Those that a human led."""
    subagents: int = 0
    prompts: int = 0
    replies: int = 0
    active: int = 0
    """Microseconds in which somebody was at work: longer pauses are left out."""
    calls: int = 0
    errors: int = 0
    cancelled: int = 0
    files: int = 0
    """Different files that were changed."""
    added: int | None = None
    removed: int | None = None
    """Lines."""
    tokens: Tokens = Tokens()
    estimated: Tokens | None = None
    """What requests without recorded tokens may have used; only if it was asked for."""
    incomplete: int = 0
    """Sessions whose files could not be read completely: if there are any, all numbers are lower bounds."""

    def by_name(self, by: str) -> dict[str, Any]:
        """All of them by their names; None for what is not told of such a group."""
        untold = {name for one in by.split(",") for name in _NOT_TOLD.get(one, ())}
        return self._asdict() | dict.fromkeys(untold)


_NOT_TOLD = {
    "model": ("prompts", "replies", "active", "calls", "errors", "cancelled", "files"),
    "tool": ("prompts", "replies", "active", "tokens"),
}
"""Of a model it is not told who asked and called, of a tool neither who asked nor what was used."""


def figures_of(done: Done) -> Figures:
    """What was done, as far as it is counted by day."""
    return Figures(*done[1:9], 0, done.added, done.removed)


def together(many: Sequence[Figures]) -> Figures:
    """What adds up of several groups: a session or a file may be in more than one of them."""
    guesses = [figures.estimated for figures in many if figures.estimated]
    return Figures(
        prompts=sum(figures.prompts for figures in many),
        replies=sum(figures.replies for figures in many),
        active=sum(figures.active for figures in many),
        calls=sum(figures.calls for figures in many),
        errors=sum(figures.errors for figures in many),
        cancelled=sum(figures.cancelled for figures in many),
        added=_sum(figures.added for figures in many),
        removed=_sum(figures.removed for figures in many),
        tokens=Tokens.sum(figures.tokens for figures in many),
        incomplete=sum(figures.incomplete for figures in many),
        estimated=Tokens.sum(guesses) if guesses else None,
    )


def _sum(numbers: Iterable[Any]) -> Any:
    try:
        # Mostly all of them are known. Of none there is nothing to be told.
        return sum(given) if (given := tuple(numbers)) else None
    except TypeError:
        known = [number for number in given if number is not None]
        return sum(known) if known else None


def amounts_of(used: Spent | Usage) -> Amounts:
    """What is paid for, each kind by itself."""
    cached, written = used.cached or 0, used.cache_write or 0
    # Where a failed request used nothing, an agent may still tell what it meant to keep for an hour.
    hour = min(written, used.cache_write_hour or 0)
    fresh = max(0, (used.input or 0) - cached - written)
    # In order, since there are tens of thousands.
    return Amounts(fresh, cached, written - hour, hour, used.output or 0, used.thoughts or 0, used.tool or 0)
