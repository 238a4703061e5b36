"""What could not be read, what is kept, how the index stands, and what became of every byte."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from geminids import __version__
from geminids.faces.web.documents.health import Doctor, Health, IndexFigures, KeptCopies, KeptPlace, Tallied
from geminids.faces.web.documents.live import Synced
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, Page
from geminids.faces.web.errors import OneAtATimeError
from geminids.query.health.kept_copies import KeepStatus

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
        kept=_kept(desk.library.kept.status(desk.now)),
    )


def index(desk: Desk, _: Asked) -> IndexFigures:
    """How much the index holds; counting words takes a while."""
    facts = desk.library.index_facts()
    return IndexFigures(
        path=facts.path,
        bytes=facts.bytes,
        source_bytes=facts.source_bytes,
        projects=facts.projects,
        sessions=facts.sessions,
        messages=facts.messages,
        words=facts.words,
        every_word=facts.every_word,
    )


def doctor(desk: Desk, _: Asked) -> Doctor:
    """What became of every byte and record; reads all files, one such question at a time."""
    if not _examining.acquire(blocking=False):
        raise OneAtATimeError("An examination of all files")
    try:
        found = desk.library.doctor()
    finally:
        _examining.release()
    return Doctor(
        files=len(found.files),
        bytes=_tallied(found.bytes),
        records=_tallied(found.records),
        ignored={reason: tally.records for reason, tally in found.ignored.items()},
        unknown_fields=found.unknown_fields,
    )


def sync(desk: Desk, _: Asked) -> Synced:
    """Bring the index up to date now."""
    outcome = desk.libraries.sync()
    return Synced(
        bundles=outcome.bundles,
        seconds=outcome.seconds,
        said=outcome.said,
    )


ENDPOINTS = (
    Endpoint("/api/health", AskedForHealth, Health, health),
    Endpoint("/api/health/index", Asked, IndexFigures, index, is_kept=True),
    Endpoint("/api/health/doctor", Asked, Doctor, doctor, is_kept=True),
    Endpoint("/api/sync", Asked, Synced, sync, method="POST"),
)


def _tallied(split: object) -> Tallied:
    return Tallied(**{name: getattr(split, name) for name in ("total", "used", "ignored", "problem")})


def _kept(status: KeepStatus) -> KeptCopies:
    return KeptCopies(
        is_on=status.is_on,
        folder=status.folder,
        files=status.files,
        versions=status.versions,
        bytes=status.bytes,
        bytes_on_disk=status.bytes_on_disk,
        last_kept_at=status.last_kept_at,
        sessions_gone=status.sessions_gone,
        left_out=status.left_out,
        troubles=status.troubles,
        homes=[
            KeptPlace(
                agent=home.agent,
                folder=home.folder,
                files=home.files,
                bytes=home.bytes,
                is_there=home.is_there,
            )
            for home in status.homes
        ],
    )
