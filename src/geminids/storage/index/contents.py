"""All that the index holds, shelf by shelf, and how much it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from geminids.storage.index.database import Index
from geminids.storage.index.values import ProblemRow


class ShelfRow(NamedTuple):
    """A project of an agent, and what lies beside its sessions."""

    number: int
    agent: str
    project: int
    companions: bytes


class Figures(NamedTuple):
    """An index in figures."""

    sessions: int
    messages: int
    words: int
    """Different words."""
    source_bytes: int
    """How large the files of the sessions are."""
    dead: int
    """Messages that are gone and still take room."""


def shelves(index: Index) -> list[ShelfRow]:
    """All shelves in the order in which they were met."""
    rows = index.connection.execute("SELECT id, agent, project, companions FROM shelves ORDER BY id")
    return list(map(ShelfRow._make, rows))


def summaries_by_shelf(index: Index) -> Iterator[tuple[int, bytes]]:
    """All sessions without their messages, each with the number of its shelf."""
    return index.connection.execute(
        "SELECT shelf, summary FROM sessions JOIN bundles ON bundles.id = bundle ORDER BY sessions.id"
    )


def problems_by_shelf(index: Index) -> Iterator[tuple[int, ProblemRow]]:
    """What stood in the way of reading bundles, each with the number of its shelf."""
    rows = index.connection.execute(
        'SELECT shelf, file, kind, detail, line, start, "end" '
        "FROM problems JOIN bundles ON bundles.id = bundle"
    )
    return ((shelf, ProblemRow._make(problem)) for shelf, *problem in rows)


def figures(index: Index) -> Figures:
    """Count what an index holds."""

    def count(table: str) -> int:
        return int(index.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    return Figures(
        sessions=count("sessions"),
        messages=count("messages"),
        words=count("vocabulary"),
        source_bytes=int(index.connection.execute("SELECT total(bytes) FROM bundles").fetchone()[0]),
        dead=int(index.meta("dead") or 0),
    )
