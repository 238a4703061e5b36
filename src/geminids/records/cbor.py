"""CBOR as far as records use it: maps with keys that are text, lists, texts, numbers, yes, no and nothing.

Readers of all of CBOR take more than that: keys that stand twice, values that hold themselves, bytes behind
the end. What a signature is made over must not be read in two ways, so all of these are refused.
"""

from __future__ import annotations

import math
import struct
from typing import Any

_LENGTHS = {24: 1, 25: 2, 26: 4, 27: 8}
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_VALUES = {20: False, 21: True, 22: None}
_LARGE, _LARGE_NEGATIVE = 2, 3
"""Tags of numbers that need more than eight bytes."""


class _Kind:
    """What the first three bits of an item say."""

    UNSIGNED, NEGATIVE, BYTES, TEXT, LIST, MAP, TAG, SIMPLE = range(8)


class CborError(ValueError):
    """What does not hold of some bytes, as the end of a sentence."""


def read_cbor(content: bytes, deepest: int) -> Any:
    """The one value that bytes hold. Raises CborError."""
    reader = _Reader(content, deepest)
    value = reader.value(0)
    if reader.at != len(content):
        raise CborError(f"it goes on behind its end at byte {reader.at:,}")
    return value


class _Reader:
    def __init__(self, content: bytes, deepest: int) -> None:
        self._content = content
        self._deepest = deepest
        self.at = 0

    def value(self, depth: int) -> Any:
        start = self.at
        if start >= len(self._content):
            raise CborError("it ends too early")
        first = self._content[start]
        self.at = start + 1
        kind, detail = first >> 5, first & 31
        if kind == _Kind.SIMPLE:
            return self._simple(detail)
        number = detail if detail < 24 else self._long(detail)
        match kind:
            case _Kind.TEXT:
                return self._text(number)
            case _Kind.UNSIGNED:
                return number
            case _Kind.MAP:
                return self._map(number, depth)
            case _Kind.LIST:
                self._go_deeper(number, depth)
                return [self.value(depth + 1) for _ in range(number)]
            case _Kind.NEGATIVE:
                return -1 - number
            case _Kind.TAG if number in (_LARGE, _LARGE_NEGATIVE):
                return self._large(number)
            case _:
                raise CborError(f"it has bytes, or a tag, at byte {start:,}, which no record has")

    def _long(self, detail: int) -> int:
        size = _LENGTHS.get(detail)
        if size is None:
            raise CborError(f"it has a length that is not told at byte {self.at - 1:,}")
        return int.from_bytes(self._taken(size))

    def _taken(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._content):
            raise CborError("it ends too early")
        taken = self._content[self.at : end]
        self.at = end
        return taken

    def _text(self, size: int) -> str:
        start = self.at
        try:
            return self._taken(size).decode()
        except UnicodeDecodeError as error:
            raise CborError(f"it has a text that is no UTF-8 at byte {start + error.start:,}") from error

    def _map(self, size: int, depth: int) -> dict[str, Any]:
        self._go_deeper(2 * size, depth)
        held: dict[str, Any] = {}
        for _ in range(size):
            start = self.at
            key = self.value(depth + 1)
            if type(key) is not str:
                raise CborError(f"it has a key that is no text at byte {start:,}")
            if key in held:
                raise CborError(f"the member {key!r} stands twice in one map at byte {start:,}")
            held[key] = self.value(depth + 1)
        return held

    def _go_deeper(self, least: int, depth: int) -> None:
        """Check that there can be so many items: nobody should wait for what is not there."""
        if depth >= self._deepest:
            raise CborError(f"it is nested deeper than {self._deepest} levels")
        if least > len(self._content) - self.at:
            raise CborError("it ends too early")

    def _large(self, tag: int) -> int:
        first = self._taken(1)[0]
        if first >> 5 != _Kind.BYTES:
            raise CborError(f"it has a number that is none at byte {self.at - 1:,}")
        detail = first & 31
        number = int.from_bytes(self._taken(detail if detail < 24 else self._long(detail)))
        return number if tag == _LARGE else -1 - number

    def _simple(self, detail: int) -> Any:
        if detail in _VALUES:
            return _VALUES[detail]
        form = _FLOATS.get(detail)
        if form is None:
            raise CborError(f"it has a value that no record has at byte {self.at - 1:,}")
        (number,) = struct.unpack(form, self._taken(_LENGTHS[detail]))
        if not math.isfinite(number):
            raise CborError(f"it has a number that is none at byte {self.at - 1:,}")
        return number
