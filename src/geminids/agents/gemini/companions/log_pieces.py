"""A prompt log of any size: only the end of it, or piece by piece.

It may be written to while it is read, so it is never mapped into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from geminids.agents.gemini.read.records import FileLog
from geminids.core.model import ProblemKind

_CHUNK = 1_000_000
_LONGEST_READ = 16_000_000
"""So many bytes of a line are looked at; of a longer one, its beginning and its end."""
_END = 4_096
_NEXT_LINE = b"\n  {"
"""How the CLI begins a line of its log; no text in JSON holds a line break as such."""


def seek_tail(log: FileLog, stream: BinaryIO, limit: int | None) -> int:
    """Go to the last bytes of a file, as many as may be read; the log learns how long the file is now."""
    log.size = stream.seek(0, os.SEEK_END)
    begin = 0 if limit is None else max(0, log.size - max(limit, 0))
    stream.seek(begin)
    return begin


def leave_unread(log: FileLog, end: int) -> None:
    """Report what stands before the end of a file."""
    detail = "longer than what this command reads: only the end was read"
    log.report(ProblemKind.LEFT_UNREAD, detail, None, 0, end)


def is_laid_out(stream: BinaryIO, begin: int) -> bool:
    """Whether lines stand where the CLI puts them; hardly any is longer than what is looked at here."""
    found = _NEXT_LINE in stream.read(16 * _CHUNK)
    stream.seek(begin)
    return found


class Piece(NamedTuple):
    """The bytes from the beginning of one line to that of the next; of a long one, without the middle."""

    start: int
    raw: bytes
    left_out: int
    """How many bytes the middle had."""
    line: int | None
    """On which line of the file it begins, if that is known."""

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + len(self.raw) + self.left_out

    @property
    def last_bytes(self) -> bytes:
        """So many as are kept of a line whose middle is left out."""
        return self.raw[-_END:]


def pieces(stream: BinaryIO, begin: int) -> Iterator[Piece]:
    """What is left of a stream, cut where lines begin; the first piece is what stands before them."""
    held = _Held(begin)
    while chunk := stream.read(_CHUNK):
        held.add(chunk)
        while piece := held.cut_piece():
            yield piece
        held.leave_out_middle()
    yield held.rest()


class _Held:
    """The bytes of a stream that no piece was made of yet."""

    def __init__(self, begin: int) -> None:
        self._bytes = bytearray()
        self._start = begin
        self._left_out = 0
        self._searched = 0
        """How many bytes are known to hold no beginning of a line."""
        # Counting the lines of what is left unread would be to read it.
        self._line = None if begin else 1

    def add(self, chunk: bytes) -> None:
        """Take in the next bytes."""
        self._bytes += chunk

    def cut_piece(self) -> Piece | None:
        """What stands before the next beginning of a line; None if there is none yet."""
        found = self._bytes.find(_NEXT_LINE, self._searched)
        if found < 0:
            self._searched = max(0, len(self._bytes) - len(_NEXT_LINE) + 1)
            return None
        return self._cut(found + len(_NEXT_LINE) - 1)

    def rest(self) -> Piece:
        """All that is left."""
        return self._cut(len(self._bytes))

    def leave_out_middle(self) -> None:
        """Keep only the beginning and the end of very many bytes."""
        too_many = len(self._bytes) - _LONGEST_READ - _END
        if too_many > 0:
            del self._bytes[_LONGEST_READ : _LONGEST_READ + too_many]
            self._left_out += too_many
            self._searched -= too_many

    def _cut(self, size: int) -> Piece:
        raw = bytes(self._bytes[:size])
        piece = Piece(self._start, raw, self._left_out, self._line)
        del self._bytes[:size]
        self._start += size + self._left_out
        self._left_out = self._searched = 0
        if self._line is not None:
            self._line += raw.count(b"\n")
        return piece
