"""Bundles that were read before, and what they were read from."""

from __future__ import annotations

from collections.abc import Iterator

from geminids.core.values import NamedTuple
from geminids.storage.index.database import Index
from geminids.storage.index.reader import project_row
from geminids.storage.index.schema import BESIDE
from geminids.storage.index.values import ProjectRow


class Known(NamedTuple):
    """A bundle that was read before, and what it was read from."""

    id: int
    stamp: bytes

    @classmethod
    def of_shelf(cls, index: Index, shelf: int) -> dict[str, Known]:
        """The bundles of a shelf by their keys."""
        rows = index.connection.execute("SELECT key, id, stamp FROM bundles WHERE shelf = ?", (shelf,))
        return {key: cls(number, stamp) for key, number, stamp in rows}

    @staticmethod
    def traces(index: Index, shelf: int) -> Iterator[bytes]:
        """The traces of the sessions of a shelf, in an order that does not depend on when they were read."""
        rows = index.connection.execute(
            "SELECT trace FROM sessions JOIN bundles ON bundles.id = bundle "
            "WHERE shelf = ? AND key <> ? AND trace IS NOT NULL ORDER BY key, sid, sessions.id",
            (shelf, BESIDE),
        )
        return (trace for (trace,) in rows)

    @staticmethod
    def projects(index: Index, bundle: int) -> list[ProjectRow]:
        """The projects of the sessions of a bundle, as their files tell them."""
        rows = index.connection.execute(
            "SELECT DISTINCT told_path, told_hash, told_slug, told_by, told_certain "
            "FROM sessions JOIN projects ON projects.id = project WHERE bundle = ?",
            (bundle,),
        )
        return list(map(project_row, rows))

    @staticmethod
    def summaries(index: Index, bundle: int) -> list[bytes]:
        """The sessions of a bundle without their messages."""
        rows = index.connection.execute("SELECT summary FROM sessions WHERE bundle = ?", (bundle,))
        return [summary for (summary,) in rows]


class SessionPlace(NamedTuple):
    """Where a session was read from."""

    shelf: int
    bundle: int
    key: str
    """Of its bundle; empty if it lies beside the sessions of its project."""
    found: bytes
    """The bundle itself as it was packed; nothing if it is not all taken in."""
    id: str
    file: str | None


_PLACE = (
    "SELECT shelf, bundle, key, CASE stamp WHEN x'' THEN x'' ELSE found END, sid, file "
    "FROM sessions JOIN bundles ON bundles.id = bundle WHERE "
)


def numbered_place(index: Index, session: int) -> SessionPlace | None:
    """Where the session of a number was read from."""
    row = index.connection.execute(_PLACE + "sessions.id = ?", (session,)).fetchone()
    return SessionPlace._make(row) if row else None


def place_of(index: Index, sid: str, file: str | None) -> SessionPlace | None:
    """Where the session of an id and a file was read from."""
    # By what there is an index for.
    which = "native_id = ? COLLATE NOCASE AND sid = ? AND file IS ?"
    row = index.connection.execute(_PLACE + which, (sid.partition(":")[2], sid, file)).fetchone()
    return SessionPlace._make(row) if row else None


class BundleFacts(NamedTuple):
    """A bundle, and in little what is known of it."""

    number: int
    shelf: int
    agent: str
    project: str
    """What its shelf goes by."""
    key: str
    stamp: bytes
    size: int
    """Bytes of its files."""


class ToldOfSession(NamedTuple):
    """A session of a bundle, in little."""

    bundle: int
    number: int
    sid: str
    began: int | None
    project: int


def bundle_facts(index: Index) -> list[BundleFacts]:
    """All bundles, in an order that does not depend on when they were read."""
    rows = index.connection.execute(
        "SELECT bundles.id, shelf, agent, shelves.key, bundles.key, stamp, bytes "
        "FROM bundles JOIN shelves ON shelves.id = shelf ORDER BY agent, shelves.key, bundles.key"
    )
    return list(map(BundleFacts._make, rows))


def packed_bundle_of(index: Index, bundle: int) -> bytes:
    """A bundle as it was packed; nothing if it is not all taken in."""
    wanted = "SELECT CASE stamp WHEN x'' THEN x'' ELSE found END FROM bundles WHERE id = ?"
    row = index.connection.execute(wanted, (bundle,)).fetchone()
    return row[0] if row else b""


def told_of_sessions(index: Index) -> list[ToldOfSession]:
    """All sessions, bundle by bundle."""
    rows = index.connection.execute(
        "SELECT bundle, id, sid, coalesce(started, ended), project FROM sessions ORDER BY bundle, sid, id"
    )
    return list(map(ToldOfSession._make, rows))
