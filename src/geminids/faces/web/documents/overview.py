"""What there is at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from geminids.faces.web.documents.base import Document, Handle
from geminids.faces.web.documents.sessions import SessionLine
from geminids.faces.web.documents.usage import UsedTokens


class About(Document, frozen=True, kw_only=True):
    """What a page needs to know before anything else."""

    version: str
    agents: Mapping[str, str]
    """The agents that can be read: what people call them, by name."""
    formats: Sequence[FormatLine]
    levels: Mapping[str, str]
    """The levels of detail, the least first, and what each tells."""
    filters: Sequence[str]
    """The filters of the language of searches."""
    filter_notes: Sequence[FilterNote]
    """What each of them means, in the same order."""
    homes: Sequence[str]
    is_sample: bool
    """Whether it is the sample that is shown."""
    is_sample_instead: bool
    """Whether it is shown because there is no session on this machine; the first one takes its place."""
    is_redacted: bool
    """Whether secrets are hidden in all that is served."""
    running_seconds: int
    """For how long after it was last written to a session seems to be running."""
    token: str
    """To be sent as a header with whatever changes something."""
    syncing: SyncState


class FilterNote(Document, frozen=True, kw_only=True):
    """What a filter means, for a box that completes what is being typed."""

    name: str
    note: str
    values: Mapping[str, str]
    """Values that it takes and what they mean, the likeliest first; none if only the index knows them."""


class FormatLine(Document, frozen=True, kw_only=True):
    """A format of an export."""

    name: str
    title: str
    summary: str
    suffix: str


class SyncState(Document, frozen=True, kw_only=True):
    """How the index stands."""

    is_running: bool
    is_first: bool
    """Whether there is nothing to ask yet: what there is, is being looked at for the first time."""
    is_empty: bool | None
    """Whether there is no session at all; null if nobody has looked yet."""
    read: int | None
    total: int | None
    """Bytes that are read of those that are new, while a sync runs; null if that is not known."""
    at: datetime | None
    """When it was last brought up to date; null if it was not yet."""
    said: Sequence[str]
    """What a person should know about it."""


class AgentCounts(Document, frozen=True, kw_only=True):
    """How much there is of one agent."""

    agent: str
    title: str
    sessions: int
    subagents: int
    prompts: int | None
    calls: int | None
    tokens: UsedTokens | None


class DayActivity(Document, frozen=True, kw_only=True):
    """What was done on a day, in local time."""

    day: date
    sessions: int
    prompts: int
    active: float
    """Seconds in which somebody was at work."""
    calls: int
    tokens: UsedTokens


class Overview(Document, frozen=True, kw_only=True):
    """What there is at a glance."""

    sessions: int
    subagents: int
    kept: int
    """Sessions whose files are gone, and that are read from copies."""
    prompts: int
    first_day: date | None
    agents: Sequence[AgentCounts]
    days: Sequence[DayActivity]
    """Of the span that was asked for; days without anything are left out."""
    total: UsedTokens
    """Of that span."""
    newest: Sequence[SessionLine]
    suggestion: str | None
    """A search to try, of the user's own words."""
    is_sample: bool
    unreadable: int
    """Files and folders that could not be read."""


class Threatened(Document, frozen=True, kw_only=True):
    """A file that its agent is going to delete, and the session in it."""

    session_id: Handle | None
    title: str | None
    agent: str
    project: str | None
    file: str
    at: datetime | None
    """From when on; null: from now on."""
    reason: str
    kept: bool
    """Whether there is a copy of it."""


class RetentionRule(Document, frozen=True, kw_only=True):
    """How long an agent keeps sessions, and how to change that."""

    agent: str
    home: str
    project: str | None
    days: float | None
    """How long a session may lie unused; null: for ever."""
    most: int | None
    remedy: str | None


class Forecast(Document, frozen=True, kw_only=True):
    """What agents are going to delete by themselves, the soonest first."""

    within_a_week: int
    """Sessions."""
    not_kept: int
    """Of how many of these there is no copy."""
    total: int
    """Files, listed or not."""
    threatened: Sequence[Threatened]
    rules: Sequence[RetentionRule]
