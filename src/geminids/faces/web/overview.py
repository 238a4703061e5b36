"""What there is at a glance, and what a page must know before anything else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import msgspec

from geminids import __version__
from geminids.core.agents import available as agent_names
from geminids.faces.documents.base import filled
from geminids.faces.documents.overview import (
    About,
    FilterNote,
    Forecast,
    FormatLine,
    Overview,
    agent_counts,
    day_activity,
    retention_rule,
    threatened,
)
from geminids.faces.documents.sessions import RUNNING
from geminids.faces.documents.tokens import used_tokens
from geminids.faces.serving.session_lines import session_lines
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, Page
from geminids.query.search.filter_notes import FILTER_NOTES, VALUE_NOTES
from geminids.query.search.filters import FILTERS
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter
from geminids.query.usage.stats import StatsQuestion
from geminids.sharing.export import available as format_names
from geminids.sharing.export import load as format_called
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.levels import LEVEL_WORDS
from geminids.storage.index.values import SessionRow

SOON = timedelta(days=7)
NEWEST = 8
LONGEST_SUGGESTION = 3
"""Words of a search that is suggested."""


class AskedForOverview(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far back the days go."""

    days: Annotated[int, msgspec.Meta(ge=1, le=3660)] = 371
    """The last so many days; 371 fill a year of whole weeks."""


class AskedForForecast(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is told."""

    limit: Page = 100


def about(desk: Desk, _: Asked) -> About:
    """What the server can do, and the token that changes need."""
    library = desk.library
    answer = About(
        version=__version__,
        agents={name: library.agent_title(name) for name in agent_names()},
        formats=[filled(FormatLine, format_called(name)) for name in format_names()],
        levels=LEVEL_WORDS,
        filters=FILTERS,
        filter_notes=[
            FilterNote(name=name, note=FILTER_NOTES[name], values=VALUE_NOTES.get(name, {}))
            for name in FILTERS
        ],
        homes=library.places,
        is_sample=library.sample,
        is_sample_instead=desk.libraries.is_sample_instead,
        is_redacted=desk.is_redacted,
        running_seconds=round(RUNNING.total_seconds()),
        token="",
        syncing=desk.libraries.state(),
    )
    # The token is a secret, and the one that is not hidden.
    return msgspec.structs.replace(desk.hidden(answer), token=desk.token)


def overview(desk: Desk, asked: AskedForOverview) -> Overview:
    """Counts, activity day by day, tokens and cost, the newest sessions."""
    library, now = desk.library, desk.now
    listing = library.listing(Filter(kinds=LED_BY_HUMANS), NEWEST)
    by_agent = library.stats(StatsQuestion(by="agent"), now)
    first = now.astimezone().date() - timedelta(days=asked.days - 1)
    # Whole days are summed up already; any other moment would be counted anew.
    by_day = library.stats(StatsQuestion(by="day", since=str(first)), now)
    span = by_agent.span
    return Overview(
        sessions=by_agent.total.sessions,
        checkpoints=listing.kinds.get("checkpoint", 0),
        lost=listing.kinds.get("lost", 0),
        subagents=by_agent.total.subagents,
        kept=library.listing(Filter(kinds=LED_BY_HUMANS, kept=True), 1).total,
        prompts=by_agent.total.prompts,
        first_day=span[0] if span else None,
        agents=[agent_counts(group, library.agent_title(group.key)) for group in by_agent.groups],
        days=[day_activity(group) for group in by_day.groups],
        total=used_tokens(by_day.total.tokens),
        newest=session_lines(library, listing.sessions),
        suggestion=None if desk.is_redacted else _suggestion(listing.sessions),
        is_sample=library.sample,
        unreadable=len(listing.problems),
        incomplete=by_day.total.incomplete,
    )


def forecast(desk: Desk, asked: AskedForForecast) -> Forecast:
    """What agents are going to delete by themselves, and how to prevent it."""
    found = desk.library.kept.forecast(desk.now)
    soon = found.due(desk.now + SOON)
    return Forecast(
        within_a_week=len({one.session_id or one.file for one in soon}),
        not_kept=len({one.session_id or one.file for one in soon if not one.kept}),
        total=len(found.endangered),
        threatened=[threatened(one) for one in found.endangered[: asked.limit]],
        rules=[retention_rule(one) for one in found.retentions],
    )


ENDPOINTS = (
    Endpoint("/api/about", Asked, About, about, hides_itself=True),
    Endpoint("/api/overview", AskedForOverview, Overview, overview, is_cached=True),
    Endpoint("/api/forecast", AskedForForecast, Forecast, forecast, is_cached=True),
)


def _suggestion(newest: Sequence[SessionRow]) -> str | None:
    """Words that the user knows: of a title of theirs."""
    for row in newest:
        words = [word for word in safe.line(row.title or "").split() if word.isalnum() and len(word) > 3]
        if words:
            return " ".join(words[:LONGEST_SUGGESTION])
    return None
