"""Session files of any size, read in bounded memory.

A file is read whole as long as it, and what it becomes in memory, is not larger than its disk allows
(`Disk.largest`). Of a larger one the beginning and the end are read, and what lies between is reported. Long
runs of NUL bytes, which a crash leaves and a sparse file consists of, are never held; where the system knows
of a hole, it is not even read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from io import UnsupportedOperation
from itertools import takewhile
from typing import BinaryIO, NamedTuple, Protocol

from geminids.core.disk import AnyPath, Disk
from geminids.core.model import ProblemKind

EDGE = 4_000_000
"""Bytes that are read of the beginning, and of the end, of what is too large to be read whole."""
_PIECE = 1 << 16
_LITTLE = 1 << 12
_SMALL = 16 * _PIECE
"""Bytes of a file that needs no look beforehand, whatever it holds."""
_VALUE, _LINE = 64, 1_024
"""What a value and a line cost at least, in bytes of a usual session: tiny ones cost more than they weigh."""
_NOT_COUNTED = bytes(set(range(256)) - set(b"{[,\n"))
_NULS = bytes(_PIECE)
_SMALLEST_HOLE = 1 << 20
_MOST_HOLES = 10_000
HOW_TO_READ_MORE = (
    "`largest-file` under [read] in settings.toml says how much; then `geminids sync --full` reads it again"
)
NEVER_WRITTEN = "nothing but NUL bytes: nothing was ever written here"


class Portion(NamedTuple):
    """Bytes of a file that were read."""

    start: int
    content: bytes
    line: int = 1
    """On which line of the file they begin; 0 if nobody counted what stands before them."""

    @property
    def end(self) -> int:
        """Where they end."""
        return self.start + len(self.content)


class Gap(NamedTuple):
    """Bytes of a file that were not, and why."""

    start: int
    end: int
    kind: ProblemKind
    detail: str


class Text(NamedTuple):
    """What a file holds: portions and gaps, one after another, every byte in one of them."""

    size: int
    pieces: tuple[Portion | Gap, ...]

    @classmethod
    def of(cls, content: bytes) -> Text:
        """A file that was read whole."""
        return cls(len(content), (Portion(0, content),))

    @property
    def whole(self) -> bytes | None:
        """All of it; None if there are gaps."""
        match self.pieces:
            case (Portion() as only,):
                return only.content
            case _:
                return None

    def filled(self, largest: int) -> bytes:
        """All of it, NUL bytes included. Raises OSError if that is too much."""
        if self.size > largest or any(gap.kind is ProblemKind.LEFT_UNREAD for gap in self.gaps):
            raise OSError(errno.EFBIG, f"it is too large to be read whole. {HOW_TO_READ_MORE}")
        return self.whole or b"".join(
            bytes(piece.end - piece.start) if isinstance(piece, Gap) else piece.content
            for piece in self.pieces
        )

    @property
    def beginning(self) -> bytes:
        """The first bytes that were read; none if there are none."""
        return next((portion.content for portion in self.portions), b"")

    @property
    def portions(self) -> list[Portion]:
        """What was read."""
        return [piece for piece in self.pieces if isinstance(piece, Portion)]

    @property
    def gaps(self) -> list[Gap]:
        """What was not. It is reported first: of very many problems, only the first are told."""
        return [piece for piece in self.pieces if isinstance(piece, Gap)]


class Readable(Protocol):
    """Bytes of which not all may fit into memory."""

    refused: str | None
    """Why no more of them are given; known once all that are were gone through."""

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """All of them from the first, in little pieces with their places; holes may be left out."""
        ...

    def at_least(self) -> int:
        """How many there are, as far as that is known beforehand."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """Those between two places."""
        ...

    def last(self) -> tuple[int, bytes]:
        """The last ones, as many as `EDGE`, and where they begin."""
        ...

    def size(self) -> int:
        """How many there are, once all were gone through."""
        ...


def read_bounded(path: AnyPath, disk: Disk) -> Text:
    """What a file holds, as far as it is not too large. Raises OSError."""
    with disk.opened(path) as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if size <= _SMALL:
            return Text.of(stream.read())
        largest = disk.largest()
        if size * _VALUE < largest and (content := _read_if_light(stream, size, largest)) is not None:
            return Text.of(content)
        return text_of(_PlainFile(stream, size), largest)


def _read_if_light(stream: BinaryIO, size: int, largest: int) -> bytes | None:
    """All bytes of a file that is no burden even if each of them is a value; None if it may be one.

    Nearly every session is among these, and is not looked through before it is read.
    """
    content = stream.read()
    weight = content.count(b"\n") * _LINE + size * _VALUE
    if weight <= largest and len(content) == size and b"\0" not in content:
        return content
    stream.seek(0)
    return None


def read_whole(path: AnyPath, disk: Disk) -> bytes:
    """All that a file holds. Raises OSError, also if that is too much."""
    return read_bounded(path, disk).filled(disk.largest())


def text_of(readable: Readable, largest: int) -> Text:
    """What there is, or its beginning and its end."""
    is_known_to_be_larger = readable.at_least() > largest
    seen = _Look(EDGE if is_known_to_be_larger else largest)
    for start, chunk in readable.chunks():
        if not seen.take_in(start, chunk):
            is_dense = seen.is_dense and not is_known_to_be_larger
            return _edges(readable, seen, _too_much(largest, is_dense=is_dense))
    if readable.refused:
        return _edges(readable, seen, "")
    size = readable.size()
    if seen.data == [(0, size)]:
        return Text.of(readable.read(0, size))
    return Text(size, tuple(_with_gaps(_portions(readable, seen.data), size)))


class _Look:
    """Goes through bytes without keeping them: where there is anything, and how much it weighs."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._read = self._lines = self._values = 0
        self.data: list[tuple[int, int]] = []
        """Where more stands than NUL bytes."""
        self.head = 0
        """Up to where the beginning is read if all is too much."""
        self.is_dense = False
        """Whether it is too much because of how many lines and values there are."""

    def take_in(self, start: int, chunk: bytes) -> bool:
        """Look at the next bytes; False if that is too much."""
        end = start + len(chunk)
        self._read += len(chunk)
        if not is_nothing(chunk):
            density = self._weigh(chunk)
            if max(self._read, density) <= EDGE or not self.head:
                self.head = end
            if self.data and self.data[-1][1] == start:
                self.data[-1] = (self.data[-1][0], end)
            else:
                self.data.append((start, end))
            self.is_dense = density > self._largest
        return not self.is_dense and self._read <= self._largest

    def _weigh(self, chunk: bytes) -> int:
        self._lines += (lines := chunk.count(b"\n"))
        self._values += len(chunk.translate(None, _NOT_COUNTED)) - lines
        return self._lines * _LINE + self._values * _VALUE


def is_nothing(chunk: bytes) -> bool:
    """Whether there is nothing but NUL bytes."""
    return chunk[:1] == b"\0" and (chunk == _NULS if len(chunk) == _PIECE else not chunk.strip(b"\0"))


def _portions(readable: Readable, data: Iterable[tuple[int, int]]) -> Iterator[Portion]:
    """The bytes between NULs, with the lines on which they begin: nothing else can end a line."""
    line = 1
    for start, end in data:
        content = readable.read(start, end)
        yield Portion(start, content, line)
        line += content.count(b"\n")


def _too_much(largest: int, *, is_dense: bool) -> str:
    what = "more lines and values" if is_dense else "more"
    limit = f"{what} than is read of one file ({largest:,} bytes)"
    return f"{limit}: only its beginning and end are. {HOW_TO_READ_MORE}"


def _edges(readable: Readable, seen: _Look, detail: str) -> Text:
    """The beginning and the end, in whole lines where there are any."""
    begin = [(start, min(end, seen.head)) for start, end in seen.data if start < seen.head]
    head = list(_portions(readable, begin))
    if head:
        content = head[-1].content
        content = (
            content[: _light_pieces(content, range(0, len(content), _LITTLE)) * _LITTLE] or content[:_LITTLE]
        )
        cut = content.rfind(b"\n") + 1
        head[-1] = head[-1]._replace(content=content[:cut] if cut else content)
    start, content = readable.last()
    size = readable.size()
    start, content = max(start, seen.head), content[max(0, seen.head - start) :]
    light = _LITTLE * _light_pieces(content, range(len(content) - _LITTLE, -_LITTLE, -_LITTLE))
    dropped = max(0, len(content) - light)
    start, content = _from_first_line(start + dropped, content[dropped:])
    tail = [] if is_nothing(content) or not content else [Portion(start, content, 0)]
    # On the way to the end, more may have stood against it.
    detail = readable.refused or detail
    return Text(size, tuple(_with_gaps([*head, *tail], size, detail, head[-1].end if head else 0)))


def _light_pieces(content: bytes, starts: Iterable[int]) -> int:
    """How many little pieces, taken in this order, do not weigh more than an edge."""
    look = _Look(EDGE)
    pieces = (content[max(0, start) : start + _LITTLE] for start in starts)
    return sum(1 for _ in takewhile(lambda piece: look.take_in(0, piece), pieces))


def _from_first_line(start: int, content: bytes) -> tuple[int, bytes]:
    """These bytes without the rest of a line at their beginning, if a line begins in them."""
    begin = content.find(b"\n") + 1
    return start + begin, content[begin:]


def _with_gaps(
    portions: Iterable[Portion], size: int, unread: str | None = None, head: int = 0
) -> Iterator[Portion | Gap]:
    """Portions with what lies between them: never written, or left unread if it lies after the head."""
    at = 0
    for piece in (*portions, None):
        start = piece.start if piece else size
        if at < start:
            is_unread = unread is not None and at >= head
            kind = ProblemKind.LEFT_UNREAD if is_unread else ProblemKind.BAD_JSON
            yield Gap(at, start, kind, (unread if is_unread else None) or NEVER_WRITTEN)
        if piece:
            yield piece
            at = piece.end


class _PlainFile:
    """A file that can be read at any place."""

    refused: str | None = None

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._extents = _extents(stream, size)

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        for start, end in self._extents:
            self._stream.seek(start)
            at = start
            while at < end and (chunk := self._stream.read(min(_PIECE, end - at))):
                yield at, chunk
                at += len(chunk)

    def read(self, start: int, end: int) -> bytes:
        self._stream.seek(start)
        return self._stream.read(end - start)

    def at_least(self) -> int:
        return sum(end - start for start, end in self._extents)

    def last(self) -> tuple[int, bytes]:
        begin, end = self._extents[-1] if self._extents else (0, 0)
        start = max(begin, end - EDGE)
        return start, self.read(start, end)

    def size(self) -> int:
        return self._size


def _extents(stream: BinaryIO, size: int) -> list[tuple[int, int]]:
    """Where something was written, as far as the system knows; holes that are small count as written."""
    try:
        handle = stream.fileno()
        found = list(_written(handle, size))
        # Where the stream believes to be.
        os.lseek(handle, 0, os.SEEK_SET)
    except (UnsupportedOperation, AttributeError, OSError):
        # Kept copies have no handle, and not every system or disk knows of holes.
        return [(0, size)]
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start - joined[-1][1] < _SMALLEST_HOLE:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _written(handle: int, size: int) -> Iterator[tuple[int, int]]:
    at = 0
    for _ in range(_MOST_HOLES):
        try:
            start = os.lseek(handle, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            # Nothing but a hole is left.
            return
        if start >= size:
            return
        at = min(os.lseek(handle, start, os.SEEK_HOLE), size)
        yield start, at
        if at >= size:
            return
    yield at, size
