"""What could not be read, what is kept, how the index stands, and what became of every byte."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from geminids import __version__
from geminids.faces.documents import health as documents
from geminids.faces.documents.base import filled
from geminids.faces.documents.health import Doctor, Health, IndexFigures, Synced
from geminids.faces.documents.kept_copies import kept_copies
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, Page
from geminids.faces.web.errors import OneAtATimeError

_examining = Lock()
"""Held while all files are read: that takes as long as the disk and the processor need."""


class AskedForHealth(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is told."""

    limit: Page = 100
    """Problems that are listed."""


def health(desk: Desk, asked: AskedForHealth) -> Health:
    """What could not be read, what is kept, and how the index stands."""
    problems = desk.library.problems()
    return Health(
        version=__version__,
        homes=desk.library.places,
        syncing=desk.libraries.state(),
        problem_counts=Counter(str(problem.kind) for problem in problems),
        problems=problems[: asked.limit],
        problem_total=len(problems),
        kept=kept_copies(desk.library.kept.status(desk.now)),
    )


def index(desk: Desk, _: Asked) -> IndexFigures:
    """How much the index holds; counting words takes a while."""
    return filled(IndexFigures, desk.library.index_facts())


def doctor(desk: Desk, _: Asked) -> Doctor:
    """What became of every byte and record; reads all files, one such question at a time."""
    if not _examining.acquire(blocking=False):
        raise OneAtATimeError("An examination of all files")
    try:
        found = desk.library.doctor()
    finally:
        _examining.release()
    return documents.doctor(found)


def sync(desk: Desk, _: Asked) -> Synced:
    """Bring the index up to date now."""
    return filled(Synced, desk.libraries.sync())


ENDPOINTS = (
    Endpoint("/api/health", AskedForHealth, Health, health),
    Endpoint("/api/health/index", Asked, IndexFigures, index, is_cached=True),
    Endpoint("/api/health/doctor", Asked, Doctor, doctor, is_cached=True),
    Endpoint("/api/sync", Asked, Synced, sync, method="POST"),
)
