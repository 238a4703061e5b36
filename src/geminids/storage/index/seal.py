"""What the bytes of an index come to: noted beside it while nobody writes, compared when it is opened.

    <index>.db.sum      "pieces", its size and its time, then the checksum of each mebibyte

After a small change only what was written is summed up again: SQLite's journal tells which pages that is, as
long as nothing of it was moved into the index before (`Index.sealed`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress

from geminids.core.atomic_files import opened_plain
from geminids.core.values import NamedTuple
from geminids.storage.paths import size_of

SUFFIX = ".sum"
_TRUSTED = 86_400.0
"""Seconds for which an index counts as whole that was compared with its checksum, if nobody touches it: to
compare 25 MB takes as long as all else that a list does."""
_NEVER_COMPARED = 512 << 20
"""Bytes of one for which that would take longer than most of what is written at a time."""
_PIECE = 1 << 20
_KIND = b"pieces"
_JOURNAL_HEADER, _FRAME_HEADER = 32, 24
"""Bytes before the first frame of a journal, and before the page of each; docs: sqlite.org/walformat.html."""


class Seal(NamedTuple):
    """Size and time of an index when it was written, and the checksum of each mebibyte."""

    size: int
    mtime_ns: int
    checks: tuple[int, ...]


def seal_of(path: str) -> Seal | None:
    """What was noted of an index; None if that is not known."""
    try:
        with open(opened_plain(path + SUFFIX), "rb") as sealed:  # noqa: PTH123
            kind, *noted = sealed.read().split()
            size, mtime_ns, *checks = map(int, noted)
    except (OSError, ValueError):
        return None
    # Releases up to 0.1.0 noted one checksum, of an index that is of no use any more.
    return Seal(size, mtime_ns, tuple(checks)) if kind == _KIND else None


def remove_seal(path: str) -> None:
    """Note that an index is about to be written: what has no seal is not compared with it."""
    # An index that was never sealed has none.
    with suppress(FileNotFoundError):
        os.remove(path + SUFFIX)  # noqa: PTH107


def note_seal(path: str, before: Seal | None = None, written: Iterable[int] = ()) -> None:
    """Note what an index comes to; if it is known what it came to before, some pieces are summed up anew."""
    facts = os.stat(path)  # noqa: PTH116
    if facts.st_size > _NEVER_COMPARED:
        return
    checks = _checks(path, facts.st_size, before, written)
    new = f"{path}{SUFFIX}.new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:  # noqa: PTH123
        out.write(f"{_KIND.decode()} {facts.st_size} {facts.st_mtime_ns}\n{' '.join(map(str, checks))}\n")
    os.replace(new, path + SUFFIX)  # noqa: PTH105


def is_broken(path: str) -> bool:
    """Whether an index is not what was written; of one that is being written nobody knows. Raises OSError."""
    sealed = seal_of(path)
    if sealed is None or size_of(f"{path}-wal"):
        return False
    facts = os.stat(path)  # noqa: PTH116
    if (facts.st_size, facts.st_mtime_ns) == sealed[:2] and _is_trusted(path, facts.st_ctime_ns):
        return False
    if facts.st_size == sealed.size and _checks(path, sealed.size) == sealed.checks:
        # The time of the seal is when the index was last known to be whole.
        with suppress(OSError):
            os.utime(path + SUFFIX)
        return False
    # Whoever writes has removed it before.
    return seal_of(path) == sealed and not size_of(f"{path}-wal")


def written_pieces(path: str) -> set[int]:
    """The mebibytes of an index for which something stands in its journal. Raises OSError."""
    try:
        with open(f"{path}-wal", "rb") as journal:  # noqa: PTH123
            page = int.from_bytes(journal.read(_JOURNAL_HEADER)[8:12])
            pages: set[int] = set()
            while len(header := journal.read(_FRAME_HEADER)) == _FRAME_HEADER:
                pages.add(int.from_bytes(header[:4]))
                journal.seek(page, os.SEEK_CUR)
    except FileNotFoundError:
        return set()
    return {(number - 1) * page // _PIECE for number in pages}


def _checks(path: str, size: int, before: Seal | None = None, written: Iterable[int] = ()) -> tuple[int, ...]:
    """The checksums of all pieces, or of those that were written and all others as they were before."""
    from zlib import crc32

    number = -(-size // _PIECE)
    if before is None or size < before.size:
        checks, pieces = [0] * number, set(range(number))
    else:
        checks = [*before.checks, *[0] * (number - len(before.checks))]
        # The last piece of before may have been a short one.
        pieces = {*written, *range(before.size // _PIECE, number)}
    with open(path, "rb", buffering=0) as opened:  # noqa: PTH123
        for piece in sorted(pieces):
            opened.seek(piece * _PIECE)
            checks[piece] = crc32(opened.read(_PIECE))
    return tuple(checks)


def _is_trusted(path: str, touched_ns: int) -> bool:
    """Whether an index was compared with its checksum lately, and not been touched since."""
    try:
        compared_ns = os.stat(path + SUFFIX).st_mtime_ns  # noqa: PTH116
    except OSError:
        # Somebody begins to write.
        return False
    return touched_ns < compared_ns and 0 <= time.time() - compared_ns / 1e9 < _TRUSTED
