"""The file of an index: where it is, opening it, one writer at a time, and what becomes of a damaged one.

    <data folder>/index/<homes>-<build>.db          complete; of several the one with the largest number
    <data folder>/index/<homes>-<build>.db.new      being made; worth nothing until it is renamed
    <data folder>/index/<homes>.lock                held by whoever writes; says who that is
    <data folder>/index/<homes>-<build>.db.damaged  could not be read and was moved aside

Each set of homes has an index of its own, so that looking at a backup does not mix it with this machine's
sessions. A new build never takes the name of an old one: SQLite would join the new file with the journal of
the old. Readers keep what they have opened.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from geminids.errors import PARTLY_DONE, STORE_DAMAGED, GeminidsError
from geminids.store.schema import TABLES, VERSION

FOLDER = "index"
PATIENCE = 10.0
"""Seconds to wait for another process that writes."""
_BUSY = 5.0
"""Seconds that SQLite itself waits for others."""
_CACHE = -16_384
"""Kibibytes of pages in memory while writing."""
_HASH_SIZE = 16 << 20
"""Bytes that FTS5 gathers before it writes them: with its usual 1 MiB, a build takes twice as long."""


class DamagedIndexError(GeminidsError):
    """An index that SQLite cannot read."""

    exit_code = STORE_DAMAGED

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"The index {path!r} is damaged ({reason}).")


class BusyIndexError(GeminidsError):
    """Another process has been writing for too long."""

    exit_code = PARTLY_DONE

    def __init__(self, who: str) -> None:
        super().__init__(
            f"The index is being written by {who}. Try again when it is done, or give --no-sync to read "
            "what is there."
        )


class FullDiskError(GeminidsError):
    """There is no room for the index."""

    exit_code = PARTLY_DONE

    def __init__(self, path: str) -> None:
        super().__init__(
            f"No room to write the index {path!r}: the disk is full. Nothing half-written was kept; make "
            "room, or choose another folder with --data."
        )


class Index:
    """An open index."""

    def __init__(self, connection: sqlite3.Connection, path: str | None) -> None:
        self.connection = connection
        self.path = path
        """None for one in memory."""

    def meta(self, name: str) -> Any:
        """One fact about the index itself; None if it is not known."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def note(self, name: str, value: object) -> None:
        """Remember a fact about the index itself."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()


class Place:
    """Where the index of a set of homes lies, whether it is there or not."""

    def __init__(self, data_folder: str, homes: Sequence[str]) -> None:
        self.folder = os.path.join(data_folder, FOLDER)  # noqa: PTH118
        self.name = _name(homes)

    def current(self) -> str | None:
        """The newest complete index; None if there is none."""
        builds = self._builds()
        return self._path(builds[-1]) if builds else None

    def open(self) -> Index | None:
        """The index for reading; None if there is none of this release. Raises DamagedIndexError."""
        path = self.current()
        if path is None:
            return None
        with naming_damage(path):
            index = Index(_connected(path, read_only=True), path)
            return index if index.meta("version") == VERSION else None

    def open_to_write(self) -> Index | None:
        """The same for changing it; the caller holds the lock."""
        path = self.current()
        if path is None:
            return None
        with naming_damage(path):
            connection = _connected(path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            return Index(connection, path)

    def start(self) -> Index:
        """An empty index that takes the place of the current one when it is finished."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        for left in self._left_overs():
            # Of a process that was killed: whoever writes is alone.
            os.remove(left)  # noqa: PTH107
        builds = self._builds()
        path = self._path(builds[-1] + 1 if builds else 1) + ".new"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        connection = _connected(path)
        # What is not finished is worth nothing, so nothing is written twice for its sake.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        return _laid_out(Index(connection, path))

    def finish(self, index: Index) -> Index:
        """The index in the place of the current one."""
        new = index.path
        assert new is not None
        index.close()
        _written_to_disk(new)
        done = new.removesuffix(".new")
        os.rename(new, done)  # noqa: PTH104
        for build in self._builds()[:-1]:
            self._remove(build)
        opened = self.open_to_write()
        assert opened is not None
        return opened

    def discard(self, index: Index) -> None:
        """Give up an index that was started."""
        index.close()
        if index.path is not None:
            with suppress(OSError):
                os.remove(index.path)  # noqa: PTH107

    def move_aside(self, path: str) -> str:
        """Put a damaged index where nobody takes it for a good one; where that is."""
        aside = f"{path}.damaged"
        os.replace(path, aside)  # noqa: PTH105
        for journal in (f"{path}-wal", f"{path}-shm"):
            with suppress(OSError):
                os.remove(journal)  # noqa: PTH107
        return aside

    @contextmanager
    def alone(self, patience: float = PATIENCE) -> Iterator[None]:
        """A while in which no other process writes. The system ends it if this process dies."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        handle = os.open(f"{self.folder}/{self.name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = time.monotonic() + patience
            while not _locked(handle):
                if time.monotonic() >= until:
                    raise BusyIndexError(_writer(handle))
                time.sleep(0.01)
            os.truncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            # Closing gives the lock back.
            os.close(handle)

    def _builds(self) -> list[int]:
        return sorted(int(name[len(self.name) + 1 : -3]) for name in self._names() if name.endswith(".db"))

    def _left_overs(self) -> list[str]:
        return [
            f"{self.folder}/{name}"
            for name in self._names()
            if name.endswith((".new", ".new-journal", ".new-wal", ".new-shm"))
        ]

    def _names(self) -> list[str]:
        try:
            found = os.listdir(self.folder)  # noqa: PTH208
        except OSError:
            # Not there, or closed; whoever wants to write will hear about it.
            return []
        return [name for name in found if name.startswith(f"{self.name}-")]

    def _path(self, build: int) -> str:
        return f"{self.folder}/{self.name}-{build}.db"

    def _remove(self, build: int) -> None:
        for suffix in ("", "-wal", "-shm"):
            # Some systems do not remove what others have open; the next build tries again.
            with suppress(OSError):
                os.remove(self._path(build) + suffix)  # noqa: PTH107


def in_memory() -> Index:
    """An index that is kept nowhere."""
    return _laid_out(Index(_connected(":memory:"), None))


@contextmanager
def naming_damage(path: str | None) -> Iterator[None]:
    """Turns what SQLite says about a file into an error that names it."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _named(error, path or "in memory") from error


def _named(error: sqlite3.DatabaseError, path: str) -> GeminidsError | sqlite3.DatabaseError:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DamagedIndexError(path, str(error))
    if code == sqlite3.SQLITE_FULL:
        return FullDiskError(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyIndexError("another program")
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        raise OSError(5, str(error), path) from error
    if "no such table" in str(error) or "no such column" in str(error):
        return DamagedIndexError(path, str(error))
    return error


def _connected(path: str, *, read_only: bool = False) -> sqlite3.Connection:
    if read_only:
        address = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = sqlite3.connect(f"file:{address}?mode=ro", uri=True, timeout=_BUSY, isolation_level=None)
        connection.execute("PRAGMA mmap_size = 1000000000")
    else:
        connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None)
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
    return connection


def _laid_out(index: Index) -> Index:
    index.connection.executescript(TABLES)
    with suppress(sqlite3.Error):
        # It is in no manual, so it may go; then it only takes longer.
        index.connection.execute("INSERT INTO texts (texts, rank) VALUES ('hashsize', ?)", (_HASH_SIZE,))
    index.note("version", VERSION)
    return index


def _written_to_disk(path: str) -> None:
    """Wait until a file is really there: its name must not outlive its content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _name(homes: Sequence[str]) -> str:
    from zlib import crc32

    named = "\n".join(homes).encode("utf-8", "surrogateescape")
    return f"{crc32(named):08x}{crc32(named[::-1]):08x}"


def _writer(handle: int) -> str:
    """Who holds the lock, in words."""
    written = os.pread(handle, 64, 0).decode("ascii", "replace").strip()
    return f"another geminids (process {written})" if written.isdecimal() else "another geminids"


def _locked(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
