"""Where the next page of a search begins, as a word that can be typed."""

from __future__ import annotations

from zlib import crc32

from geminids.core.errors import GeminidsError
from geminids.core.values import NamedTuple

_LONGEST = 16
"""Digits of one of its numbers."""


class BadCursorError(GeminidsError):
    """No page of this search begins there."""

    def __init__(self, written: str) -> None:
        super().__init__(
            f"{written!r} is not a page of this search. Use the value and the words of the page before, or "
            "leave out --after to start again."
        )


class Cursor(NamedTuple):
    """What the page before knew."""

    after: int
    """How many sessions were shown; where texts are read, the number of the last one that was."""
    asked_at: int
    """When the first page was asked for, in seconds: what 7 days ago is must not move between pages."""
    state: int
    """What the index was like."""
    question: int
    """What was asked."""

    def __str__(self) -> str:
        return "-".join(f"{number:x}" for number in self)


def cursor_of(written: str) -> Cursor:
    """The cursor that was typed. Raises BadCursorError."""
    numbers = written.split("-")
    if len(numbers) != len(Cursor._fields) or not all(map(_is_number, numbers)):
        raise BadCursorError(written)
    return Cursor._make(int(number, 16) for number in numbers)


def _is_number(written: str) -> bool:
    return 0 < len(written) <= _LONGEST and not written.strip("0123456789abcdef")


def mark(*facts: object) -> int:
    """A number that is another one if any of these is."""
    return crc32(repr(facts).encode("utf-8", "backslashreplace"))
