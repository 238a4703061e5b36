"""The text of a rollout, plain or compressed.

Python reads zstd itself since 3.14; before, a package does. A damaged archive gives what could be unpacked
of it. A small archive may hold no end of bytes: it is unpacked in pieces, and only so far.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from geminids.agents.codex.read.rollouts import PACKED
from geminids.core.disk import REAL, Disk
from geminids.reading.bounded import EDGE, HOW_TO_READ_MORE, Text, read_bounded, text_of

FARTHER = 4
"""How many times as much as is read is unpacked at most, on the way to the end of an archive."""
RATIO = 1_000
"""How many times the size of its archive a text may have. Rollouts come to thirty, full of repetitions."""
_PLAUSIBLE = 64_000_000
"""Bytes that any archive may hold."""
_PIECE = 1 << 16


class Opened(msgspec.Struct, frozen=True):
    """The text of a rollout, and what it took to get it."""

    text: Text
    size: int
    """Bytes on the disk."""
    is_packed: bool = False
    trouble: str | None = None
    """What is wrong with the archive."""


def opened(path: Path, disk: Disk = REAL) -> Opened:
    """The text of a rollout. Raises OSError."""
    if not path.name.endswith(PACKED):
        text = read_bounded(path, disk)
        return Opened(text, text.size)
    with disk.opened(path) as stream:
        archive = _Archive(stream, disk.largest())
        text = text_of(archive, disk.largest())
        return Opened(text, archive.stored, is_packed=True, trouble=archive.trouble)


def unpacked(path: Path, disk: Disk = REAL) -> bytes | None:
    """The text of a packed rollout, as far as it can be unpacked; None if it is not packed, or refused.

    Raises OSError if it is too large to be read whole.
    """
    if not path.name.endswith(PACKED):
        return None
    try:
        text = opened(path, disk).text
    except OSError:
        return None
    return text.filled(disk.largest())


def unpacked_size(path: Path, disk: Disk = REAL) -> int | None:
    """How long the text of a packed rollout is; None if it is not packed, or refused."""
    if not path.name.endswith(PACKED):
        return None
    try:
        with disk.opened(path) as stream:
            archive = _Archive(stream, disk.largest())
            deque(archive.chunks(), maxlen=0)
            return archive.size()
    except OSError:
        return None


def _zstd() -> Any:
    # Few homes hold an archive, and every command would pay for loading it.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd


class _Archive:
    """The text in an archive, unpacked piece by piece from the first byte whenever it is asked for."""

    def __init__(self, stream: BinaryIO, largest: int) -> None:
        self._stream = stream
        self.stored = stream.seek(0, os.SEEK_END)
        self._most = FARTHER * largest
        self._length = 0
        self.trouble: str | None = None
        """What is wrong with it."""
        self.refused: str | None = None

    def at_least(self) -> int:
        return 0

    def size(self) -> int:
        return self._length

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """The text as far as it can be unpacked; what stops it is the trouble."""
        zstd = _zstd()
        at, self.trouble, self.refused = 0, None, None
        try:
            for piece in _unpacked(self._stream, zstd):
                yield at, piece
                at += len(piece)
                self._length = max(self._length, at)
                self.refused = self._refusal(at)
                if self.refused:
                    return
        except EOFError:
            self.trouble = "the archive is cut off"
        except zstd.ZstdError as error:
            self.trouble = f"the archive is damaged: {error}"

    def _refusal(self, length: int) -> str | None:
        """Why no more is unpacked than this."""
        if length > max(_PLAUSIBLE, RATIO * self.stored):
            return f"it unpacks to more than {RATIO:,} times its own size: only its beginning is read"
        if length > self._most:
            limit = f"it unpacks to more than {self._most:,} bytes"
            return f"{limit}: only its beginning is read. {HOW_TO_READ_MORE}"
        return None

    def read(self, start: int, end: int) -> bytes:
        # Its value is not copied.
        wanted = BytesIO()
        for at, piece in self.chunks():
            if at >= end:
                break
            wanted.write(piece[max(0, start - at) : end - at])
        return wanted.getvalue()

    def last(self) -> tuple[int, bytes]:
        pieces = deque((piece for _, piece in self.chunks()), maxlen=EDGE // _PIECE)
        if self.refused:
            # It is not come to.
            return self._length, b""
        content = b"".join(pieces)
        return self._length - len(content), content


def _unpacked(stream: BinaryIO, zstd: Any) -> Iterator[bytes]:
    """The text in a stream, piece by piece. Raises EOFError if it is cut off, and ZstdError."""
    stream.seek(0)
    unpacker = zstd.ZstdDecompressor()
    stored = stream.read(_PIECE)
    while stored or not unpacker.needs_input:
        if piece := unpacker.decompress(stored, _PIECE):
            yield piece
        if unpacker.eof:
            # Archives may follow one another in a file.
            stored = unpacker.unused_data or stream.read(_PIECE)
            if not stored:
                return
            unpacker = zstd.ZstdDecompressor()
        else:
            stored = stream.read(_PIECE) if unpacker.needs_input else b""
    raise EOFError
