"""What sessions are called by the human: `session_index.jsonl`, and the state database of Codex as a hint.

The database belongs to a program that may be running. It is opened read-only and in a way that leaves no
file beside it; what cannot be read of it is left alone.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from urllib.parse import quote

from geminids.model import Problem, ProblemKind
from geminids.sources.jsonl import UndecodableError, decode
from geminids.sources.summing import one_line
from geminids.sources.texts import LONGEST, bounded_text, unreadable

_DATABASE = "state_5.sqlite"
_NAMES = "SELECT id, name FROM threads WHERE name IS NOT NULL AND name <> ''"
_MOST = 100_000
_PATIENCE = 0.05
"""Seconds to wait for a database that another program has locked."""


def names_of_sessions(index: str, folder: str) -> tuple[dict[str, str], list[Problem]]:
    """What sessions are called, by their thread ids; the index of names has the last word."""
    problems: list[Problem] = []
    names = dict(_names_in_database(os.path.join(folder, _DATABASE), problems))  # noqa: PTH118 - as the disk names it
    names.update(_names_in_index(index, problems))
    return names, problems


def _names_in_index(path: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    """Names as they were given; the last entry for a session counts."""
    if not os.path.lexists(path):
        return
    try:
        read = bounded_text(path)
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


def _names_in_database(path: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    if not _may_be_opened(path):
        return
    try:
        opened = sqlite3.connect(f"file:{quote(path)}?mode=ro&immutable=1", uri=True, timeout=_PATIENCE)
    except sqlite3.Error:
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


def _may_be_opened(path: str) -> bool:
    """Whether there is a database of its own: a link is not followed, and what is empty holds nothing."""
    return os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) > 0  # noqa: PTH113, PTH114, PTH202


def _is_of_another_release(error: Exception) -> bool:
    """Whether the table or its column is not there; older releases had no names in it."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such ")
