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
UNSEEN = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x115F), (0x1160, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
    *((0x1BCA0, 0x1BCA3), (0x1D159, 0x1D159), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""Ranges of the letters that are not seen: Default_Ignorable_Code_Point, annotations, and what looks blank.

A test derives them from the database of Unicode. Emoji and several scripts need some, so those that our own
documents do not drop matter only inside of a word.
"""
_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSEEN)
_UNSEEN_IN_WORD = re.compile(f"[!-~][{_CLASS}]+[!-~]")
_ASCII = bytes(range(0x80))


def _in_bytes(first: int, last: int) -> bytes:
    """Return a pattern for letters that differ in their last byte alone."""
    start, end = chr(first).encode(), chr(last).encode()
    return start[:-1] + b"[" + start[-1:] + b"-" + end[-1:] + b"]"


def _in_json(first: int, last: int) -> str:
    """Return a pattern for letters as JSON writes them, which differ in their last digit alone."""
    digits = [f"{code:04x}" for code in (first, last)]
    before = "".join(f"[{sign}{sign.upper()}]" if sign.isalpha() else sign for sign in digits[0][:3])
    signs = "".join(f"{code % 16:x}{code % 16:X}" for code in range(first, last + 1))
    return f"{before}[{signs}]"


_UNSEEN_BYTES = re.compile(
    b"|".join(_in_bytes(first, last) for first, last in UNSEEN if last < 0xE0000) + rb"|\xf3\xa0"
)
_NOT_SHOWN = re.compile(
    rb"\x1b\[[0-?]*[@-~]|\\(?:u001[bB]|x1b|033)\[[0-9;:?]*[A-Za-z]"  # colours, also as JSON writes them
    rb"|\\u(?:0000|"
    + "|".join(_in_json(first, last) for first, last in UNSEEN if last < 0x10000).encode()
    + rb"|[dD]834\\u[dD][dD](?:59|7[0-9aA])|[dD]82[fF]\\u[dD][cC][aA][0-3]"
    rb"|[dD][bB]40\\u[dD][c-dC-D][0-9a-fA-F]{2})"  # the others as JSON writes them
    rb"|\x00|\xf3\xa0[\x80-\xbf][\x80-\xbf]|" + _UNSEEN_BYTES.pattern
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
            if (len(string) != len(written) and _has_unseen(string, written))
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


def _has_unseen(string: str, written: bytes) -> bool:
    # Most letters of most texts are ASCII: few are left to be looked at.
    if not _UNSEEN_BYTES.search(written.translate(None, _ASCII)):
        return False
    return any(letter in string for letter in _DROPPED) or _UNSEEN_IN_WORD.search(string) is not None


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
