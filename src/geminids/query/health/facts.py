"""How much an index holds."""

from __future__ import annotations

import os

import msgspec

from geminids.query.usage.stats import projects_that_are_one
from geminids.storage.index.contents import figures
from geminids.storage.index.database import Index
from geminids.storage.index.reader import holds_every_word, session_kinds


class IndexFacts(msgspec.Struct, frozen=True):
    """An index in figures."""

    path: str | None
    """None for one that is kept nowhere."""
    bytes: int
    projects: int
    """Those that have a session; what several agents did in one folder is one."""
    sessions: int
    kinds: dict[str, int]
    """How many of these are of each kind: main, subagent, checkpoint, lost."""
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
    held = figures(index)
    return IndexFacts(
        path=index.path,
        bytes=os.path.getsize(index.path) if index.path else 0,  # noqa: PTH202
        projects=len(set(projects_that_are_one(index).values())),
        sessions=held.sessions,
        kinds=session_kinds(index),
        messages=held.messages,
        words=held.words,
        every_word=holds_every_word(index),
        source_bytes=held.source_bytes,
        dead=held.dead,
    )
