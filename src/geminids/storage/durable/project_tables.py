"""What is known of projects, as it stands in the durable file: rows in, plain values out."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from geminids.storage.durable.database import PROJECTS, Reader, next_generation

LINKS = "SELECT hash, path, sum FROM links ORDER BY rowid"
LEARNT = "SELECT hash, path, known_by, sum FROM learnt ORDER BY rowid"
LOOKED_FOR = "SELECT hash, at, depth, sum FROM looked_for ORDER BY rowid"
REPOSITORIES = "SELECT folder, main, sum FROM repositories ORDER BY rowid"


class Knowledge(NamedTuple):
    """All that is known of projects, by hash; repositories by the folder of a work tree."""

    links: Mapping[str, str] = {}
    learnt: Mapping[str, tuple[str, str]] = {}
    """The path, and how it is known."""
    looked_for: Mapping[str, tuple[str, int]] = {}
    """When one looked, and how deep."""
    repositories: Mapping[str, str] = {}


def read_knowledge(reader: Reader) -> Knowledge:
    """All that a file holds."""
    return Knowledge(
        dict(reader.whole_rows(LINKS)),
        {name: (path, known_by) for name, path, known_by in reader.whole_rows(LEARNT)},
        {name: (at, depth) for name, at, depth in reader.whole_rows(LOOKED_FOR)},
        dict(reader.whole_rows(REPOSITORIES)),
    )


def write_knowledge(connection: sqlite3.Connection, before: Knowledge, after: Knowledge) -> None:
    """Write the rows that differ, and note that something did."""
    _write_links(connection, before.links, after.links)
    connection.executemany(
        "INSERT INTO learnt (hash, path, known_by) VALUES (?, ?, ?) "
        "ON CONFLICT (hash) DO UPDATE SET path = excluded.path, known_by = excluded.known_by, sum = NULL",
        [(name, *found) for name, found in _new(before.learnt, after.learnt)],
    )
    _write_looks(connection, before.looked_for, after.looked_for)
    connection.executemany(
        "INSERT INTO repositories (folder, main) VALUES (?, ?) "
        "ON CONFLICT (folder) DO UPDATE SET main = excluded.main, sum = NULL",
        _new(before.repositories, after.repositories),
    )
    # A search in vain changes no answer, so it makes nothing that was built on the others old.
    if before._replace(looked_for={}) != after._replace(looked_for={}):
        next_generation(connection, PROJECTS)


def _write_links(connection: sqlite3.Connection, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    connection.executemany("DELETE FROM links WHERE hash = ?", _gone(before, after))
    connection.executemany(
        "INSERT INTO links (hash, path) VALUES (?, ?) "
        "ON CONFLICT (hash) DO UPDATE SET path = excluded.path, sum = NULL",
        _new(before, after),
    )


def _write_looks(
    connection: sqlite3.Connection,
    before: Mapping[str, tuple[str, int]],
    after: Mapping[str, tuple[str, int]],
) -> None:
    connection.executemany("DELETE FROM looked_for WHERE hash = ?", _gone(before, after))
    connection.executemany(
        "INSERT INTO looked_for (hash, at, depth) VALUES (?, ?, ?) "
        "ON CONFLICT (hash) DO UPDATE SET at = excluded.at, depth = excluded.depth, sum = NULL",
        [(name, *look) for name, look in _new(before, after)],
    )


def _new(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in after.items() if before.get(name) != value]


def _gone(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str]]:
    return [(name,) for name in before if name not in after]
