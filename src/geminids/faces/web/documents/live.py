"""What happens while the page is open."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.faces.web.documents.base import Document, Handle


class LiveEvent(Document, frozen=True, kw_only=True):
    """What `/api/events` tells, as the data of an event of this name: no words of a session."""

    event: str
    """news, gone, synced, trouble or reset"""
    session_id: Handle | None = None
    parent_id: Handle | None = None
    agent: str | None = None
    added: int = 0
    changed: int = 0
    dropped: int = 0
    """Messages."""
    detail: str | None = None


class Synced(Document, frozen=True, kw_only=True):
    """What a sync took in."""

    bundles: int
    """Groups of files that were read."""
    seconds: float
    said: Sequence[str]
