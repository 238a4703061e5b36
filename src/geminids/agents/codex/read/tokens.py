"""Tokens once: what each request used, from counts that repeat, begin anew and are carried over.

    token_usage_record    since 2026: the usage of one request, with the id of its response
    token_count           the sum of all requests so far; the same sum is written again and again

Where a record tells of a request, the sums that follow only repeat it. For the rest, what a sum has grown
by is what a request used. A sum may begin anew (early releases did at each resume, and all do when the
context overflows), and in a fork it goes on from that of the parent.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from geminids.core.model import Usage
from geminids.reading.counts import LARGEST_COUNT, count_or_none

_FIELDS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
_WRITTEN = "cache_write_input_tokens"
_ONLY_INTEGERS = {int}


class Sum(NamedTuple):
    """Tokens as Codex counts them: the input with what was cached, the output with the reasoning."""

    input: int
    cached: int
    written: int | None
    output: int
    reasoning: int
    total: int

    def __bool__(self) -> bool:
        """Whether anything was used; a total alone is an estimate of the context, not a usage."""
        return bool(self.input or self.output)

    def plus(self, other: Sum) -> Sum:
        """Both together."""
        written = (
            None if self.written is None is other.written else (self.written or 0) + (other.written or 0)
        )
        return Sum(
            self.input + other.input,
            self.cached + other.cached,
            written,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.total + other.total,
        )

    def minus(self, other: Sum) -> Sum:
        """What is left; nothing becomes less than nothing."""
        written = None if self.written is None else max(0, self.written - (other.written or 0))
        return Sum(
            max(0, self.input - other.input),
            max(0, self.cached - other.cached),
            written,
            max(0, self.output - other.output),
            max(0, self.reasoning - other.reasoning),
            max(0, self.total - other.total),
        )

    def is_less(self, other: Sum) -> bool:
        """Whether something in it is less, so that it cannot have grown from the other."""
        return self.input < other.input or self.output < other.output or self.cached < other.cached

    def usage(self, requests: int = 1) -> Usage:
        """The same in the words of the model."""
        # A reasoning that is more than the output it is a part of is somebody's mistake.
        reasoning = min(self.reasoning, self.output)
        total = self.input + self.output
        return Usage(
            requests,
            self.input,
            min(self.cached, self.input),
            self.written,
            self.output - reasoning,
            reasoning,
            None,
            total,
            None if self.total in (total, 0) else self.total,
        )


NOTHING = Sum(0, 0, None, 0, 0, 0)


def read_sum(written: object) -> Sum | None:
    """Tokens as they are written; None if they are no counts."""
    if type(written) is not dict:
        return None
    numbers: list[Any] = list(map(written.get, _FIELDS))
    into_cache = count_or_none(written.get(_WRITTEN))
    if set(map(type, numbers)) != _ONLY_INTEGERS or min(numbers) < 0 or max(numbers) > LARGEST_COUNT:
        # Nearly always all of them are there; else some may still be counts.
        counts = list(map(count_or_none, numbers))
        if counts[0] is None and counts[2] is None:
            return None
        numbers = [count or 0 for count in counts]
    sent, cached, output, reasoning, total = numbers
    return Sum(sent, cached, into_cache, output, reasoning, total)


class TokenCounter:
    """Follows the counts of one thread, through the files that its history lies in."""

    def __init__(self) -> None:
        self.reported: Sum | None = None
        """What the agent's own sums have grown by in this session."""
        self._last: Sum | None = None
        """The last sum of a count."""
        self._last_recorded: Sum | None = None
        """The last sum of a record: it may have begun later, and holds what counts leave out."""
        self._recorded = NOTHING
        """What records told of since the last count."""
        self._responses: set[str] = set()
        self._names: Counter[str] = Counter()
        self._was_reverted = False

    def revert(self) -> None:
        """The next sums go on from earlier ones."""
        self._last, self._last_recorded, self._recorded = None, None, NOTHING
        self._was_reverted = True

    def record(self, payload: dict[str, Any], *, is_own: bool) -> Sum | None:
        """What one request used, by its own record; None if that is a copy, or nothing."""
        used = read_sum(payload.get("usage"))
        response = payload.get("response_id")
        if used is None or not used:
            return None
        if isinstance(response, str) and response:
            if response in self._responses:
                return None
            self._responses.add(response)
        self._recorded = self._recorded.plus(used)
        total, before = read_sum(payload.get("thread_token_usage")), self._last_recorded
        self._last_recorded = total
        if is_own:
            self._report(used if total is None or before is None else total.minus(before))
        return used

    def count(self, payload: dict[str, Any], *, goes_on: bool, is_own: bool) -> Sum | None:
        """What was used since the last count that no record tells of; None if nothing was.

        `goes_on` says that the sum may have begun in a history that is not at hand.
        """
        info = payload.get("info")
        if type(info) is not dict:
            return None
        total, latest = read_sum(info.get("total_token_usage")), read_sum(info.get("last_token_usage"))
        if total is None:
            return None
        before, self._last = self._last, total
        if total == before or not total:
            # Written again; or the context was full, and the sum was set to its size.
            return None
        recorded, self._recorded = self._recorded, NOTHING
        if before is None:
            goes_on = goes_on or self._was_reverted
            before = _beginning(total, latest, recorded) if goes_on else NOTHING
        elif latest == total or total.is_less(before):
            # It began anew.
            before = NOTHING if latest is None or latest == total else total.minus(latest)
        grown = total.minus(before).minus(recorded)
        if is_own:
            self._report(grown)
        return grown or None

    def name(self, owner: str) -> str:
        """What the request is called that the last count tells of, since the provider's name is not written.

        It is the same in every copy: the turn or the thread that made it, and what was used with it. A sum
        that began anew may come to the same.
        """
        name = f"{owner}:{self._last.input}:{self._last.output}" if self._last is not None else owner
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name}:{self._names[name]}"

    def _report(self, grown: Sum) -> None:
        self.reported = grown if self.reported is None else self.reported.plus(grown)


def _beginning(total: Sum, latest: Sum | None, recorded: Sum) -> Sum:
    """The sum that a fork began with, where its parent is not at hand."""
    return total.minus(recorded) if recorded else total.minus(latest or NOTHING)
