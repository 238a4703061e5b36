"""`stats --explain --json`: where numbers come from.

A number that nobody recorded is null. Costs are dollars at list price, rounded to six places.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from geminids.core.model import Location, SessionSummary, State, Unrecorded, Usage
from geminids.faces.cli.stats_document import UsedTokens, rounded, used_tokens
from geminids.query.usage.explanation import (
    Check,
    Checks,
    ExplainedAgent,
    ExplainedLine,
    ExplainedRequest,
    ExplainedSession,
    ExplainedTotal,
    UnrecordedSum,
)


class ExplainDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/explain/1"
):
    """A total down to its sessions, which add up to it."""

    tokens: UsedTokens
    agents: Sequence[ExplainedAgent]
    sessions: Sequence[ExplainedLine]
    unrecorded: Sequence[UnrecordedSum]
    checks: Checks


class RequestLine(msgspec.Struct, frozen=True, kw_only=True):
    """One request, and where it is written."""

    at: datetime | None
    model: str | None
    usage: Usage
    cost: float | None
    """Dollars at list price, rounded to six places."""
    state: State
    source: Location
    copies: Sequence[Location]
    """Records of the same request, which count no second time."""
    counted: bool
    why: str | None
    """Why it is not counted."""


class ExplainedSessionDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/explained-session/1"
):
    """The usage of a session down to its requests."""

    session: SessionSummary
    usage: Usage
    """Of those that are counted."""
    requests: Sequence[RequestLine]
    unrecorded: Sequence[Unrecorded]
    check: Check | None
    """Null if the agent keeps no total."""
    subagents: Sequence[SessionSummary]
    """Which count for themselves."""


def explain_document(found: ExplainedTotal) -> ExplainDocument:
    """A total as a document."""
    told = msgspec.structs.asdict(found) | {"tokens": used_tokens(found.tokens)}
    return ExplainDocument(**told)


def explained_session_document(found: ExplainedSession) -> ExplainedSessionDocument:
    """A session as a document."""
    told = msgspec.structs.asdict(found) | {"requests": [_request(request) for request in found.requests]}
    return ExplainedSessionDocument(**told)


def _request(request: ExplainedRequest) -> RequestLine:
    return RequestLine(**msgspec.structs.asdict(request) | {"cost": rounded(request.cost)})
