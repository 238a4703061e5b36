"""What is written while one looks on: `watch --json`, and the events of the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from geminids.core.model import AnyPart, Message, State
from geminids.faces.documents.base import Document, Handle, Printed, filled

if TYPE_CHECKING:
    from geminids.sync.watch import SessionGone, SessionNews


class WatchDocument(Printed, frozen=True, kw_only=True, tag="geminids/watch/1"):
    """What became of one message while `geminids watch` looked on; each stands on a line of its own."""

    happened: Literal["added", "changed", "dropped", "gone"]
    """`gone`: no file holds the session any more."""
    session_id: str
    message_id: str | None = None
    message: Message | None = None
    """The message as it is now, as in the document of its session; null if no file holds it any more."""
    new_parts: tuple[AnyPart, ...] = ()
    """What is new of a message that was told before: of words that grew, only the rest."""
    was: State | None = None
    """The state in which the message was told before."""
    same_as: str | None = None
    """The message that it turned out to be a copy of; agents write a history again under new ids."""


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


def watch_documents(event: SessionNews | SessionGone) -> Iterable[WatchDocument]:
    """What became of each message."""
    # A server that starts has no time for what only a watch needs.
    from geminids.sync.watch import Happened, SessionGone

    if isinstance(event, SessionGone):
        yield WatchDocument(happened="gone", session_id=event.session_id)
        return
    for news in event.news:
        # All parts of a message that is new stand in it.
        new_parts = () if news.happened is Happened.ADDED else news.new_parts
        happened = news.happened.value
        yield filled(WatchDocument, news, happened=happened, session_id=event.session.id, new_parts=new_parts)
