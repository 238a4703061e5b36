"""`stats --explain --json`: where numbers come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.model import Location, SessionSummary, State, Unrecorded, Usage
from geminids.faces.documents.base import Document, Printed, filled
from geminids.faces.documents.tokens import UsedTokens, dollars, used_tokens
from geminids.query.usage.explanation import (
    Check,
    Checks,
    ExplainedAgent,
    ExplainedSession,
    ExplainedTotal,
    UnrecordedSum,
)


class SessionLine(Document, frozen=True, kw_only=True):
    """What one session adds to a sum."""

    id: str
    title: str | None
    agent: str
    requests: int
    total: int | None
    cost: float | None
    """Dollars at list price, rounded to six places."""
    unpriced: int
    """Requests of which nobody knows the price; they are not in the cost."""
    copies: int
    """Requests that another session holds as well, where they are counted."""
    taken_over: int
    """Requests that its file itself says it took over."""
    verdict: str | None
    """What a comparison with the agent's own total gave, where it keeps one."""


class ExplainDocument(Printed, frozen=True, kw_only=True, tag="geminids/explain/1"):
    """A total down to its sessions, which add up to it."""

    tokens: UsedTokens
    kinds: Mapping[str, int]
    """How many of the sessions are of each kind: main, subagent, checkpoint, lost."""
    agents: Sequence[ExplainedAgent]
    sessions: Sequence[SessionLine]
    unrecorded: Sequence[UnrecordedSum]
    checks: Checks
    incomplete: int
    """Sessions whose files could not be read completely: if there are any, the total is a lower bound."""


class RequestLine(Document, frozen=True, kw_only=True):
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


class ExplainedSessionDocument(Printed, frozen=True, kw_only=True, tag="geminids/explained-session/1"):
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
    incomplete: bool
    """Whether its files could not be read completely: then its usage is a lower bound."""


def explain_document(found: ExplainedTotal) -> ExplainDocument:
    """A total down to its sessions."""
    sessions = [filled(SessionLine, line, cost=dollars(line.cost)) for line in found.sessions]
    return filled(ExplainDocument, found, tokens=used_tokens(found.tokens), sessions=sessions)


def explained_session_document(found: ExplainedSession) -> ExplainedSessionDocument:
    """A session down to its requests."""
    requests = [filled(RequestLine, request, cost=dollars(request.cost)) for request in found.requests]
    return filled(ExplainedSessionDocument, found, requests=requests, incomplete=found.session.is_incomplete)
