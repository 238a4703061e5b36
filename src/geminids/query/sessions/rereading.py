"""Reading sessions again that the index knows: only the files that hold them are opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from geminids.core.agents.base import Bundle, Companions, Home
from geminids.core.model import Problem, Session
from geminids.core.model.summary import counts_of, usage_of
from geminids.core.names import storable
from geminids.query.sessions import ids
from geminids.query.sessions.homes_reader import Stock
from geminids.query.sessions.last_list import Listed
from geminids.query.sessions.listing import LEFT_UNREAD
from geminids.query.sessions.lookup import Read
from geminids.storage.index import reader as rows
from geminids.storage.index import search
from geminids.storage.index.copies import copied_messages
from geminids.storage.index.database import Index
from geminids.storage.index.folders import folders_of, folders_of_session
from geminids.storage.index.search import SessionPlace
from geminids.sync.intake import LISTED

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
                    return Read(without_copies(self._index, session), unreadable)
        return Read(None, unreadable)

    def unlisted(self, wanted: str) -> Read:
        """The session of an id in files beside sessions of which the index holds only a part."""
        large = {problem.file for problem in rows.problems(self._index, LEFT_UNREAD)}
        if not large:
            return Read(None)
        stock = Stock(self._homes)
        readings = stock.readings(lambda found: _is_beside(found, large), SHOW_LIMIT)
        sessions = [session for reading in readings for session in reading.sessions]
        return Read(ids.pick(sessions, wanted))


class RereadingMany:
    """Many sessions of an index, one after the other. What was scanned once is not scanned again."""

    def __init__(self, index: Index, homes: Sequence[Home]) -> None:
        self._index = index
        self._homes = homes
        self._stocks: dict[int, Stock] = {}
        self._read: tuple[SessionPlace, list[Session]] | None = None

    def numbered(self, number: int) -> Session | None:
        """The session in a row of the index; None if it is gone."""
        place = search.session_place(self._index, number)
        if place is None:
            return None
        line = Listed(place.id, place.file)
        if not place.bundle:
            # What lies beside sessions can only be told with all of them.
            return Rereading(self._index, self._homes).listed(line).session
        same = next((session for session in self._sessions(place) if Listed.of(session) == line), None)
        return without_copies(self._index, same) if same else None

    def _sessions(self, place: SessionPlace) -> list[Session]:
        """All sessions of a bundle; subagents follow their parents, so the last one is kept."""
        if self._read is None or self._read[0][:2] != place[:2]:
            self._read = (place, list(self._sessions_of(place)))
        return self._read[1]

    def _sessions_of(self, place: SessionPlace) -> Iterator[Session]:
        if place.shelf not in self._stocks:
            folders = folders_of(self._index, place.shelf)
            holding = [home for home in self._homes if any(f.startswith(home.folder) for f in folders)]
            self._stocks[place.shelf] = Stock(holding, only=folders)

        def is_wanted(found: Bundle | Companions) -> bool:
            return isinstance(found, Bundle) and found.key == place.bundle

        for reading in self._stocks[place.shelf].readings(is_wanted):
            yield from reading.sessions


def without_copies(index: Index, session: Session) -> Session:
    """The session with what it holds of others marked as theirs, as all sessions together tell."""
    copied = copied_messages(index, storable(session.id), storable(session.file) if session.file else None)
    if not copied:
        return session
    messages = tuple(
        msgspec.structs.replace(message, imported=True) if message.id in copied else message
        for message in session.messages
    )
    return msgspec.structs.replace(
        session, messages=messages, counts=counts_of(messages), usage=usage_of(messages)
    )


def _holds(found: Bundle | Companions, file: str | None) -> bool:
    if isinstance(found, Companions):
        # Reading these takes reading all sessions of the project first.
        return any(storable(beside.path) == file for beside in found.files if beside.kind in LISTED)
    return any(storable(str(held.path)) == file for held in found.files)


def _is_beside(found: Bundle | Companions, files: set[str]) -> bool:
    return isinstance(found, Companions) and any(storable(beside.path) in files for beside in found.files)
