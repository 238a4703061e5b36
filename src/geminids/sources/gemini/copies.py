"""Recognising copies: messages that a checkpoint restates under new ids.

When Gemini CLI masks, compresses or reloads its history, it writes turns again with new ids, the
present time, and without model, tokens and calls; neighbouring turns may be fused into one. They are
matched with the originals piece by piece: the same call, the same answer to a call, or the same
words by the same side, in the same order.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from geminids.sources.gemini.content import parts_of
from geminids.sources.gemini.records import calls_of

if TYPE_CHECKING:
    from geminids.sources.gemini.replay import Turn

Trait = tuple[str, str]
"""What a piece of a message is recognised by."""

_ANSWERED = "answered"
"""The answer to a call that is recorded with the call itself."""
_UNIQUE = frozenset({"call", "response", _ANSWERED, "context"})
"""What is there once: it is the same wherever it is repeated."""
_UNSEEN = re.compile("<!--.*?-->|[\u200b-\u200f\u2060\ufeff]", re.DOTALL)
_CONTEXT = re.compile(r"\s*<(session_context|hook_context)>")


def traits(value: dict[str, Any]) -> Iterator[tuple[Trait, Any]]:
    """What the pieces of a message are recognised by, each with the piece; calls recorded beside it too."""
    side = str(value.get("type"))
    for piece in parts_of(value.get("content")):
        trait = _trait(side, piece)
        if trait is not None:
            yield trait, piece
    for call in calls_of(value):
        if isinstance(call.get("id"), str):
            yield ("call", call["id"]), None
            if call.get("result"):
                yield (_ANSWERED, call["id"]), None


def _trait(side: str, piece: object) -> Trait | None:
    match piece:
        case {"thought": True}:
            return None
        case {"text": str(text)}:
            words = " ".join(_UNSEEN.sub("", text).split())
            place = "context" if _CONTEXT.match(text) else side
            return (place, words) if words else None
        case {"functionCall": {"id": str(call_id)}}:
            return "call", call_id
        case {"functionResponse": {"id": str(call_id)}}:
            return "response", call_id
        case {"functionCall": {"name": str(name)}}:
            return "call of", name
        case {"functionResponse": {"name": str(name)}}:
            return "response of", name
        case {"inlineData": {"data": str(data)}}:
            return "data", data
        case _:
            return "piece", repr(piece)


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
        if trait[0] in _UNIQUE:
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
            places = self._places.get((_ANSWERED, trait[1]))
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
