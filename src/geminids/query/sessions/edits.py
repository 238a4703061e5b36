"""Which sessions changed a file, the newest first, with each of their edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.storage.index import edits, reader

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.storage.index.database import Index
    from geminids.storage.index.values import SessionRow


class Edit(NamedTuple):
    """What a message did to a file."""

    number: int
    """Of the message, from 1."""
    at: datetime | None
    path: str
    tool: str
    added: int | None
    """Lines."""
    removed: int | None


class EditingSession(NamedTuple):
    """A session that changed a file."""

    session: SessionRow
    edits: Sequence[Edit]
    """In order."""


class Edits(NamedTuple):
    """What is known of the changes to a file."""

    paths: Sequence[str]
    """The files that are meant: a piece of a path may mean several."""
    sessions: Sequence[EditingSession]
    total: int
    """Sessions in all."""


def edits_of(index: Index, path: str, limit: int, skip: int = 0) -> Edits:
    """The sessions that changed a file, so many from one on; `path` is whole, or how it ends."""
    files = edits.files_called(index, path)
    if not files:
        return Edits((), (), 0)
    numbers = edits.sessions_that_changed(index, files)
    chosen = numbers[skip : skip + limit]
    rows = reader.sessions_numbered(index, chosen)
    found = [
        EditingSession(rows[number], _edits(index, number, files)) for number in chosen if number in rows
    ]
    return Edits(tuple(sorted(files.values())), found, len(numbers))


def _edits(index: Index, session: int, files: dict[int, str]) -> list[Edit]:
    rows = edits.edits_in(index, session, files)
    return [Edit(row.place + 1, row.at, row.path, row.tool, row.added, row.removed) for row in rows]
