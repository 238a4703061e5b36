"""Files that others may be writing, read as they were at one moment.

A file is opened once. What it looks like must be the same before and after it was read, through what is open
and by its name, and there must be as many bytes as it says. Times are only as fine as the system's clock
ticks: a file that was written just now is read twice.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from hashlib import sha256
from typing import Protocol

TICK_NS = 20_000_000
"""Two changes of a file may have the same time if they are not further apart than this."""
_PAUSE = 0.01
_PIECE = 4 << 20
_HOW = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Content(Protocol):
    """Bytes that can be read in any order."""

    @property
    def size(self) -> int: ...  # noqa: D102
    def read_at(self, offset: int, length: int) -> bytes | memoryview:
        """So many bytes from there. Raises TornError if there are fewer."""


class TornError(Exception):
    """A file changed while it was read."""


class SteadyFile:
    """A plain file that is open for reading. Raises OSError, also for what is no plain file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._handle = os.open(path, _HOW)
        self.facts = os.fstat(self._handle)
        if not stat.S_ISREG(self.facts.st_mode):
            self.close()
            raise OSError(errno.EINVAL, "not a plain file", path)
        self._is_fresh = time.time_ns() - max(self.facts.st_mtime_ns, self.facts.st_ctime_ns) < TICK_NS

    def __enter__(self) -> SteadyFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """How long it was when it was opened."""
        return self.facts.st_size

    def read_at(self, offset: int, length: int) -> bytes:
        """So many bytes from there. Raises TornError if there are fewer."""
        pieces = []
        while length:
            piece = os.pread(self._handle, length, offset)
            if not piece:
                raise TornError(self.path)
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def check(self, digest: bytes) -> None:
        """Make sure that what was read, of which this is the digest, is of one moment. Raises TornError."""
        if self._is_fresh:
            # Somebody may have been stopped in the middle of writing.
            time.sleep(_PAUSE)
            if self._digest() != digest:
                raise TornError(self.path)
        before = _looks(self.facts)
        if os.pread(self._handle, 1, self.size) or _looks(os.fstat(self._handle)) != before:
            raise TornError(self.path)
        try:
            by_name = os.lstat(self.path)
        except FileNotFoundError:
            # Deleted under our hands: what was read is whole all the same, and the last copy there is.
            return
        if _looks(by_name) != before:
            raise TornError(self.path)

    def _digest(self) -> bytes:
        digest = sha256()
        for offset in range(0, self.size, _PIECE):
            digest.update(self.read_at(offset, min(_PIECE, self.size - offset)))
        return digest.digest()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._handle)


class GivenContent:
    """Bytes in memory."""

    def __init__(self, content: bytes) -> None:
        self._view = memoryview(content)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self._view)

    def read_at(self, offset: int, length: int) -> memoryview:
        """So many bytes from there."""
        return self._view[offset : offset + length]


def _looks(facts: os.stat_result) -> tuple[int, ...]:
    # Who changes a file and sets its time back cannot set back that one.
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_dev
