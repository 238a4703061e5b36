"""Some messages of a session as the index knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from geminids.core.names import storable
from geminids.storage.paths import stored

if TYPE_CHECKING:
    from geminids.storage.index.database import Index


class FirstMessage(NamedTuple):
    """A row of `messages` without its number, session and place."""

    mid: str
    role: str
    origin: str
    state: str
    imported: int
    at: int | None
    model: int | None
    says: int
    spans: str
    digest: bytes


def first_messages(index: Index, session: int, most: int, skip: int = 0) -> list[FirstMessage]:
    """So many messages of a session, from its beginning on or after those that are skipped."""
    rows = index.connection.execute(
        f"SELECT {', '.join(FirstMessage._fields)} FROM messages WHERE session = ? ORDER BY place "
        "LIMIT ? OFFSET ?",
        (session, most, skip),
    )
    return list(map(FirstMessage._make, rows))


def message_count(index: Index, session: int) -> int:
    """How many messages a session has."""
    row = index.connection.execute("SELECT count(*) FROM messages WHERE session = ?", (session,)).fetchone()
    return int(row[0])


class KnownNumbers:
    """The numbers that an index gave to names and files; none is given here."""

    def __init__(self, index: Index) -> None:
        self._sql = index.connection

    def name(self, name: str | None) -> int | None:
        """The number of a tool or a model, which no row has if it is not known."""
        if name is None:
            return None
        row = self._sql.execute("SELECT id FROM names WHERE name = ?", (storable(name),)).fetchone()
        return int(row[0]) if row else 0

    def file(self, path: str) -> int:
        """The number of a file, which no row has if it is not known."""
        row = self._sql.execute("SELECT id FROM files WHERE path = ?", (stored(path),)).fetchone()
        return int(row[0]) if row else 0
