"""Figures that add up: what some sessions did and used."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal
    from typing import TypeVar

    from geminids.store.totals import Called, Changed, Done, Spent

    Number = TypeVar("Number", int, Decimal)


class Tokens(NamedTuple):
    """Requests and what they used; a kind of token that nobody recorded is None.

    `input` is the whole prompt: `fresh`, `cached` and `cache_write` are its parts.
    """

    requests: int = 0
    unmeasured: int = 0
    """Requests of which the agent noted no tokens."""
    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    cache_write_hour: int | None = None
    """The part of `cache_write` that is kept for an hour."""
    output: int | None = None
    thoughts: int | None = None
    tool: int | None = None
    total: int | None = None
    cost: "Decimal | None" = None
    """Dollars at list price, of those requests that have a price."""
    unpriced: int = 0
    """Requests that have none."""

    @property
    def fresh(self) -> int | None:
        """The part of the prompts that came from no cache and went into none."""
        if self.input is None:
            return None
        return self.input - (self.cached or 0) - (self.cache_write or 0)

    def plus(self, other: "Tokens") -> "Tokens":
        """Both together."""
        return Tokens._make(map(_sum, self, other))


def tokens(spent: "Spent", cost: "Decimal | None") -> Tokens:
    """What was used in one group."""
    kinds = spent[6:]
    return Tokens(spent.requests, spent.unmeasured, *kinds, cost, 0 if cost is not None else spent.requests)


class Figures(NamedTuple):
    """What was done and used."""

    sessions: int = 0
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

    def with_done(self, done: "Done") -> "Figures":
        """The same with what was done."""
        return self._replace(
            sessions=self.sessions + done.sessions,
            subagents=self.subagents + done.subagents,
            prompts=self.prompts + done.prompts,
            replies=self.replies + done.replies,
            active=self.active + done.active,
        )

    def with_called(self, called: "Called") -> "Figures":
        """The same with calls of tools."""
        return self._replace(
            calls=self.calls + called.calls,
            errors=self.errors + called.errors,
            cancelled=self.cancelled + called.cancelled,
        )

    def with_changed(self, changed: "Changed") -> "Figures":
        """The same with changed files."""
        return self._replace(
            files=self.files + changed.files,
            added=_sum(self.added, changed.added),
            removed=_sum(self.removed, changed.removed),
        )


def _sum(one: "Number | None", other: "Number | None") -> "Number | None":
    if one is None or other is None:
        return other if one is None else one
    return one + other
