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

from geminids.sources.gemini.traits import ANSWERED, UNIQUE, Trait, traits
from geminids.sources.gemini.turns import Turn


class Originals:
    """All turns so far, in order, to find the one that a piece is a copy of."""

    def __init__(self, turns: Sequence[Turn], alive: Sequence[Turn], *, newest_first: bool) -> None:
        self._newest_first = newest_first
        self._turns: list[Turn] = []
        self._places: dict[Trait, list[int]] = {}
        self._alive_places: dict[Trait, list[int]] = {}
        alive_ids = {turn.id for turn in alive}
        for turn in turns:
            for trait in turn.traits:
                self._places.setdefault(trait, []).append(len(self._turns))
                if turn.id in alive_ids:
                    self._alive_places.setdefault(trait, []).append(len(self._turns))
                self._turns.append(turn)
        self._reached = len(self._turns) if newest_first else -1

    def find(self, trait: Trait) -> Turn | None:
        """The original with this trait.

        Of equal words, one that the agent still sees and that was not passed yet; else one it has
        dropped, as when a saved chat is loaded again.
        """
        if trait[0] in UNIQUE:
            place = self._once(trait)
        else:
            place = self._next(self._alive_places.get(trait, ()))
            if place is None:
                place = self._next(self._places.get(trait, ()))
        if place is None:
            return None
        if trait[0] != "context":
            self._reached = min(self._reached, place) if self._newest_first else max(self._reached, place)
        return self._turns[place]

    def _once(self, trait: Trait) -> int | None:
        places = self._places.get(trait)
        if not places and trait[0] == "response":
            # Before 0.44 answers were recorded with their calls only.
            places = self._places.get((ANSWERED, trait[1]))
        return places[0] if places else None

    def _next(self, places: Sequence[int]) -> int | None:
        """The nearest place beyond the one reached."""
        if self._newest_first:
            index = bisect_left(places, self._reached) - 1
        else:
            index = bisect_right(places, self._reached)
        return places[index] if 0 <= index < len(places) else None


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
            self.new_pieces.reverse()
