"""Session files as the part of their agent sees them that deletes: what was noted when they were read."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from geminids.core.values import NamedTuple
from geminids.storage.index.database import Index
from geminids.storage.index.reader import numbered
from geminids.storage.paths import opened
from geminids.storage.times import moment

_FATES = (
    "SELECT fates.bundle, shelves.agent, files.path, used, traits FROM fates "
    "JOIN files ON files.id = fates.file JOIN bundles ON bundles.id = fates.bundle "
    "JOIN shelves ON shelves.id = bundles.shelf"
)
_SESSIONS = "SELECT bundle, file, id FROM sessions ORDER BY kind = 'main', id DESC"


class FateRow(NamedTuple):
    """A session file as its agent's cleaning sees it."""

    agent: str
    file: str
    last_used: datetime | None
    traits: tuple[str, ...]
    session: int | None
    """The row of the session that it holds, or belongs to; None if nothing could be read in it."""


def fates(index: Index) -> list[FateRow]:
    """All that were noted."""
    by_bundle: dict[int, int] = {}
    by_file: dict[tuple[int, str | bytes | None], int] = {}
    for bundle, file, number in index.connection.execute(_SESSIONS):
        # The last one counts: the first that a human led.
        by_bundle[bundle] = by_file[bundle, file] = number
    return [
        FateRow(
            agent,
            opened(path),
            moment(used),
            tuple(traits.split()),
            by_file.get((bundle, path), by_bundle.get(bundle)),
        )
        for bundle, agent, path, used, traits in index.connection.execute(_FATES)
    ]


def sessions_in_short(
    index: Index, numbers: Collection[int]
) -> dict[int, tuple[str, str | None, str | None]]:
    """The id, the title and the folder of the project of sessions, by their numbers.

    Nearly all of them are asked for: whole rows of so many would take most of the memory of who asks.
    """
    which = numbered(numbers)
    rows = index.connection.execute(
        "SELECT sessions.id, sid, title, projects.path FROM sessions JOIN projects ON projects.id = project "
        f"WHERE {which.sql}",
        which.values,
    )
    return {number: (sid, title, path) for number, sid, title, path in rows}
