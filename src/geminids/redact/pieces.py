"""All strings of a session as one text, so that it is searched once; and the way back from places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

SEPARATOR = b"\n\x1e\n"
"""Between two strings: no rule of ours goes over it, and what the engine finds over it is looked at again."""


class Place(NamedTuple):
    """Bytes of one string."""

    piece: int
    start: int
    end: int


class Pieces:
    """Different strings, joined.

    Those with colours for a terminal stand there with and without them: secrets go on behind a colour.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self.strings = list(strings)
        self._shown: dict[int, tuple[int, _Shown]] = {}
        encoded = [encode(string) for string in self.strings]
        self.text = _joined(encoded)
        if any(sign in self.text for sign in _SIGNS):
            for piece, written in enumerate(encoded[:]):
                if _COLOUR.search(written):
                    shown = _Shown(written)
                    self._shown[len(encoded)] = piece, shown
                    encoded.append(shown.text)
            self.text = _joined(encoded)
        sizes = (len(written) + len(SEPARATOR) for written in encoded)
        self._starts = list(accumulate(sizes, initial=1))[:-1]
        self._ends = [start + len(written) for start, written in zip(self._starts, encoded, strict=True)]

    def place(self, start: int, end: int) -> Place | None:
        """Which bytes of which string these are; None if they are of several."""
        piece = bisect_right(self._starts, start) - 1
        if piece < 0 or end > self._ends[piece]:
            return None
        first, last = start - self._starts[piece], end - self._starts[piece]
        if piece in self._shown:
            piece, shown = self._shown[piece]
            return Place(piece, shown.written_at(first), shown.written_at(last - 1) + 1)
        return Place(piece, first, last)

    def touched(self, start: int, end: int) -> list[tuple[int, bytes]]:
        """The strings that lie between two places: where each begins, and its bytes."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, end - 1)
        starts_and_ends = zip(self._starts[first:last], self._ends[first:last], strict=True)
        return [(start, self.text[start:end]) for start, end in starts_and_ends]


def encode(string: str) -> bytes:
    """The bytes of a string; agents cut texts anywhere, and half an emoji must not stop us."""
    return string.encode("utf-8", "surrogatepass")


def decode(written: bytes) -> str:
    """The string of such bytes."""
    return written.decode("utf-8", "surrogatepass")


def _joined(encoded: Iterable[bytes]) -> bytes:
    # A byte order mark at the very beginning would mean something to the engine.
    return b"\n" + SEPARATOR.join(encoded) + b"\n"


class _Shown:
    """A text as a terminal shows it, without colour."""

    def __init__(self, written: bytes) -> None:
        self.text = _COLOUR.sub(b"", written)
        self._shown_at, self._written_at = [0], [0]
        left_out = 0
        for sequence in _COLOUR.finditer(written):
            left_out += sequence.end() - sequence.start()
            self._shown_at.append(sequence.end() - left_out)
            self._written_at.append(sequence.end())

    def written_at(self, place: int) -> int:
        """Where a shown byte was written."""
        run = bisect_right(self._shown_at, place) - 1
        return self._written_at[run] + place - self._shown_at[run]


_SIGNS = (b"\x1b[", b"1b[", b"033[")
_COLOUR = re.compile(rb"\x1b\[[0-?]*[@-~]|\\(?:u001b|x1b|033)\[[0-9;?]*[A-Za-z]")
"""As a terminal gets them, and as JSON and programs write them."""
