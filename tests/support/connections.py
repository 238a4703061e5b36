"""Connections to databases are closed by whoever opens them: those that are not are found on every Python.

Python 3.13 warns of one that the garbage collector closes; earlier ones are silent, and none tells where
it was opened.
"""

from __future__ import annotations

import linecache
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any, Protocol, TypeVar

FRAMES = 60
_CONNECT = sqlite3.connect
OURS = str(Path(__file__).resolve().parents[2])


class Closable(Protocol):
    """Something that is open until it is closed."""

    def close(self) -> None: ...


Opened = TypeVar("Opened", bound=Closable)
_to_be_closed: list[Closable] = []


def to_be_closed(opened: Opened) -> Opened:
    """Have something closed when the test ends."""
    _to_be_closed.append(opened)
    return opened


class WatchedConnection(sqlite3.Connection):
    """A connection that remembers where it was opened."""

    left_open: list[str] = []  # noqa: RUF012 - of all of them
    """Where those were opened that nobody has closed."""
    _opened_at: list[tuple[CodeType, int]] | None = None
    """Code and lines, the innermost first. What is more is worked out only for those that are left open."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        opened_at: list[tuple[CodeType, int]] = []
        frame = sys._getframe(2)
        while frame is not None and len(opened_at) < FRAMES:
            opened_at.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        self._opened_at = opened_at

    def close(self) -> None:
        """Close it, and forget where it was opened."""
        super().close()
        self._opened_at = None

    def __del__(self) -> None:
        if self._opened_at is not None:
            self.left_open.append("\n".join(_told(self._opened_at)))
            super().close()


def _told(opened_at: list[tuple[CodeType, int]]) -> Iterator[str]:
    for code, number in reversed(opened_at):
        file = code.co_filename
        if file.startswith(OURS) and "site-packages" not in file:
            yield f"{file}:{number}: in {code.co_name}: {linecache.getline(file, number).strip()}"


def watched_connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
    """What stands in for `sqlite3.connect`."""
    connection: sqlite3.Connection = _CONNECT(*arguments, **{"factory": WatchedConnection, **options})
    return connection


@contextmanager
def watching_connections() -> Iterator[None]:
    """A while in which no connection may be left open; those of the time before count too."""
    sqlite3.connect = watched_connect  # type: ignore[assignment]
    try:
        yield
    finally:
        while _to_be_closed:
            _to_be_closed.pop().close()
    left, WatchedConnection.left_open = WatchedConnection.left_open, []
    assert not left, "left open, having been opened here:\n\n" + "\n".join(left)
