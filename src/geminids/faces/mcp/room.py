"""How much fits into an answer: its text and its JSON are both measured, since agents pass on one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from geminids.faces.documents.base import Document
from geminids.sharing.export.data import encode

USUAL = 8_000
"""Bytes of an answer, unless more is asked for."""
LEAST = 2_000
"""Bytes that can be asked for: what stands around an item needs its place too."""
UNKNOWN_CLIENT = 12_000
"""Characters that reach the model of a client that nobody knows."""
MARGIN = 500
"""Characters that an agent may put around an answer."""

Item = TypeVar("Item", bound=Document)


def most_for(characters: int | None) -> int:
    """Bytes that an answer may have at most, for a client that hands on so many characters."""
    return (characters or UNKNOWN_CLIENT) - MARGIN


def size(document: Document, text: str) -> int:
    """The bytes of an answer: of its text or its JSON, whichever has more."""
    return max(len(encode(document)), len(text.encode(errors="replace")))


def that_fit(items: Sequence[Item], room: int, told: Callable[[Item], str]) -> int:
    """How many of some items fit, from the first on."""
    encoded = written = 0
    for number, item in enumerate(items):
        encoded += len(encode(item)) + 1
        written += len(told(item).encode(errors="replace")) + 1
        if max(encoded, written) > room:
            return number
    return len(items)


def fitting(
    items: Sequence[Item], room: int, told: Callable[[Item], str], shorter: Callable[[Item], Item | None]
) -> Sequence[Item]:
    """The items that fit, from the first on; if not even that one does, as much of it as does."""
    number = that_fit(items, room, told)
    if number or not items:
        return items[:number]
    first = items[0]
    while not that_fit([first], room, told) and (less := shorter(first)) is not None:
        first = less
    return [first]
