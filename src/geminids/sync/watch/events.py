"""What a watch tells: frozen values, in the order in which things were noticed."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from geminids.core.model import AnyPart, Message, Problem, SessionSummary, State


class Happened(StrEnum):
    """What became of a message."""

    ADDED = "added"
    CHANGED = "changed"
    """It got more: words, a result, what it used; or the agent sees it again."""
    DROPPED = "dropped"
    """The agent no longer sees it, or it no longer stands in any file."""


class News(msgspec.Struct, frozen=True):
    """What is new of one message."""

    happened: Happened
    message_id: str
    message: Message | None
    """The message as it is now; None if it no longer stands in any file."""
    new_parts: tuple[AnyPart, ...]
    """What was not told before: of words that grew, only the rest."""
    was: State | None
    """The state in which it was told before; None if it was not."""
    same_as: str | None = None
    """The message that it turned out to be a copy of; agents write a history again under new ids."""

    @property
    def is_back(self) -> bool:
        """Whether the agent sees a message again that it had dropped."""
        is_current = self.message is not None and self.message.state is State.CURRENT
        return is_current and self.was not in {None, State.CURRENT}


class Watching(msgspec.Struct, frozen=True, tag_field="event", tag="watching"):
    """Where is watched and how: told first, and again when the way changes."""

    places: tuple[str, ...]
    by_events: bool
    """Whether the operating system tells of changes; else files are looked at again and again."""
    seconds: float
    """How often everything is looked at."""
    because: str | None = None
    """Why there are no events; None if that was wished."""


class SessionNews(msgspec.Struct, frozen=True, tag_field="event", tag="session-news"):
    """All that is new of one session, in the order of its messages."""

    session: SessionSummary
    news: tuple[News, ...]


class SessionGone(msgspec.Struct, frozen=True, tag_field="event", tag="session-gone"):
    """No file holds the session any more."""

    session_id: str


class Trouble(msgspec.Struct, frozen=True, tag_field="event", tag="trouble"):
    """A file or folder that cannot be read; told once."""

    problem: Problem


class Quiet(msgspec.Struct, frozen=True, tag_field="event", tag="quiet"):
    """Nothing was written for a while: a moment to look at other things."""


AnyEvent = Watching | SessionNews | SessionGone | Trouble | Quiet
