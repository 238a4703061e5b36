"""How much an index holds."""

from __future__ import annotations

import os

import msgspec

from geminids.store import reading
from geminids.store.index import Index


class IndexFacts(msgspec.Struct, frozen=True):
    """An index in figures."""

    path: str | None
    """None for one that is kept nowhere."""
    bytes: int
    projects: int
    sessions: int
    messages: int
    words: int
    """Different words."""
    every_word: bool
    """Whether all of every output is indexed."""
    source_bytes: int
    """How large the files of the sessions are."""
    dead: int
    """Messages that are gone and still take room."""


def index_facts(index: Index) -> IndexFacts:
    """Count what an index holds."""

    def count(table: str) -> int:
        return int(index.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    return IndexFacts(
        path=index.path,
        bytes=os.path.getsize(index.path) if index.path else 0,  # noqa: PTH202
        projects=count("shelves"),
        sessions=count("sessions"),
        messages=count("messages"),
        words=count("vocabulary"),
        every_word=reading.holds_every_word(index),
        source_bytes=int(index.connection.execute("SELECT total(bytes) FROM bundles").fetchone()[0]),
        dead=int(index.meta("dead") or 0),
    )
