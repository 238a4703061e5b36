"""Tokens, cost and time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from geminids.faces.web.documents.base import Document, Handle


class UsedTokens(Document, frozen=True, kw_only=True):
    """Requests and what they used. `input` is the whole prompt: its parts are the three that follow."""

    requests: int
    unmeasured: int
    """Replies of which nothing was recorded: they are in no other number here."""
    input: int | None
    fresh: int | None
    cached: int | None
    cache_write: int | None
    output: int | None
    thoughts: int | None
    tool: int | None
    total: int | None
    cost: float | None
    unpriced: int
    """Requests that have no price."""


class UsageGroup(Document, frozen=True, kw_only=True):
    """What was done in one group; null where it is not told of such a group."""

    key: Handle
    name: str
    agent: str | None
    sessions: int
    subagents: int
    prompts: int | None
    replies: int | None
    active: float | None
    """Seconds."""
    calls: int | None
    errors: int | None
    cancelled: int | None
    failure_rate: float | None
    files: int | None
    added: int | None
    removed: int | None
    tokens: UsedTokens | None


class UnpricedModel(Document, frozen=True, kw_only=True):
    """A model without a price, and why."""

    model: str
    reason: str
    requests: int


class UsageFigures(Document, frozen=True, kw_only=True):
    """What sessions did, used and cost, in groups."""

    by: str
    since: datetime | None
    until: datetime | None
    total: UsageGroup
    groups: Sequence[UsageGroup]
    """In order of time, or the largest first."""
    left_out: int
    """Groups that the limit leaves out."""
    price_list: str | None
    unpriced: Sequence[UnpricedModel]


class SeriesPart(Document, frozen=True, kw_only=True):
    """One of the parts that a total is split into."""

    key: Handle
    name: str
    used: UsedTokens
    """All of it."""
    totals: Sequence[int | None]
    costs: Sequence[float | None]
    """For each period, tokens and dollars; null where nothing was recorded."""


class UsageSeries(Document, frozen=True, kw_only=True):
    """Usage over time, split by model, agent or project. The parts, with the rest, add up to the total."""

    by: str
    """day, week or month"""
    split: str
    since: datetime | None
    until: datetime | None
    keys: Sequence[str]
    """The first days of the periods in which anything was used, in order."""
    total: UsedTokens
    points: Sequence[UsedTokens]
    """All parts together, for each period."""
    parts: Sequence[SeriesPart]
    """The largest first."""
    rest: SeriesPart | None
    """All parts beyond those, together."""
    left_out: int
    """How many parts those are."""
    price_list: str | None
    unpriced: Sequence[UnpricedModel]


class LargeSession(Document, frozen=True, kw_only=True):
    """A session that stands out, with its subagents."""

    id: Handle
    title: str | None
    agent: str
    tokens: int | None
    active: float | None
    """Seconds in which somebody was at work. Only what it stands out by is told."""


class LargestSessions(Document, frozen=True, kw_only=True):
    """The sessions that used most, and those that took most time; the largest first."""

    by_tokens: Sequence[LargeSession]
    by_time: Sequence[LargeSession]


class Hour(Document, frozen=True, kw_only=True):
    """What was said in an hour of a weekday."""

    weekday: int
    """0 is Monday."""
    hour: int
    prompts: int
    replies: int


class Hours(Document, frozen=True, kw_only=True):
    """When people typed and models answered, in local time; hours without anything are left out."""

    hours: Sequence[Hour]
