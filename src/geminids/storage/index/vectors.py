"""Vectors of sessions, in a file of its own beside the index: most people never ask for them.

    <data>/index/<homes>.meaning.db     can be thrown away, and is made again when it is asked for

It is made by whoever asks first, and brought up to date by whoever asks and by an explicit sync. What is
damaged or of another model is made anew. Its errors are its own: the index beside it has nothing to do with
them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from geminids.core.errors import PARTLY_DONE, GeminidsError
from geminids.core.values import NamedTuple

_PATIENCE = 10.0
"""Seconds to wait for another process that adds to them."""
_NO_DAMAGE = (
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR),
)
"""What SQLite says where others are at it, or the system does not let us."""
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (model TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    key TEXT PRIMARY KEY,
    stamp BLOB NOT NULL,    -- what the session looked like
    places BLOB NOT NULL,   -- of the messages that the vectors are of
    vectors BLOB NOT NULL   -- one after the other
) WITHOUT ROWID;
"""


class SessionVectors(NamedTuple):
    """The vectors of a session, as bytes."""

    key: str
    stamp: bytes
    places: bytes
    vectors: bytes


class DamagedVectorsError(GeminidsError):
    """The file holds something else than vectors; whoever meets it makes it anew once."""

    def __init__(self, path: str | None, reason: str) -> None:
        super().__init__(
            f"The vectors in {path!r} cannot be read ({reason}). Delete the file; it is made again."
        )


class VectorsInUseError(GeminidsError):
    """The file cannot be written now."""

    exit_code = PARTLY_DONE

    def __init__(self, path: str | None, reason: str) -> None:
        super().__init__(f"The vectors in {path!r} cannot be used ({reason}). Try again in a while.")


class VectorFile:
    """The vectors of the sessions of some homes, by one model; a context in which they are open.

    Raises DamagedVectorsError or VectorsInUseError.
    """

    def __init__(self, path: str | None, model: str) -> None:
        """Those in a file, or in memory where there is none."""
        self._path = path
        self._model = model
        self._sql: sqlite3.Connection | None = None

    def __enter__(self) -> VectorFile:
        try:
            with self._naming_trouble():
                self._open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._sql is not None:
            self._sql.close()
            self._sql = None

    def remove(self) -> None:
        """Take away what is there, to begin anew."""
        self.close()
        for suffix in ("", "-journal", "-wal", "-shm") if self._path else ():
            # SQLite takes its own files away where it can.
            with suppress(FileNotFoundError):
                os.remove(f"{self._path}{suffix}")  # noqa: PTH107

    def stamps(self) -> dict[str, bytes]:
        """The sessions that are there, and what they looked like."""
        with self._naming_trouble():
            return dict(self._connection.execute("SELECT key, stamp FROM sessions").fetchall())

    def all(self, size: int) -> list[SessionVectors]:
        """Everything there is; each vector has so many bytes."""
        with self._naming_trouble():
            rows = self._connection.execute("SELECT key, stamp, places, vectors FROM sessions").fetchall()
        found = list(map(SessionVectors._make, rows))
        if any(len(one.vectors) % size for one in found):
            raise DamagedVectorsError(self._path, "vectors of another length")
        return found

    def put(self, several: Iterable[SessionVectors]) -> None:
        """Write vectors of sessions over those that they had."""
        with self._naming_trouble(), self._connection as sql:
            sql.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", several)

    def drop(self, keys: Iterable[str]) -> None:
        """Take out sessions that are gone."""
        with self._naming_trouble(), self._connection as sql:
            sql.executemany("DELETE FROM sessions WHERE key = ?", ((key,) for key in keys))

    @contextmanager
    def _naming_trouble(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            kind = VectorsInUseError if code in _NO_DAMAGE else DamagedVectorsError
            raise kind(self._path, str(error)) from error

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._sql is not None
        return self._sql

    def _open(self) -> None:
        if self._path is not None:
            # For this user alone: they tell what was said, if not in words.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        self._sql = sqlite3.connect(self._path or ":memory:", timeout=_PATIENCE)
        with self._sql as sql:
            sql.executescript(_TABLES)
            made_with = sql.execute("SELECT model FROM meta").fetchone()
            if made_with != (self._model,):
                sql.execute("DELETE FROM meta")
                sql.execute("DELETE FROM sessions")
                sql.execute("INSERT INTO meta VALUES (?)", (self._model,))
