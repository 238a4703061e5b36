"""A session as it is told: read, and made ready to be drawn, in the thread that asks.

Nothing is laid out here. Of 50,000 messages this takes a second or two; what is seen of them is laid out when
it is looked at (`story_lines.py`).
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from geminids.core.model import Message, Session, SessionSummary
from geminids.faces.drawing.amounts import dollars, exact
from geminids.sharing.transcript.entries import LEVELS, Detail, LeftOut, StoryEntry, Turn, transcript

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.query.usage.by_session import SessionUse
    from geminids.query.usage.costs import Costing
    from geminids.storage.durable.values import Marks

BEGINNING = 200
"""Messages of a large session that are read before the rest."""
_MANY = 5000
"""Messages in which looking for what can be given back takes longer than one wants to wait for a key."""
_AFTER = 60
"""Messages behind the one that is to be seen that are read with it."""


class Telling(NamedTuple):
    """How much is told: a level of detail, and what was switched since it was chosen."""

    level: str = "conversation"
    thoughts: bool = False
    """Whether they are told otherwise than at the level."""
    dropped: bool = False
    """The same of what was taken back."""

    @property
    def detail(self) -> Detail:
        """What that means."""
        known = LEVELS[self.level]
        return msgspec.structs.replace(
            known, thoughts=known.thoughts != self.thoughts, dropped=known.dropped != self.dropped
        )

    @property
    def name(self) -> str:
        """The level, and what differs from it."""
        detail = self.detail
        thoughts = f" {'+' if detail.thoughts else '-'} thoughts" if self.thoughts else ""
        dropped = f" {'+' if detail.dropped else '-'} dropped" if self.dropped else ""
        return f"{self.level}{thoughts}{dropped}"

    @property
    def with_other_thoughts(self) -> Telling:
        """The same with thoughts, or without."""
        return self._replace(thoughts=not self.thoughts)

    @property
    def with_other_dropped(self) -> Telling:
        """The same with what was taken back, or without."""
        return self._replace(dropped=not self.dropped)

    def at_next_level(self, by: int) -> Telling:
        """More or less; after the last level comes the first."""
        names = list(LEVELS)
        return Telling(names[(names.index(self.level) + by) % len(names)])


class TurnUse(NamedTuple):
    """What a message used, or several together."""

    tokens: int
    cost: Decimal | None
    """None if nothing of it has a price."""

    @property
    def words(self) -> str:
        """Tokens, and dollars if they are known."""
        return f"{exact(self.tokens)} tokens" + (f" · {dollars(self.cost)}" if self.cost is not None else "")


def together(used: Iterable[TurnUse | None]) -> TurnUse | None:
    """What messages used together; None if nobody knows of any."""
    known = [one for one in used if one]
    costs = [one.cost for one in known if one.cost is not None]
    return (
        TurnUse(sum(one.tokens for one in known), sum(costs, Decimal(0)) if costs else None)
        if known
        else None
    )


class Story:
    """What is told of a session, entry by entry, and where each message stands."""

    def __init__(
        self, session: Session, detail: Detail, used: Sequence[TurnUse | None], *, is_whole: bool
    ) -> None:
        """`used` has what each message used."""
        told = transcript(session, detail)
        # What is left out of a beginning says nothing of the whole.
        self.entries: Sequence[StoryEntry] = [
            entry for entry in told if is_whole or not isinstance(entry, LeftOut)
        ]
        self._turns = [number for number, entry in enumerate(self.entries) if isinstance(entry, Turn)]
        self._places = [turn.place for _, turn in self.turns()]
        self._headings = [turn.place for _, turn in self.turns() if not turn.continues]
        self._used_by_message = used
        self._used: dict[int, TurnUse | None] = {}

    def turns(self) -> Iterator[tuple[int, Turn]]:
        """All turns with the numbers of their entries."""
        for number in self._turns:
            entry = self.entries[number]
            assert isinstance(entry, Turn)
            yield number, entry

    def turn(self, number: int) -> Turn | None:
        """The turn that an entry is, if it is one."""
        entry = self.entries[number] if 0 <= number < len(self.entries) else None
        return entry if isinstance(entry, Turn) else None

    def entry_of(self, place: int) -> int | None:
        """The entry of a message; if it is not told, that of the last one before it, or the first."""
        at = bisect_right(self._places, place) - 1
        return self._turns[max(at, 0)] if self._turns else None

    def is_told(self, place: int) -> bool:
        """Whether a message is told of."""
        at = bisect_right(self._places, place) - 1
        return at >= 0 and self._places[at] == place

    def next_turn(self, number: int, by: int) -> int | None:
        """The entry of the turn after an entry, or of the one before it; None if there is none."""
        at = bisect_right(self._turns, number) if by > 0 else bisect_right(self._turns, number - 1) - 1
        return self._turns[at] if 0 <= at < len(self._turns) else None

    def used(self, place: int) -> TurnUse | None:
        """What was used from there on until somebody else speaks; None if nobody knows."""
        if place not in self._used:
            after = bisect_right(self._headings, place)
            end = self._headings[after] if after < len(self._headings) else None
            self._used[place] = together(self._used_by_message[place:end])
        return self._used[place]


class Told(NamedTuple):
    """A session with all that is drawn of it."""

    session: Session
    story: Story
    telling: Telling
    messages: int
    """How many it has; more than are there if only its beginning was read."""
    agent_title: str
    marks: Marks | None
    cost: Decimal | None
    use: SessionUse | None
    used: Sequence[TurnUse | None]
    """What each message used; None if nobody knows, or if it counts in another session."""

    @property
    def is_whole(self) -> bool:
        """Whether all messages are there."""
        return self.messages == len(self.session.messages)

    @property
    def name(self) -> str:
        """What the user calls it, else its title."""
        return (self.marks and self.marks.name) or self.session.title or "untitled"


def told_first(library: Library, key: str, telling: Telling, message: int | None) -> Told:
    """A session, or of a large one the beginning, if the message that is to be seen stands in it."""
    beginning = library.beginning(key, max(BEGINNING, (message or 0) + _AFTER))
    if beginning is None or len(beginning.session.messages) < min(message or 0, beginning.messages):
        return told_whole(library, key, telling, message)
    return _told(library, beginning.session, telling, beginning.messages)


def told_whole(library: Library, key: str, telling: Telling, message: int | None = None) -> Told:
    """A session with all its messages, in as much detail as that message needs."""
    session = library.session(key)
    told = _told(library, session, telling, len(session.messages))
    if len(session.messages) > _MANY:
        # No part of it refers to itself, and looking for rings in it would take 100 ms again and again.
        gc.freeze()
    if message is None or message > len(session.messages):
        return told
    names = list(LEVELS)
    for level in names[names.index(telling.level) + 1 :]:
        if told.story.is_told(message - 1):
            break
        told = retold(told, Telling(level))
    return told


def retold(told: Told, telling: Telling) -> Told:
    """The same session in another detail."""
    story = Story(told.session, telling.detail, told.used, is_whole=told.is_whole)
    return told._replace(story=story, telling=telling)


def _told(library: Library, session: Session, telling: Telling, messages: int) -> Told:
    is_whole = messages == len(session.messages)
    costing = library.costing(session.models)
    used = [_used(message, costing) for message in session.messages]
    return Told(
        session,
        Story(session, telling.detail, used, is_whole=is_whole),
        telling,
        messages,
        library.agent_title(session.agent),
        library.marks([session.id]).get(session.id),
        library.cost_of(session) if is_whole else None,
        library.used_by([session.id]).get(session.id),
        used,
    )


def _used(message: Message, costing: Costing) -> TurnUse | None:
    if message.imported or message.usage is None or message.usage.total is None:
        return None
    return TurnUse(message.usage.total, costing.of(message))


def sizes_of(session: SessionSummary) -> Mapping[str, int]:
    """The files that it was read from, and how large they were."""
    return {file.path: file.size for file in session.files if not file.kept}
