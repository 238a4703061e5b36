"""Tokens as Claude Code records them: per request, and its own totals for a session.

`input_tokens` leaves out what was read from the cache and what was written to it; ours is the whole prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geminids.agents.claude.read.content import object_or_empty
from geminids.core.model import Usage
from geminids.reading.counts import LARGEST_COUNT, count_or_none

_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_ONLY_INTEGERS = {int}


def usage_of_request(tokens: object) -> tuple[Usage | None, str | None]:
    """What a request used, and what is wrong with what was written of it."""
    if tokens is None:
        return None, None
    if type(tokens) is not dict:
        return None, f"usage is a {type(tokens).__name__}"
    written: list[Any] = list(map(tokens.get, _TOKENS))
    wrong = None
    if set(map(type, written)) != _ONLY_INTEGERS or min(written) < 0 or max(written) > LARGEST_COUNT:
        counts = list(map(count_or_none, written))
        named = zip(_TOKENS, counts, written, strict=True)
        wrong = next((name for name, count, counted in named if count is None and counted is not None), None)
        written = counts
    thinking = object_or_empty(tokens.get("output_tokens_details")).get("thinking_tokens")
    hour = object_or_empty(tokens.get("cache_creation")).get("ephemeral_1h_input_tokens")
    usage = _usage(written, count_or_none(thinking), count_or_none(hour))
    return usage, f"usage.{wrong} is no count" if wrong else None


def _usage(written: Sequence[int | None], thinking: int | None, hour: int | None) -> Usage | None:
    """A usage of four counts in the order of `_TOKENS`."""
    fresh, cached, cache_write, output = written
    if fresh is cached is cache_write is output is None:
        return None
    is_known = not (fresh is cached is cache_write is None)
    sent = (fresh or 0) + (cached or 0) + (cache_write or 0)
    thoughts = min(thinking, output) if thinking and output else None
    return Usage(
        1,
        input=sent if is_known else None,
        cached=cached,
        cache_write=cache_write,
        output=output - thoughts if output is not None and thoughts else output,
        thoughts=thoughts,
        total=sent + (output or 0),
        # Where a count was set to nothing, its parts may have been forgotten.
        cache_write_hour=None if hour is None else min(hour, cache_write or 0),
    )


def larger(one: Usage | None, other: Usage | None) -> Usage | None:
    """The fuller of two notes about one request: output grows as it comes in, and copies may hold zeros."""
    if one is None or other is None:
        return one or other
    return one if (one.total or 0) > (other.total or 0) else other


def reported_total(cost_state: dict[str, Any]) -> Usage | None:
    """The CLI's own total for a session: all models together, and how often is not told."""
    models = object_or_empty(cost_state.get("modelUsage")).values()
    counted = [usage for model in models if (usage := _of_model(object_or_empty(model)))]
    return Usage.sum(counted) if counted else None


def _of_model(model: dict[str, Any]) -> Usage | None:
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    written = [count_or_none(model.get(name)) for name in names]
    thinking = count_or_none(model.get("thinkingTokens"))
    hour = count_or_none(model.get("cacheCreationEphemeral1hInputTokens"))
    usage = _usage(written, thinking, hour)
    return Usage(0, *_without_requests(usage)) if usage else None


def _without_requests(usage: Usage) -> list[Any]:
    return [getattr(usage, name) for name in Usage.__struct_fields__[1:]]


def difference(whole: Usage, part: Usage) -> Usage | None:
    """What one sum holds beyond another; None if it does not hold more."""
    names = ("input", "cached", "cache_write", "output", "thoughts", "total", "cache_write_hour")
    more = {name: (getattr(whole, name) or 0) - (getattr(part, name) or 0) for name in names}
    if more["total"] <= 0 or min(more.values()) < 0:
        return None
    return Usage(0, **{name: number for name, number in more.items() if number or name == "total"})
