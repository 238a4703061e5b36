"""Tombstones: sessions that the user wants to be gone, so that no sync brings them back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.store.durable import FORGOTTEN, changing, next_generation, reading

if TYPE_CHECKING:
    from pathlib import Path

_SELECT = "SELECT session, at, until_changed, files FROM forgotten ORDER BY at, session"
_BURY = (
    "INSERT INTO forgotten (session, at, until_changed, files) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (session) DO UPDATE SET at = excluded.at, until_changed = excluded.until_changed, "
    "files = excluded.files"
)
_MARKS = ("names", "tags", "notes")
"""What the user said of a session goes with it."""


class Tombstone(NamedTuple):
    """A session that was forgotten."""

    session: str
    at: str
    until_changed: bool
    """Whether it may come back when its files have changed."""
    files: Mapping[str, tuple[int, int]]
    """Size and time of change of its files, as they were then."""


def tombstones(folder: Path | str) -> dict[str, Tombstone]:
    """All of them, by the ids of the sessions."""
    with reading(folder) as reader:
        rows = reader.rows(_SELECT) if reader else []
    return {
        session: _tombstone(session, at, until_changed, files) for session, at, until_changed, files in rows
    }


def bury(folder: Path, stones: Sequence[Tombstone]) -> None:
    """Note that sessions are to be forgotten, and forget what was said of them: all of it, or nothing."""
    with changing(folder, asked=True) as connection:
        for stone in stones:
            files = json.dumps({path: list(facts) for path, facts in stone.files.items()})
            connection.execute(_BURY, (stone.session, stone.at, stone.until_changed, files))
            for table in _MARKS:
                connection.execute(f"DELETE FROM {table} WHERE session = ?", (stone.session,))
        next_generation(connection, FORGOTTEN)


def lift(folder: Path, sessions: Collection[str]) -> None:
    """Let sessions come back."""
    with changing(folder, asked=True) as connection:
        connection.executemany("DELETE FROM forgotten WHERE session = ?", [(one,) for one in sessions])
        next_generation(connection, FORGOTTEN)


def _tombstone(session: str, at: str, until_changed: int, files: str) -> Tombstone:
    try:
        facts = {path: (int(size), int(changed)) for path, (size, changed) in json.loads(files).items()}
    except (ValueError, TypeError, AttributeError):
        # The id alone keeps it away.
        facts = {}
    return Tombstone(session, at, bool(until_changed), facts)
