"""Vectors of sessions, in a file of its own beside the index: most people never ask for them.

    <data>/index/<homes>.meaning.db     can be thrown away, and is made again when it is asked for

It is brought up to date by whoever asks. What is damaged or of another model is made anew.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress

from geminids.core.values import NamedTuple

_PATIENCE = 10.0
"""Seconds to wait for another process that adds to them."""
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


class VectorFile:
    """The vectors of the sessions of some homes, by one model; a context in which they are open."""

    def __init__(self, path: str | None, model: str) -> None:
        """Those in a file, or in memory where there is none."""
        self._path = path
        self._model = model
        self._sql: sqlite3.Connection | None = None

    def __enter__(self) -> VectorFile:
        try:
            self._open()
        except sqlite3.OperationalError:
            # Others are at it, or it is not ours to write: that is no damage.
            self.close()
            raise
        except sqlite3.DatabaseError:
            self._begin_anew()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._sql is not None:
            self._sql.close()
            self._sql = None

    def stamps(self) -> dict[str, bytes]:
        """The sessions that are there, and what they looked like."""
        return dict(self._connection.execute("SELECT key, stamp FROM sessions").fetchall())

    def all(self) -> Iterator[SessionVectors]:
        """Everything there is."""
        rows = self._connection.execute("SELECT key, stamp, places, vectors FROM sessions")
        return map(SessionVectors._make, rows)

    def put(self, several: Iterable[SessionVectors]) -> None:
        """Write vectors of sessions over those that they had."""
        with self._connection as sql:
            sql.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", several)

    def drop(self, keys: Iterable[str]) -> None:
        """Take out sessions that are gone."""
        with self._connection as sql:
            sql.executemany("DELETE FROM sessions WHERE key = ?", ((key,) for key in keys))

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

    def _begin_anew(self) -> None:
        self.close()
        assert self._path is not None
        for suffix in ("", "-journal", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.remove(self._path + suffix)  # noqa: PTH107
        self._open()
