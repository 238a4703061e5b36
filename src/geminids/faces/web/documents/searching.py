"""Hits across all sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.model import Origin, Role, State
from geminids.faces.web.documents.base import Document
from geminids.faces.web.documents.finding import SnippetPiece
from geminids.faces.web.documents.sessions import SessionLine


class SearchHit(Document, frozen=True, kw_only=True):
    """A message that was found."""

    number: int
    id: str
    role: Role
    origin: Origin
    state: State
    at: datetime | None
    model: str | None
    tools: Sequence[str]
    where: Sequence[str]
    pieces: Sequence[SnippetPiece]
    """Empty if the file has changed or is gone, and where secrets are hidden and what was found is one."""
    is_cut_before: bool
    is_cut_after: bool


class SearchSession(Document, frozen=True, kw_only=True):
    """A session in which something was found, with the best of it."""

    session: SessionLine
    matches: int
    hits: Sequence[SearchHit]


class Unsearched(Document, frozen=True, kw_only=True):
    """Messages of a session that may match or not: a regular expression took too long in them."""

    id: str
    """Of the session."""
    messages: Sequence[int]
    """Their numbers."""


class Search(Document, frozen=True, kw_only=True):
    """A page of what was found, the best session first."""

    sessions: Sequence[SearchSession]
    matches: int
    total: int
    """Sessions."""
    is_exact: bool
    are_all_sessions: bool
    searched_sessions: int
    left_out: str | None
    """What the index does not hold, in words."""
    hidden: Mapping[str, int]
    near: Mapping[str, Sequence[str]]
    is_spread: bool
    """No message has all the words; these sessions have each of them somewhere."""
    unsearched: Sequence[Unsearched]
    left: int
    """Sessions that may hold more and were not read yet; `next` goes on with them."""
    next: str | None
