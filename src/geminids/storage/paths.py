"""Paths in databases (as text where they are text, as bytes where they are no UTF-8), and of databases."""

from __future__ import annotations

import os


def stored(path: str) -> str | bytes:
    """A path as the database keeps it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def opened(column: str | bytes) -> str:
    """A path as the system opens it."""
    return os.fsdecode(column) if isinstance(column, bytes) else column


def uri_of(file: str, how: str) -> str:
    """A file as SQLite wants it to be named, and how it is to be opened."""
    name = os.path.abspath(file).replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # noqa: PTH100
    if os.name == "nt":
        name = "/" + name.replace("\\", "/")
    # Two slashes for the machine, which is this one: without them, `//data` would be on another.
    return f"file://{name}?{how}"


def written(database: str) -> tuple[tuple[int, int], ...]:
    """The size of a database and of its journal, and when they were written: they differ when it was."""
    return _written(database), _written(f"{database}-wal")


def _written(file: str) -> tuple[int, int]:
    try:
        facts = os.stat(file)  # noqa: PTH116
    except OSError:
        return (0, 0)
    # Who only reads makes an empty journal.
    return (facts.st_size, facts.st_mtime_ns) if facts.st_size else (0, 0)


def size_of(file: str) -> int:
    """How long a file is; nothing if it is not there."""
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:
        return 0
