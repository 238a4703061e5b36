"""What there is at a glance, what a page must know first, and what agents are going to delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from geminids.faces.documents.base import Document, Handle, Printed, filled, harmless
from geminids.faces.documents.health import SyncState
from geminids.faces.documents.sessions import SessionLine
from geminids.faces.documents.tokens import UsedTokens, used_tokens
from geminids.faces.documents.usage import seconds
from geminids.query.health import overview
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.core.agents.fates import Retention
    from geminids.query.health.forecast import Endangered
    from geminids.query.usage.stats import StatsGroup


class OverviewDocument(overview.Overview, Printed, frozen=True, kw_only=True, tag="geminids/overview/1"):
    """What there is, in little."""


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
    """Those that a person led, without checkpoints and lost ones."""
    checkpoints: int
    lost: int
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
    incomplete: int
    """Sessions of that span with files that could not be read completely: then `total` is a lower bound."""


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


def agent_counts(group: StatsGroup, title: str) -> AgentCounts:
    """How much there is of one agent."""
    figures = group.figures
    return filled(AgentCounts, figures, agent=group.key, title=title, tokens=used_tokens(figures.tokens))


def day_activity(group: StatsGroup) -> DayActivity:
    """What was done on a day."""
    figures = group.figures
    day, active = date.fromisoformat(group.key), seconds(figures.active)
    return filled(DayActivity, figures, day=day, active=active, tokens=used_tokens(figures.tokens))


def threatened(one: Endangered) -> Threatened:
    """A file that its agent is going to delete."""
    return filled(
        Threatened,
        one,
        title=harmless(one.title),
        project=harmless(one.project),
        file=safe.line(one.file),
    )


def retention_rule(one: Retention) -> RetentionRule:
    """How long an agent keeps sessions."""
    days = one.rest / timedelta(days=1) if one.rest is not None else None
    return filled(RetentionRule, one, days=days)
