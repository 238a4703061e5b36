"""Tokens: the numbers an agent recorded, in one meaning for all agents."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

import msgspec


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What one request, or a sum of requests, used. What was not recorded is None, never 0.

    `input` is the whole prompt; `cached` and `cache_write` are parts of it. `output` is what
    was answered without `thoughts`, where the agent tells them apart. `total` is input + output +
    thoughts + tool.
    """

    requests: int
    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    thoughts: int | None = None
    tool: int | None = None
    total: int | None = None
    reported_total: int | None = None
    """The agent's own total, kept where it differs from the sum of the parts."""
    cache_write_hour: int | None = None
    """The part of `cache_write` that the cache keeps for an hour and not for minutes: it costs more."""

    @property
    def fresh(self) -> int | None:
        """The part of the prompt that came from no cache."""
        if self.input is None:
            return None
        return self.input - (self.cached or 0) - (self.cache_write or 0)

    @classmethod
    def sum(cls, usages: Iterable[Usage]) -> Usage:
        """All of them together; a kind of token nobody recorded stays unknown."""
        counted = list(usages)
        sums = {name: _sum(map(attrgetter(name), counted)) for name in _TOKENS}
        return cls(sum(usage.requests for usage in counted), **sums)


_TOKENS = ("input", "cached", "cache_write", "output", "thoughts", "tool", "total", "cache_write_hour")


class Unrecorded(msgspec.Struct, frozen=True):
    """Requests that an agent made for a session and did not write down as such."""

    what: str
    """What they were for, in a few words: a summary for a compaction, a title, turns of tools only."""
    reason: str
    """How we know, or why the files cannot say."""
    requests: int | None = None
    """How many; None where that cannot be told."""
    usage: Usage | None = None
    """What they used, where the agent's own totals tell."""


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
