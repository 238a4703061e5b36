"""Tombstones: sessions that the user wants to be gone, so that no sync brings them back."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from geminids.storage.durable.changes import changing
from geminids.storage.durable.database import (
    FILE_NAME,
    FORGOTTEN,
    back_up,
    beside,
    next_generation,
    reading,
)
from geminids.storage.durable.values import Tombstone

if TYPE_CHECKING:
    from pathlib import Path

_SELECT = "SELECT session, at, until_changed, files, leader, copies, sum FROM forgotten ORDER BY at, session"
_BEFORE_COPIES = _SELECT.replace(", copies", ", '[]'")
_WITH_COPIES = 4
"""The version of the file since which it knows them."""
_BURY = (
    "INSERT OR REPLACE INTO forgotten (session, at, until_changed, files, leader, copies) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_MARKS = ("names", "tags", "notes")
"""What the user said of a session goes with it."""


def tombstones(folder: Path | str) -> dict[str, Tombstone]:
    """All of them, by the ids of the sessions."""
    with reading(folder) as reader:
        question = _SELECT if reader and reader.version >= _WITH_COPIES else _BEFORE_COPIES
        rows = reader.whole_rows(question) if reader else []
    return {stone.session: stone for stone in map(_tombstone, rows)}


def bury(folder: Path, stones: Sequence[Tombstone]) -> None:
    """Note that sessions are to be forgotten, and forget what was said of them: all of it, or nothing."""
    with changing(folder, asked=True) as connection:
        # What is deleted must not lie about in pages that are free.
        connection.execute("PRAGMA secure_delete = ON")
        for stone in stones:
            files = json.dumps({path: list(facts) for path, facts in stone.files.items()})
            row = (stone.session, stone.at, stone.until_changed, files, stone.leader or stone.session)
            connection.execute(_BURY, (*row, json.dumps(list(stone.copies))))
            for table in _MARKS:
                connection.execute(f"DELETE FROM {table} WHERE session = ?", (stone.session,))
        next_generation(connection, FORGOTTEN)
    _renew_copies(folder / FILE_NAME)


def _renew_copies(file: Path) -> None:
    """Take out of the copies of the file, too, what was said of these sessions."""
    newest = beside(file, ".bak")
    # First: there is always one.
    back_up(file, newest)
    for copy in file.parent.glob(f"{file.name}*.bak"):
        if copy != newest:
            copy.unlink()


def lift(folder: Path, sessions: Collection[str]) -> None:
    """Let sessions come back, and those that were forgotten with them."""
    with changing(folder, asked=True) as connection:
        gone = [(one, one) for one in sessions]
        connection.executemany("DELETE FROM forgotten WHERE session = ? OR leader = ?", gone)
        next_generation(connection, FORGOTTEN)


def _tombstone(row: tuple[Any, ...]) -> Tombstone:
    session, at, until_changed, files, leader, copies = row
    try:
        facts = {path: (int(size), int(changed)) for path, (size, changed) in json.loads(files).items()}
        going = [str(path) for path in json.loads(copies)]
    except (ValueError, TypeError, AttributeError):
        # The id alone keeps it away.
        facts, going = {}, []
    return Tombstone(session, at, bool(until_changed), facts, leader, going)
