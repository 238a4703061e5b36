"""Which sessions changed a file, and in which messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from geminids.storage.paths import opened, stored
from geminids.storage.times import moment

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.storage.index.database import Index


class EditRow(NamedTuple):
    """What a message did to a file."""

    session: int
    place: int
    """Of the message, from 0."""
    at: datetime | None
    path: str
    tool: str
    added: int | None
    removed: int | None


def files_called(index: Index, path: str) -> dict[int, str]:
    """The files with a path, or whose path ends with it, by their numbers."""
    ending = path.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = index.connection.execute(
        "SELECT id, path FROM files WHERE (path = ? OR path LIKE ? ESCAPE '\\') "
        "AND EXISTS (SELECT 1 FROM changed WHERE file = files.id)",
        (stored(path), f"%/{ending}"),
    )
    return {number: opened(column) for number, column in rows}


def sessions_that_changed(index: Index, files: Collection[int]) -> list[int]:
    """The numbers of the sessions that changed any of some files, the newest first; copies are left out."""
    rows = index.connection.execute(
        "SELECT id FROM sessions WHERE id IN (SELECT session FROM changed WHERE file IN "
        f"({_numbers(files)})) ORDER BY coalesce(last, 0) DESC, id DESC"
    )
    return [number for (number,) in rows]


def edits_in(index: Index, session: int, files: Collection[int]) -> list[EditRow]:
    """What the messages of a session did to some files, in order."""
    rows = index.connection.execute(
        "SELECT m.session, m.place, m.at, f.path, n.name, c.added, c.removed FROM messages AS m "
        "CROSS JOIN changes AS c ON c.message = m.id CROSS JOIN files AS f ON f.id = c.file "
        "LEFT JOIN names AS n ON n.id = c.tool "
        f"WHERE m.session = ? AND NOT m.imported AND c.file IN ({_numbers(files)}) ORDER BY m.place",
        (session,),
    )
    return [
        EditRow(number, place, moment(at), opened(path), tool or "", added, removed)
        for number, place, at, path, tool, added, removed in rows
    ]


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
