"""Folders in the homes of agents as the index knows them, and projects whose own folder nobody knows."""

from __future__ import annotations

from geminids.core.values import NamedTuple
from geminids.storage.index.schema import BESIDE
from geminids.storage.paths import opened, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.index.database import Index


GONE = "gone"
"""Stands for what lies in a folder that is known by kept copies alone."""


class Folder(NamedTuple):
    """What lay in a folder when it was taken in, and the number of its shelf."""

    footprint: str
    shelf: int | None
    """None for the home itself, or a folder that holds nothing of a project."""


def folders(index: Index) -> dict[str, Folder]:
    """All folders by their paths."""
    rows = index.connection.execute("SELECT path, footprint, shelf FROM folders")
    return {opened(path): Folder(footprint, shelf) for path, footprint, shelf in rows}


def footprints(index: Index) -> dict[str, str]:
    """What lay in all folders when they were taken in, but for those that were gone."""
    rows = index.connection.execute("SELECT path, footprint FROM folders WHERE footprint != ?", (GONE,))
    return {opened(path): footprint for path, footprint in rows}


def footprints_of(index: Index, shelf: int) -> dict[str, str]:
    """What lay in the folders of a project when they were taken in, by their paths."""
    rows = index.connection.execute("SELECT path, footprint FROM folders WHERE shelf = ?", (shelf,))
    return {opened(path): footprint for path, footprint in rows}


def folders_of_session(index: Index, session_id: str) -> list[str]:
    """The folders of the project of a session; none if the index does not know it."""
    rows = index.connection.execute(
        "SELECT DISTINCT folders.path FROM sessions JOIN bundles ON bundles.id = bundle "
        "JOIN folders ON folders.shelf = bundles.shelf WHERE sid = ?",
        (session_id,),
    )
    return [opened(path) for (path,) in rows]


def folders_with_companions(index: Index) -> list[str]:
    """The folders of projects of which sessions were found beside the others."""
    rows = index.connection.execute(
        "SELECT DISTINCT path FROM bundles JOIN sessions ON bundle = bundles.id "
        "JOIN folders ON folders.shelf = bundles.shelf WHERE key = ?",
        (BESIDE,),
    )
    return [opened(path) for (path,) in rows]


def shelf_number(index: Index, agent: str, key: str) -> int | None:
    """The number of a shelf; None if the index does not know it."""
    row = index.connection.execute(
        "SELECT id FROM shelves WHERE agent = ? AND key = ?", (agent, key)
    ).fetchone()
    return row[0] if row else None


def shelf_of(index: Index, folder: str) -> tuple[str, str] | None:
    """The agent and the key of the shelf that a folder was of."""
    row: tuple[str, str] | None = index.connection.execute(
        "SELECT shelves.agent, key FROM folders JOIN shelves ON shelves.id = shelf WHERE path = ?",
        (stored(folder),),
    ).fetchone()
    return row


def unproven_hashes(index: Index) -> set[str]:
    """The hashes of projects whose folder is not certain, and was not said by the user."""
    rows = index.connection.execute(
        "SELECT DISTINCT told_hash FROM projects "
        "WHERE NOT certain AND known_by IS NOT 'link' AND told_hash IS NOT NULL"
    )
    return {name for (name,) in rows}
