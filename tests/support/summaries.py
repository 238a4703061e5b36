"""Small summaries for tests of questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from geminids.core.model import (
    Counts,
    KnownBy,
    Project,
    Session,
    SessionFile,
    SessionKind,
    SessionSummary,
    Status,
    Usage,
)
from geminids.storage.codec.packed import project_row
from geminids.storage.codec.rows import Traced, session_rows
from geminids.storage.index.database import Index, in_memory
from geminids.storage.index.writer import Writer
from tests.support.connections import to_be_closed


def project(path: str | None = "/home/ada/dev/shop", slug: str | None = "shop") -> Project:
    """A project as an agent's marker would tell it."""
    hash_ = hashlib.sha256((path or "/nowhere").encode()).hexdigest()
    return Project(path, hash_, slug, KnownBy.MARKER if path else None)


def summary(native_id: str = "aaaa1111-0000", day: int | None = 1, **changes: Any) -> SessionSummary:
    """A session of one hour on a day of May 2026."""
    at = datetime(2026, 5, day, 10, tzinfo=UTC) if day else None
    fields: dict[str, Any] = {
        "id": f"gemini:{native_id}",
        "agent": "gemini",
        "native_id": native_id,
        "kind": SessionKind.MAIN,
        "parent_id": None,
        "project": project(),
        "title": f"Talk {native_id}",
        "summary": None,
        "started_at": at,
        "ended_at": at.replace(hour=11) if at else None,
        "status": Status.SUCCESS,
        "models": ("gemini-3-pro",),
        "counts": Counts(1, 1, 0, 0, 0),
        "usage": Usage(1),
        "files": (SessionFile(f"/x/{native_id}.jsonl", "jsonl", 10),),
    }
    return SessionSummary(**{**fields, **changes})


def index_of(summaries: Iterable[SessionSummary]) -> Index:
    """An index of nothing but these sessions."""
    index = to_be_closed(in_memory())
    writer = Writer(index)
    whole = [Session(**msgspec.structs.asdict(summary), messages=()) for summary in summaries]
    rows = [session_rows(session, Traced.NOT, everything=False) for session in whole]
    shelf = writer.shelf("gemini", "all", writer.project(project_row(project())), b"[]")
    writer.bundle(shelf, "all", rows, ())
    writer.finish()
    return index
