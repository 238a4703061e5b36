"""How well the history is read and kept: what became of every byte, how the index stands, what a sync did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.core.model import Problem
from geminids.faces.documents.base import Document, Printed, filled
from geminids.faces.documents.kept_copies import KeptCopies
from geminids.query.health.facts import IndexFacts
from geminids.query.health.fidelity import Fidelity
from geminids.scale.tables.written import PlaceHealth

if TYPE_CHECKING:
    from geminids.sync.values import Outcome


class InstalledIn(Document, frozen=True, kw_only=True):
    """An agent that `geminids install` has written for."""

    agent: str
    version: str
    """The version of geminids that wrote it."""


class DoctorDocument(Fidelity, Printed, frozen=True, kw_only=True, tag="geminids/doctor/1"):
    """What became of every byte and record."""

    installed: Sequence[InstalledIn] = ()
    """The agents that ask geminids, as far as `geminids install` has registered it."""
    tables: Sequence[PlaceHealth] = ()
    """The folders that `geminids tables` writes to; object storage is not asked."""


class SyncDocument(Printed, frozen=True, kw_only=True, tag="geminids/sync/1"):
    """What a sync took in, and what the index holds now."""

    built: bool
    """Whether the index was made from nothing."""
    bundles: int
    """How many groups of files were read; nearly always each holds one session."""
    bytes: int
    kept: int
    """Of how many files copies were kept."""
    vectors: int = 0
    """Of how many sessions vectors were made, for search by meaning: once somebody has searched so."""
    seconds: float
    failed: bool
    """Whether the index could not be brought up to date, or not be kept, or copies could not."""
    said: Sequence[str]
    """What a person should know about it."""
    index: IndexFacts


class SyncState(Document, frozen=True, kw_only=True):
    """How the index stands."""

    is_running: bool
    is_first: bool
    """Whether there is nothing to ask yet: what there is, is being looked at for the first time."""
    is_empty: bool | None
    """Whether there is no session at all; null if nobody has looked yet."""
    read: int | None
    total: int | None
    """Bytes that are read of those that are new, while a sync runs; null if that is not known."""
    at: datetime | None
    """When it was last brought up to date; null if it was not yet."""
    said: Sequence[str]
    """What a person should know about it."""
    to_come: int = 0
    """Groups of files that were found and are not read yet: all that is told leaves them out."""


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


class Synced(Document, frozen=True, kw_only=True):
    """What a sync took in."""

    bundles: int
    """Groups of files that were read."""
    seconds: float
    said: Sequence[str]


def sync_document(outcome: Outcome, vectors: int, facts: IndexFacts) -> SyncDocument:
    """What a sync did, and of how many sessions vectors were made."""
    return filled(SyncDocument, outcome, vectors=vectors, index=facts)


def doctor(found: Fidelity) -> Doctor:
    """What became of every byte and record."""
    return Doctor(
        files=len(found.files),
        bytes=filled(Tallied, found.bytes),
        records=filled(Tallied, found.records),
        ignored={reason: tally.records for reason, tally in found.ignored.items()},
        unknown_fields=found.unknown_fields,
    )
