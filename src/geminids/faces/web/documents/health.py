"""How well the history is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.model import Problem
from geminids.faces.web.documents.base import Document
from geminids.faces.web.documents.overview import SyncState


class KeptPlace(Document, frozen=True, kw_only=True):
    """A home of which copies are kept."""

    agent: str
    folder: str
    files: int
    bytes: int
    is_there: bool


class KeptCopies(Document, frozen=True, kw_only=True):
    """How things stand with the kept copies."""

    is_on: bool
    folder: str | None
    files: int
    versions: int
    bytes: int
    bytes_on_disk: int
    last_kept_at: datetime | None
    sessions_gone: int
    """Sessions that are known by their copies alone."""
    left_out: Sequence[str]
    troubles: Sequence[str]
    homes: Sequence[KeptPlace]


class Health(Document, frozen=True, kw_only=True):
    """What could not be read, what is kept, and how the index stands."""

    version: str
    homes: Sequence[str]
    syncing: SyncState
    problem_counts: Mapping[str, int]
    """By kind."""
    problems: Sequence[Problem]
    """Some of them."""
    problem_total: int
    kept: KeptCopies


class IndexFigures(Document, frozen=True, kw_only=True):
    """How much the index holds."""

    path: str | None
    bytes: int
    source_bytes: int
    projects: int
    sessions: int
    messages: int
    words: int
    every_word: bool


class Tallied(Document, frozen=True, kw_only=True):
    """A total and its parts, which add up to it."""

    total: int
    used: int
    ignored: int
    problem: int


class Doctor(Document, frozen=True, kw_only=True):
    """What became of every byte and record of all files."""

    files: int
    bytes: Tallied
    records: Tallied
    ignored: Mapping[str, int]
    """Records by the reason for which they are ignored."""
    unknown_fields: Mapping[str, int]
