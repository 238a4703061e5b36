"""The files in which records lie one after another, and how they get there.

A pack begins with a line that says what it is, and with a record about itself. It is appended to until it is
full; what is in it is never changed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress

from geminids.core.atomic_files import opened_plain, sync_folder
from geminids.storage.archive.records import (
    PREFIX_SIZE,
    Record,
    Segment,
    WrittenVersion,
    begin,
    header,
    pack_header,
    scan,
)

FOLDER = "packs"
LIMIT = 64 << 20
"""Bytes after which a new pack is begun, and after which what was written is made durable."""
FIRST_LINE = b"geminids kept copies 1\n"
NEW = ".new"
"""How the name of a pack ends that takes the place of others, until it is whole."""
_GATHERED = 1 << 20
"""Bytes that are written at once."""


def pack_file(folder: str, number: int) -> str:
    """The file of a pack."""
    return f"{folder}/{FOLDER}/{number:06}.pack"


def pack_size(folder: str, number: int) -> int:
    """How long a pack is; -1 if it is not there."""
    try:
        facts = os.stat(pack_file(folder, number))  # noqa: PTH116
    except OSError:
        return -1
    return facts.st_size if stat.S_ISREG(facts.st_mode) else -1


def packs_on_disk(folder: str) -> list[int]:
    """The numbers of all packs that are there."""
    with os.scandir(f"{folder}/{FOLDER}") as entries:
        # What has the name of a pack and is a folder is none: then the pack is gone.
        names = [entry.name.removesuffix(".pack") for entry in entries if entry.is_file()]
    return sorted(int(name) for name in names if name.isdecimal())


def packs_under_way(folder: str) -> list[str]:
    """Files of packs that were never finished."""
    packs = f"{folder}/{FOLDER}"
    return [f"{packs}/{name}" for name in os.listdir(packs) if name.endswith(NEW)]  # noqa: PTH208


def opened_pack(folder: str, number: int) -> int:
    """A pack to read from, which the caller closes. Raises OSError."""
    return opened_plain(pack_file(folder, number))


def first_record(handle: int) -> Record | None:
    """What a pack says of itself; None if that is damaged."""
    first = next(scan(handle, len(FIRST_LINE)), None)
    return first if isinstance(first, Record) and first.number == 0 else None


def make_private(folder: str) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    if os.path.isdir(folder):  # noqa: PTH112
        return
    above = os.path.dirname(folder)  # noqa: PTH120
    if above and not os.path.isdir(above):  # noqa: PTH112
        make_private(above)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)  # noqa: PTH102
        # What the process masks must not lock us out.
        os.chmod(folder, 0o700)  # noqa: PTH101
        sync_folder(above or ".")


def remove_files(files: Iterable[str]) -> None:
    """Remove what is of no use; what cannot be removed now is so the next time."""
    for file in files:
        # Never needed again, and looked for each time: a file that stays only takes room.
        with suppress(OSError):
            os.remove(file)  # noqa: PTH107


class NewPack:
    """A pack that is being written."""

    def __init__(self, folder: str, number: int, archive: bytes, *, size: int | None = None) -> None:
        self.folder = folder
        self.number = number
        self.size = size or 0
        """Bytes in it, also those that are not written yet."""
        self.replaces: Sequence[int] = ()
        self._archive = archive
        self._gathered: list[bytes] = []
        self._written = self.size
        self._file = pack_file(folder, number)
        self._handle = -1

    def open(self) -> None:
        """Go on with a pack that is there."""
        self._handle = os.open(self._file, os.O_WRONLY | os.O_CLOEXEC)

    def create(self, replaces: Sequence[int] = (), *, under_way: bool = False) -> None:
        """Begin it; one that replaces others gets its name when it is whole."""
        self.replaces = replaces
        if under_way:
            self._file += NEW
        self._handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.fchmod(self._handle, 0o600)
        self._gather(FIRST_LINE)
        self._gather(begin(self._archive, pack_header(self.number, replaces), 0))

    def append(
        self, number: int, segment: Segment | None, written: WrittenVersion | None, payload: bytes
    ) -> Record:
        """Add a record."""
        start = begin(self._archive, header(number, segment, written), len(payload))
        offset = self.size
        self._gather(start)
        self._gather(payload)
        if self.size - self._written >= _GATHERED:
            self.flush()
        return Record(offset, len(start) - PREFIX_SIZE, len(payload), number, segment, written)

    def _gather(self, piece: bytes) -> None:
        self._gathered.append(piece)
        self.size += len(piece)

    def flush(self) -> None:
        """Write what was gathered. Raises OSError."""
        *small, last = self._gathered or [b""]
        self._gathered.clear()
        # What is large comes last, and is not copied once more.
        for piece in (b"".join(small), last):
            left = memoryview(piece)
            while left:
                written = os.pwrite(self._handle, left, self._written)
                self._written += written
                left = left[written:]

    def sync(self) -> None:
        """Wait until all of it is really there. Raises OSError."""
        self.flush()
        os.fsync(self._handle)

    def back_to(self, size: int) -> None:
        """Take back what was added since it had this size."""
        self._gathered.clear()
        os.ftruncate(self._handle, size)
        self.size = self._written = size

    def finish(self) -> None:
        """Give a pack that was under way its name."""
        self.sync()
        self.close()
        done = self._file.removesuffix(NEW)
        os.rename(self._file, done)  # noqa: PTH104
        self._file = done
        sync_folder(f"{self.folder}/{FOLDER}")

    def close(self) -> None:
        """Let go of the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def discard(self) -> None:
        """Remove the file."""
        self.close()
        remove_files([self._file])
