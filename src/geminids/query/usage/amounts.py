"""Tokens by what they cost: the amounts that a price is multiplied with."""

from __future__ import annotations

from geminids.core.values import NamedTuple


class Amounts(NamedTuple):
    """The tokens of a request, or of many requests of one band; none of them is counted twice."""

    fresh: int = 0
    """The prompt without what was read from a cache or written to one."""
    cached: int = 0
    cache_write: int = 0
    """Written to a cache for a few minutes."""
    cache_write_hour: int = 0
    """Written to a cache for an hour."""
    output: int = 0
    """The answer without thoughts."""
    thoughts: int = 0
    tool: int = 0
    """What tools of the provider added to the prompt."""

    @property
    def input(self) -> int:
        """All that the model was given; by this, for one request, its band goes."""
        return self.fresh + self.cached + self.cache_write + self.cache_write_hour + self.tool

    def plus(self, other: Amounts) -> Amounts:
        """Both together."""
        return Amounts(*map(int.__add__, self, other))
