"""Recognising copies: messages that a checkpoint restates under new ids.

When Gemini CLI masks, compresses or reloads its history, it writes turns again with new ids, the
present time, and without model, tokens and calls; neighbouring turns may be fused into one. They are
matched with the originals piece by piece: the same call, the same answer to a call, or the same
words by the same side, in the same order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from geminids.agents.gemini.read.traits import ANSWERED, ANYWHERE, UNIQUE, Trait, traits
from geminids.agents.gemini.read.turns import Turn


class _Order:
    """Turns in one order, and how far a restatement has come in it."""

    def __init__(self, turns: Sequence[Turn], *, newest_first: bool) -> None:
        self._newest_first = newest_first
        self.turns: list[Turn] = []
        self._places: dict[Trait, list[int]] = {}
        self._at: dict[tuple[str, Trait], int] = {}
        for turn in turns:
            for trait in turn.traits:
                self._places.setdefault(trait, []).append(len(self.turns))
                self._at[turn.id, trait] = len(self.turns)
                self.turns.append(turn)
        self._reached = len(self.turns) if newest_first else -1

    def once(self, trait: Trait) -> int | None:
        """The first place with a trait that is there once."""
        places = self._places.get(trait)
        return places[0] if places else None

    def next(self, trait: Trait) -> int | None:
        """The nearest place beyond the one reached."""
        places = self._places.get(trait, ())
        if self._newest_first:
            index = bisect_left(places, self._reached) - 1
        else:
            index = bisect_right(places, self._reached)
        return places[index] if 0 <= index < len(places) else None

    def reach(self, place: int) -> None:
        """Go on from this place."""
        self._reached = min(self._reached, place) if self._newest_first else max(self._reached, place)

    def pass_by(self, turn: Turn, trait: Trait) -> None:
        """Go on from this turn, if it is one of these."""
        place = self._at.get((turn.id, trait))
        if place is not None:
            self.reach(place)


class Originals:
    """All turns so far, to find the one that a piece is a copy of.

    What the agent still sees is restated in the order in which it sees it: a summary stands before
    turns that are older. What it has dropped is looked for in the order in which it was written.
    """

    def __init__(self, turns: Sequence[Turn], alive: Sequence[Turn], *, newest_first: bool) -> None:
        self._alive = _Order(alive, newest_first=newest_first)
        self._all = _Order(turns, newest_first=newest_first)

    def find(self, trait: Trait) -> Turn | None:
        """The original with this trait.

        Of equal words, one that the agent still sees and that was not passed yet; else one it has
        dropped, as when a saved chat is loaded again.
        """
        find = _Order.once if trait[0] in UNIQUE else _Order.next
        for order, other in ((self._alive, self._all), (self._all, self._alive)):
            for known in _known_as(trait):
                place = find(order, known)
                if place is not None:
                    turn = order.turns[place]
                    if trait[0] not in ANYWHERE:
                        if order is self._alive or not turn.was_born_restated:
                            order.reach(place)
                        if not turn.was_born_restated:
                            other.pass_by(turn, known)
                    return turn
        return None


def _known_as(trait: Trait) -> tuple[Trait, ...]:
    """How an original may be known; before 0.44 answers were recorded with their calls only."""
    return (trait, (ANSWERED, trait[1])) if trait[0] == "response" else (trait,)


NOTHING = Originals([], [], newest_first=False)
"""For what cannot be a copy."""


class Copy:
    """What a restated message turned out to be: copies of turns, and what is new in it."""

    def __init__(self, value: dict[str, Any], originals: Originals, *, newest_first: bool) -> None:
        self.of: list[Turn] = []
        self.new_pieces: list[Any] = []
        found = list(traits(value))
        for trait, piece in reversed(found) if newest_first else found:
            original = originals.find(trait)
            if original is None:
                self.new_pieces.append(piece)
            elif original not in self.of:
                self.of.append(original)
        self.new_pieces = [piece for piece in self.new_pieces if piece is not None]
        if newest_first:
            self.of.reverse()
            self.new_pieces.reverse()
