"""What a search gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.values import Value
from geminids.storage.index.values import SessionRow
from geminids.storage.text.values import Snippet

COLUMN_NAMES = {
    "human": "human",
    "model": "model",
    "thought": "thoughts",
    "tool": "arguments",
    "path": "paths",
    "output": "output",
    "other": "other",
}
"""What people call the columns of the index."""
OF_SESSIONS = frozenset({"marks", "title", "project"})
"""Where words stand that are of no message."""


class FoundMessage(Value):
    """A message that was found, without its words."""

    id: str
    place: int
    """In its session, from 0."""
    role: str
    origin: str
    state: str
    imported: bool
    at: datetime | None
    model: str | None
    tools: tuple[str, ...]
    """The names of the tools that it calls."""


class Hit(Value):
    """A message, where in it the words stand, and a piece of it."""

    message: FoundMessage
    where: tuple[str, ...]
    snippet: Snippet | None
    """None: nothing was looked for but what filters say, or the file has changed or gone."""
    score: float
    """The higher, the better; only to be compared within one search."""

    @property
    def is_of_message(self) -> bool:
        """Whether the words stand in the message, and not in a name or a title of its session."""
        return not OF_SESSIONS.intersection(self.where[:1])


class SessionHits(Value):
    """What was found in one session, the best first."""

    session: SessionRow
    hits: Sequence[Hit]
    matches: int
    """How many messages match, shown or not."""
    missing: tuple[str, ...] = ()
    """Words that it does not have, where it is shown because it fits best."""


class Total(Value):
    """How much was found in all."""

    matches: int
    sessions: int
    is_exact: bool
    """Else more messages may match: only so many are ranked, or not everything was looked at."""
    are_all_sessions: bool
    """Else there are more sessions: only as many were counted as it took to find the best."""


class Searched(Value):
    """What was looked through."""

    kinds: Mapping[str, int]
    """How many sessions of each kind."""
    messages: int
    columns: tuple[str, ...]
    left_out: str | None
    """What the index does not hold, in words."""

    @property
    def sessions(self) -> int:
        """How many there are in all."""
        return sum(self.kinds.values())


class Stopped(Value):
    """Where reading texts came to its limit."""

    read: int
    """Sessions that were read."""
    left: int
    """Sessions that may hold more."""


class Unsearched(Value):
    """Messages of a session that may match or not: there was no time to find out."""

    session: str
    messages: tuple[int, ...]
    """Their places in it, from 0."""


class Found(Value):
    """The answer to a search."""

    sessions: Sequence[SessionHits]
    total: Total
    searched: Searched
    hidden: Mapping[str, int]
    """How many more messages would match without a filter, by the filter as it was typed."""
    near: Mapping[str, Sequence[str]]
    """What may have been meant by a word that does not occur, or by a value that no filter knows."""
    next: str | None
    """Where the next page begins; None if this is the last one."""
    words: int = 0
    """Of how many words sessions lack some; 0 where none of them does."""
    respelt: Mapping[str, Sequence[str]] = {}
    """Words that stand nowhere, and which ones were looked for instead."""
    fillers: Mapping[str, str] = {}
    """Words that stand nowhere and were left out, and the filler nearest to each."""
    is_spread: bool = False
    """No message has all the words; these are sessions that have them in several."""
    has_changed: bool = False
    """The index is no longer what it was when the page before was made, so sessions may be missing."""
    stopped: Stopped | None = None
    unsearched: Sequence[Unsearched] = ()
    """Where a regular expression took too long."""

    def check_whole(self) -> None:
        """Raise SlowPatternError if something was not searched: for those who must have all there is."""
        if self.unsearched:
            from geminids.core.errors import SlowPatternError

            first = self.unsearched[0]
            raise SlowPatternError(len(first.messages), first.session)
