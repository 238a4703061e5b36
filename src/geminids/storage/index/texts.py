"""Where the texts of messages stand, for searches that must look into them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from geminids.storage.index.database import Index
from geminids.storage.index.reader import Condition
from geminids.storage.index.search import all_hold, values_of
from geminids.storage.paths import opened

_AFTER = " AND (coalesce(s.last, 0), s.id) < (SELECT coalesce(last, 0), id FROM sessions WHERE id = ?)"


class Place(NamedTuple):
    """Where a message stands."""

    session: int
    number: int
    place: int
    """In the session."""
    spans: str
    """In files, as in `MessageRow`."""
    origin: str
    agent: str
    is_kept: int
    """Whether the session is read from copies."""


def matching(index: Index, match: str) -> set[int]:
    """The numbers of all messages that match, gone ones included."""
    rows = index.connection.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (match,))
    return {number for (number,) in rows}


def numbered_after(index: Index, number: int) -> set[int]:
    """The numbers of the messages that were taken in after one."""
    rows = index.connection.execute("SELECT id FROM messages WHERE id > ?", (number,))
    return {number for (number,) in rows}


def by_session(index: Index, messages: Iterable[int]) -> dict[int, list[int]]:
    """Those of some messages that are there, by their sessions."""
    found: dict[int, list[int]] = {}
    for session, message in index.connection.execute(
        f"SELECT session, id FROM messages WHERE id IN ({_numbers(messages)})"
    ):
        found.setdefault(session, []).append(message)
    return found


def newest_first(index: Index, sessions: Collection[int] | None, after: int | None) -> list[int]:
    """Some sessions, or all, the newest first; from the one after `after` on."""
    chosen = "1" if sessions is None else f"s.id IN ({_numbers(sessions)})"
    rows = index.connection.execute(
        f"SELECT id FROM sessions AS s WHERE {chosen}{_AFTER if after is not None else ''} "
        "ORDER BY coalesce(last, 0) DESC, id DESC",
        [after] if after is not None else [],
    )
    return [number for (number,) in rows]


def changed_paths(index: Index, messages: Iterable[int]) -> dict[int, list[str]]:
    """The files that messages changed."""
    found: dict[int, list[str]] = {}
    for message, path in index.connection.execute(
        "SELECT message, path FROM changes JOIN files ON files.id = file "
        f"WHERE message IN ({_numbers(messages)})"
    ):
        found.setdefault(message, []).append(opened(path))
    return found


def calling(index: Index, tool: str) -> set[int]:
    """The numbers of the messages that call a tool of this name."""
    named = index.connection.execute("SELECT id FROM names WHERE name = ?", (tool,)).fetchone()
    rows = index.connection.execute("SELECT message FROM calls WHERE tool = ?", named) if named else ()
    return {number for (number,) in rows}


def places(index: Index, messages: Iterable[int], conditions: Sequence[Condition]) -> Iterator[Place]:
    """Where messages stand, those that fulfil all conditions."""
    return _places(index, f"m.id IN ({_numbers(messages)})", conditions)


def places_in(index: Index, sessions: Iterable[int], conditions: Sequence[Condition]) -> Iterator[Place]:
    """The same for all messages of some sessions."""
    return _places(index, f"m.session IN ({_numbers(sessions)})", conditions)


def _places(index: Index, which: str, conditions: Sequence[Condition]) -> Iterator[Place]:
    rows = index.connection.execute(
        "SELECT m.session, m.id, m.place, m.spans, m.origin, s.agent, s.kept FROM messages AS m "
        f"CROSS JOIN sessions AS s ON s.id = m.session WHERE {which}{all_hold(conditions)}",
        values_of(conditions),
    )
    return map(Place._make, rows)


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
