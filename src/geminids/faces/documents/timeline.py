"""What is measured inside one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.model import State, ToolKind, ToolStatus
from geminids.faces.documents.base import Document, Handle


class TimelineCall(Document, frozen=True, kw_only=True):
    """A call on the time line."""

    number: int
    name: str
    kind: ToolKind
    status: ToolStatus
    start: datetime | None
    end: datetime | None
    argument: str


class TimelineTurn(Document, frozen=True, kw_only=True):
    """A prompt and all that followed until the next."""

    number: int
    text: str
    start: datetime | None
    end: datetime | None
    idle: float | None
    """Seconds until the next prompt."""
    tokens: int | None
    calls: Sequence[TimelineCall]


class Timeline(Document, frozen=True, kw_only=True):
    """What happened when."""

    id: Handle
    title: str | None
    agent: str
    project: str | None
    """The name of its folder."""
    total: int
    """Turns, listed or not."""
    turns: Sequence[TimelineTurn]


class ContextPoint(Document, frozen=True, kw_only=True):
    """How full the context was at a request."""

    number: int
    at: datetime | None
    model: str | None
    tokens: int
    """The whole prompt."""
    cached: int | None
    output: int | None


class ContextMark(Document, frozen=True, kw_only=True):
    """Where messages were taken out of the context."""

    number: int
    state: State
    messages: int
    before: int | None
    after: int | None
    """Tokens of the requests before and after."""


class ContextFill(Document, frozen=True, kw_only=True):
    """How the context filled, request by request; of very many, some."""

    windows: Mapping[str, int]
    """How many tokens a prompt of a model may have, where the price list tells."""
    total: int
    points: Sequence[ContextPoint]
    marks: Sequence[ContextMark]
