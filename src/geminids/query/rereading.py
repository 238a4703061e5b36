"""Reading sessions again that the index knows: only the files that hold them are opened."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.model import Problem
from geminids.names import keepable
from geminids.query import identity
from geminids.query.last_list import Listed
from geminids.query.listing import LEFT_UNREAD
from geminids.query.meant import Read
from geminids.query.stock import Stock
from geminids.sources.base import Bundle, Companions, Home
from geminids.store import reading as rows
from geminids.store.folders import folders_of_session
from geminids.store.index import Index
from geminids.sync.taking_in import LISTED

SHOW_LIMIT = 1_000_000_000
"""So many bytes beside the sessions of a project are read where one session is looked for."""


class Rereading:
    """Sessions of an index, from their files."""

    def __init__(self, index: Index, homes: Sequence[Home]) -> None:
        self._index = index
        self._homes = homes

    def listed(self, line: Listed) -> Read:
        """The session of an id that lies in a file."""
        # Of a session that the index does not know, all folders are looked through.
        stock = Stock(self._homes, only=folders_of_session(self._index, line.id) or None)
        unreadable: list[Problem] = []
        for reading in stock.readings(lambda found: _holds(found, line.file), SHOW_LIMIT):
            unreadable += [problem for problem in reading.problems if problem.is_unreadable]
            for session in reading.sessions:
                if Listed.of(session) == line:
                    return Read(session, unreadable)
        return Read(None, unreadable)

    def unlisted(self, wanted: str) -> Read:
        """The session of an id in files beside sessions of which the index holds only a part."""
        large = {problem.file for problem in rows.problems(self._index, LEFT_UNREAD)}
        if not large:
            return Read(None)
        stock = Stock(self._homes)
        readings = stock.readings(lambda found: _is_beside(found, large), SHOW_LIMIT)
        sessions = [session for reading in readings for session in reading.sessions]
        return Read(identity.pick(sessions, wanted))


def _holds(found: Bundle | Companions, file: str | None) -> bool:
    if isinstance(found, Companions):
        # Reading these takes reading all sessions of the project first.
        return any(keepable(beside.path) == file for beside in found.files if beside.kind in LISTED)
    return any(keepable(str(held.path)) == file for held in found.files)


def _is_beside(found: Bundle | Companions, files: set[str]) -> bool:
    return isinstance(found, Companions) and any(keepable(beside.path) in files for beside in found.files)
