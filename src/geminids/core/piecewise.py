"""Files that lie where they can only be asked for piece by piece, as Python opens any other."""

from __future__ import annotations

import os
from io import BufferedReader, RawIOBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

BUFFER = 8 << 20
"""Bytes that are asked for at a time."""


def opened_piecewise(
    size: int, part: Callable[[int, int], bytes | memoryview], buffer: int = BUFFER
) -> BufferedReader:
    """A file of so many bytes; `part` gives those from a start to an end, and may raise OSError."""
    return BufferedReader(_Piecewise(size, part), buffer)


class _Piecewise(RawIOBase):
    """What does not fit into memory as a whole, read where it is asked for."""

    def __init__(self, size: int, part: Callable[[int, int], bytes | memoryview]) -> None:
        self._size = size
        self._part = part
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        before = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, before + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Buffer) -> int:
        with memoryview(buffer) as view:
            end = min(self._at + len(view), self._size)
            if end <= self._at:
                return 0
            content = self._part(self._at, end)
            view[: len(content)] = content
            self._at += len(content)
            return len(content)
