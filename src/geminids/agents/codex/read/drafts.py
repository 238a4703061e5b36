"""Messages in the making: a record begins one, later records add to it or drop it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from geminids.agents.codex.read.calls import Call
from geminids.agents.codex.read.records import Record
from geminids.agents.codex.read.tokens import Sum
from geminids.core.model import Level, Location, Message, Origin, Role, State, Usage


class Whose(StrEnum):
    """In which session something was said first."""

    OWN = "own"
    COPIED = "copied"
    """In another one, of which this is a copy; it is counted here if the other is gone, which others tell."""
    THEIRS = "theirs"
    """In another one, and counted there in any case."""


class Dropper(NamedTuple):
    """The record that took messages out of the agent's view."""

    rollout: str
    ordinal: int | None
    place: Location


class Draft:
    """One message, until all that is said of it was read."""

    __slots__ = (
        *("also_at", "at", "dropped_by", "id", "is_answered", "is_confirmed", "is_typed", "keys"),
        *("level", "model", "ordinal", "origin", "parts", "request_id", "role", "rollout", "source", "state"),
        *("used", "whose"),
    )

    def __init__(
        self, message_id: str, role: Role, origin: Origin, at: datetime | None, source: Location
    ) -> None:
        self.id = message_id
        self.role = role
        self.origin = origin
        self.at = at
        self.source = source
        self.also_at: list[Location] = []
        self.model: str | None = None
        self.parts: list[Any] = []
        """Parts, and calls in the making."""
        self.used: Sum | None = None
        self.state = State.CURRENT
        self.dropped_by: Dropper | None = None
        self.level: Level | None = None
        self.whose = Whose.OWN
        self.request_id: str | None = None
        self.is_answered = False
        """Whether something came back for a call in it."""
        self.is_confirmed = False
        """Whether an event says that a human typed it."""
        self.is_typed = False
        """Whether it says so of itself."""
        self.keys: tuple[str, ...] = ()
        """Ids of the items in it, by which a later history names them."""
        self.ordinal: int | None = None
        self.rollout = ""

    def drop(self, state: State, by: Dropper) -> None:
        """Note that the agent no longer sees it, and why; the first reason counts."""
        if self.state is State.CURRENT:
            self.state, self.dropped_by = state, by

    def build(self) -> Message:
        """The message."""
        used = self.used
        usage: Usage | None = used.usage() if used is not None else None
        return Message(
            self.id,
            self.role,
            self.origin,
            self.state,
            self.at,
            self.model,
            tuple([part.build() if isinstance(part, Call) else part for part in self.parts]),
            usage,
            self.source,
            self.level,
            tuple(self.also_at),
            self.dropped_by and self.dropped_by.place,
            self.whose is Whose.THEIRS,
            self.request_id,
        )


def id_of(record: Record) -> str:
    """What a message is called: by the id of the item it begins with, else by the line it stands in."""
    payload = record.payload
    for field in ("id", "call_id"):
        written = payload.get(field)
        if type(written) is str and written and written.isprintable():
            return written
    return name_of_line(record)


def name_of_line(record: Record) -> str:
    """What a message is called that begins with no item: an event, or a line of an older release."""
    return f"line-{record.place.line}"
