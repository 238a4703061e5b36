"""Words inside the session that is read: where they stand, and which of these places one is at."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.errors import GeminidsError
from geminids.faces.tui.matches import while_typed
from geminids.query.search.in_session import texts_of

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Places
    from geminids.faces.tui.browser.told import Told
    from geminids.library import Library

_MOST = 10_000
"""Places that are counted in one text."""


def places_of_words(typed: str) -> Places:
    """What tells where words stand as they were typed, in any case and wherever lines break in them."""
    pattern = re.compile(r"\s+".join(map(re.escape, typed.split())), re.IGNORECASE)

    def places(text: str) -> Sequence[tuple[int, int]]:
        return [found.span() for _, found in zip(range(_MOST), pattern.finditer(text), strict=False)]

    return places


def found_again(library: Library, told: Told, searched: str) -> Found | None:
    """Where the words of a search stand; None if they are none, or cannot be told."""
    try:
        places = library.places_of(while_typed(searched))
    except GeminidsError:
        return None
    found = found_in(told, searched, places)
    may_come = bool(not told.is_whole and places(searched))
    return found if found.total or found.hidden or may_come else None


class Match(NamedTuple):
    """One of the places where the words stand."""

    number: int
    """Among all, from 0."""
    entry: int
    """The entry of the story in which it is."""
    nth: int
    """Which of those in the entry, from 0."""
    times: int
    """How many there are in it."""


class Found:
    """All places of some words in a session."""

    def __init__(self, typed: str, places: Places, counts: Sequence[tuple[int, int]], hidden: int) -> None:
        """`counts` has the entries that hold them, and how often; `hidden` are in what is not told."""
        self.typed = typed
        self.places = places
        self.hidden = hidden
        self._entries = [entry for entry, _ in counts]
        self._before = [0, *accumulate(times for _, times in counts)]

    @property
    def total(self) -> int:
        """How many there are in what is told."""
        return self._before[-1]

    def match(self, number: int) -> Match | None:
        """One of them by its number; after the last comes the first."""
        if not self.total:
            return None
        wanted = number % self.total
        at = bisect_right(self._before, wanted) - 1
        first = self._before[at]
        return Match(wanted, self._entries[at], wanted - first, self._before[at + 1] - first)

    def first_from(self, entry: int) -> Match | None:
        """The first one in an entry or after it."""
        return self.match(self._before[bisect_left(self._entries, entry)])

    def match_at(self, entry: int, nth: int) -> Match | None:
        """The same place as before, among what is found now; None if it is not among it."""
        at = bisect_left(self._entries, entry)
        if at == len(self._entries) or self._entries[at] != entry:
            return None
        return self.match(min(self._before[at] + nth, self._before[at + 1] - 1))

    def last_before(self, entry: int) -> Match | None:
        """The last one before an entry."""
        return self.match(self._before[bisect_left(self._entries, entry)] - 1)


def found_in(told: Told, typed: str, places: Places) -> Found:
    """Look through a whole session."""
    turns = {turn.place: (number, turn.parts) for number, turn in told.story.turns()}
    counts: list[tuple[int, int]] = []
    hidden = 0
    for place, message in enumerate(told.session.messages):
        number, shown = turns.get(place, (0, ()))
        seen = 0
        for part in message.parts:
            times = sum(len(places(words.text)) for words in texts_of(part))
            if any(part is one for one in shown):
                seen += times
            else:
                hidden += times
        if seen:
            counts.append((number, seen))
    return Found(typed, places, counts, hidden)
