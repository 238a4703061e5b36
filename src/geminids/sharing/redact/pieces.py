"""All strings of a session as one text, so that it is searched once; and the way back from places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from geminids.sharing.transcript import safe

SEPARATOR = b"\n\x1e\n"
"""Between two strings: no rule of ours goes over it, and what the engine finds over it is looked at again."""

_DROPPED = "".join(sorted(safe.DROPPED))
_JOINING = "\u034f\u200c\u200d\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufe0e\ufe0f"
"""Joiners, directions and selectors: not seen either, but emoji and several scripts need them."""
_UNSEEN_IN_WORD = re.compile(f"[!-~][{_DROPPED}{_JOINING}]+[!-~]")
_NOT_SHOWN = re.compile(
    rb"\x1b\[[0-?]*[@-~]|\\(?:u001[bB]|x1b|033)\[[0-9;:?]*[A-Za-z]"  # colours, also as JSON writes them
    rb"|\\u(?:0000|00[aA][dD]|034[fF]|061[cC]|180[eE]|200[b-fB-F]|202[a-eA-E]|206[0-9]|[fF][eE]0[eEfF]"
    rb"|[fF][eE][fF][fF]|[dD][bB]40\\u[dD][cC][0-9a-fA-F]{2})"  # the others as JSON writes them
    rb"|\x00|\xf3\xa0[\x80-\xbf][\x80-\xbf]|" + "|".join(_DROPPED + _JOINING).encode()
)
"""What parts a word for a program and not for a reader. It holds all that our own documents leave out."""
_SIGNS = (b"\x1b", b"\0", b"\xf3")
_WRITTEN_OUT = re.compile(rb"\\(?:u|x1b|033)")
"""A text without any of these, and without letters that are not seen, is shown as it is."""


class Span(NamedTuple):
    """Bytes of one string."""

    piece: int
    start: int
    end: int


class Pieces:
    """Different strings, joined.

    Those with colours or with letters that nobody sees stand there with and without them: for a reader a
    secret goes on behind these, and our own documents leave them out.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self.strings = list(strings)
        self._shown: dict[int, tuple[int, _Shown]] = {}
        encoded = [encode(string) for string in self.strings]
        self.text = _joined(encoded)
        if parted := self._parted(encoded):
            for piece in parted:
                seen = _Shown(encoded[piece])
                self._shown[len(encoded)] = piece, seen
                encoded.append(seen.text)
            self.text = _joined(encoded)
        sizes = (len(written) + len(SEPARATOR) for written in encoded)
        self._starts = list(accumulate(sizes, initial=1))[:-1]
        self._ends = [start + len(written) for start, written in zip(self._starts, encoded, strict=True)]

    def _parted(self, encoded: Sequence[bytes]) -> list[int]:
        """The strings that hold something which is not shown."""
        may_be = any(sign in self.text for sign in _SIGNS) or _WRITTEN_OUT.search(self.text)
        return [
            piece
            for piece, (string, written) in enumerate(zip(self.strings, encoded, strict=True))
            if (not string.isascii() and _has_unseen(string))
            or (may_be and _has_signs(written) and _NOT_SHOWN.search(written))
        ]

    def start_of(self, piece: int) -> int:
        """Where one of the strings begins."""
        return self._starts[piece]

    def place(self, start: int, end: int) -> Span | None:
        """Which bytes of which string these are; None if they are of several."""
        piece = bisect_right(self._starts, start) - 1
        if piece < 0 or end > self._ends[piece]:
            return None
        first, last = start - self._starts[piece], end - self._starts[piece]
        if piece in self._shown:
            piece, seen = self._shown[piece]
            return Span(piece, seen.written_at(first), seen.written_at(last - 1) + 1)
        return Span(piece, first, last)

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


def shown(written: bytes) -> bytes:
    """The bytes without those that a reader does not see."""
    return _NOT_SHOWN.sub(b"", written)


def _has_signs(written: bytes) -> bool:
    return any(sign in written for sign in _SIGNS) or _WRITTEN_OUT.search(written) is not None


def _has_unseen(string: str) -> bool:
    # Looking for each letter is much quicker than looking for a pattern.
    if any(letter in string for letter in _DROPPED):
        return True
    return any(letter in string for letter in _JOINING) and _UNSEEN_IN_WORD.search(string) is not None


def _joined(encoded: Sequence[bytes]) -> bytes:
    # A byte order mark at the very beginning would mean something to the engine. All is put together at once:
    # a large session need not be there twice.
    parts = list(encoded) or [b""]
    parts[0] = b"\n" + parts[0]
    parts[-1] += b"\n"
    return SEPARATOR.join(parts)


class _Shown:
    """A text as a reader sees it."""

    def __init__(self, written: bytes) -> None:
        self.text = shown(written)
        self._shown_at, self._written_at = [0], [0]
        left_out = 0
        for sequence in _NOT_SHOWN.finditer(written):
            left_out += sequence.end() - sequence.start()
            self._shown_at.append(sequence.end() - left_out)
            self._written_at.append(sequence.end())

    def written_at(self, place: int) -> int:
        """Where a shown byte was written."""
        run = bisect_right(self._shown_at, place) - 1
        return self._written_at[run] + place - self._shown_at[run]
