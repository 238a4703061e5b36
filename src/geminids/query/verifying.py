"""The words of sessions as their files hold them, for searches that the index cannot answer alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geminids import sources
from geminids.model import Session
from geminids.query.last_list import Listed
from geminids.query.rereading import Rereading
from geminids.query.stock import Stock
from geminids.sources.base import Bundle, Companions, Home
from geminids.store import searching
from geminids.store.folders import folders_of
from geminids.store.index import Index
from geminids.store.schema import COLUMNS
from geminids.store.searching import SessionPlace
from geminids.sync.texts import words


class Verifying:
    """Reads sessions of an index again. What was scanned once is not scanned again."""

    def __init__(self, index: Index, homes: Sequence[Home], *, with_outputs: bool) -> None:
        self._index = index
        self._homes = homes
        self._with_outputs = with_outputs
        """Whether outputs that were moved to files of their own are read too."""
        self._stocks: dict[int, Stock] = {}
        self._read: tuple[SessionPlace, list[Session]] | None = None

    def texts_of(self, number: int) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The messages of a session: the place of each, and its words by column; none if it is gone."""
        place = searching.session_place(self._index, number)
        session = self._session(place) if place else None
        if session is None:
            return
        if self._with_outputs:
            session = sources.load(session.agent).with_outputs(session)
        for number_of_message, message in enumerate(session.messages):
            by_column = words(message, everything=True)
            yield number_of_message, dict(zip(COLUMNS, by_column, strict=True))

    def _session(self, place: SessionPlace) -> Session | None:
        line = Listed(place.id, place.file)
        if not place.bundle:
            # What lies beside sessions can only be told with all of them.
            return Rereading(self._index, self._homes).listed(line).session
        same = (session for session in self._sessions(place) if Listed.of(session) == line)
        return next(same, None)

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
