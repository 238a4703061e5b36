"""What sessions are called by the human: `session_index.jsonl`, and the state database of Codex as a hint.

The database belongs to a program that may be running. It is opened read-only and in a way that leaves no
file beside it; what cannot be read of it is left alone.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from geminids.core.disk import KEPT_INODE, REAL, Disk
from geminids.core.model import Problem, ProblemKind
from geminids.core.model.summary import one_line
from geminids.reading.jsonl import UndecodableError, decode
from geminids.reading.texts import LONGEST, bounded_text, unreadable

_DATABASE = "state_5.sqlite"
_NAMES = "SELECT id, name FROM threads WHERE name IS NOT NULL AND name <> ''"
_MOST = 100_000
_NO_JOURNAL = b"\x01\x01"
"""What stands in bytes 18 and 19 of a database that has no journal of its own kind beside it."""
_PATIENCE = 0.05
"""Seconds to wait for a database that another program has locked."""


class Names(NamedTuple):
    """What sessions are called, by their thread ids, and what tells it."""

    by_thread: dict[str, str]
    files: tuple[str, ...]
    """The files without which a name would not be known."""
    problems: list[Problem]


def names_of_sessions(index: str, folder: str, disk: Disk = REAL) -> Names:
    """What sessions are called; the index of names has the last word."""
    problems: list[Problem] = []
    database = os.path.join(folder, _DATABASE)  # noqa: PTH118 - as the disk names it
    hints = dict(_names_in_database(database, problems, disk))
    names = dict(_names_in_index(index, problems, disk))
    # The database changes with every word, and nearly always says what the index says.
    files = (index, database) if hints.keys() - names.keys() else (index,)
    return Names(hints | names, files, problems)


def _names_in_index(path: str, problems: list[Problem], disk: Disk) -> Iterator[tuple[str, str]]:
    """Names as they were given; the last entry for a session counts."""
    if not disk.is_there(path):
        return
    try:
        read = bounded_text(path, disk)
    except OSError as error:
        problems.append(unreadable(path, error))
        return
    if read.left_out:
        problems.append(
            Problem(path, ProblemKind.LEFT_UNREAD, f"longer than the {LONGEST:,} bytes that are read")
        )
    for line in read.text.split("\n"):
        match _value(line):
            case {"id": str(thread), "thread_name": str(name)} if name.strip():
                yield thread, one_line(name)


def _value(line: str) -> object:
    try:
        return decode(line.encode()).value if line.strip() else None
    except UndecodableError:
        # A line that is being written; its session has no name yet.
        return None


def _names_in_database(path: str, problems: list[Problem], disk: Disk) -> Iterator[tuple[str, str]]:
    try:
        opened = _opened_database(path, disk)
    except (sqlite3.Error, OSError, ValueError):
        return
    if opened is None:
        return
    try:
        for thread, name in opened.execute(_NAMES).fetchmany(_MOST):
            if isinstance(thread, str) and isinstance(name, str) and name.strip():
                yield thread, one_line(name)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not _is_of_another_release(error):
            problems.append(
                Problem(path, ProblemKind.LEFT_UNREAD, f"names of sessions were not read: {error}")
            )
    finally:
        opened.close()


def _opened_database(path: str, disk: Disk) -> sqlite3.Connection | None:
    """The database, if it is a plain file: a link is not followed, and what is empty holds nothing."""
    if not disk.is_file(path) or not (facts := disk.facts(path)).st_size:
        return None
    if facts.st_ino == KEPT_INODE:
        return _copy_of_database(disk.read(path))
    return sqlite3.connect(f"file:{quote(path)}?mode=ro&immutable=1", uri=True, timeout=_PATIENCE)


def _copy_of_database(content: bytes) -> sqlite3.Connection:
    """A database whose file is gone, in memory. Its journal is gone as well, so none is looked for."""
    opened = sqlite3.connect(":memory:")
    try:
        opened.deserialize(content[:18] + _NO_JOURNAL + content[20:])
    except BaseException:
        opened.close()
        raise
    return opened


def _is_of_another_release(error: Exception) -> bool:
    """Whether the table or its column is not there; older releases had no names in it."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such ")
