"""Which session is meant: by its id or the beginning of it, by a line of the last list, or as the latest."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geminids.core.errors import (
    DoubtfulNumberError,
    GeminidsError,
    LineGoneError,
    NoSuchLineError,
    NothingToReadError,
    OtherListError,
    SessionGoneError,
    SessionNotFoundError,
    ShortIdError,
)
from geminids.core.values import NamedTuple
from geminids.query.sessions import ids
from geminids.query.sessions.last_list import LastList
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter, listing
from geminids.query.sessions.session_ref import SessionRef
from geminids.storage.index import reader as reading

if TYPE_CHECKING:
    from geminids.core.errors import Unreadable
    from geminids.core.model import Session
    from geminids.query.sessions.session_reader import SessionReader
    from geminids.storage.index.database import Index
    from geminids.storage.index.values import SessionRow

LATEST = "latest"
_LINE_NUMBER = re.compile(r"[0-9]{1,6}")


class LookupResult(NamedTuple):
    """The sessions that were meant, and what could not be looked into on the way to them."""

    sessions: Sequence[Session]
    unreadable: Sequence[Unreadable]


class Finder:
    """Finds one session among those of an index."""

    def __init__(
        self,
        index: Index,
        reader: SessionReader,
        places: tuple[str, ...],
        last_list: Callable[[], LastList | None],
        doubt: Callable[[int], str | None],
    ) -> None:
        """`doubt` says why a number of the last list is not to be relied on, where it is not."""
        self._index = index
        self._reader = reader
        self._places = places
        self._last_list = last_list
        self._doubt = doubt

    def find(self, wanted: str) -> LookupResult:
        """The session that is meant. Raises the error that says why there is none."""
        if wanted == LATEST:
            return self._latest()
        return self._numbered(wanted) if _LINE_NUMBER.fullmatch(wanted) else self._by_id(wanted)

    def _latest(self) -> LookupResult:
        # A saved chat or what is left of a session is the latest only where there is nothing else.
        for kinds in (frozenset({"main"}), LED_BY_HUMANS):
            for row in listing(self._index, Filter(kinds=kinds), limit=1).sessions:
                read = self._reader.read(SessionRef.of(row))
                if read.session:
                    # Where we cannot look may be a newer one.
                    return LookupResult([read.session], [*self._closed(), *read.unreadable])
        raise SessionNotFoundError(LATEST, unreadable=self._closed())

    def _numbered(self, wanted: str) -> LookupResult:
        """The session in a line of the last list, else the one whose id begins with these digits."""
        shown, number = self._last_list() or self._list_of_now(), int(wanted)
        if not 1 <= number <= len(shown.lines):
            try:
                return self._by_id(wanted)
            except (SessionNotFoundError, ShortIdError):
                raise NoSuchLineError(wanted, len(shown.lines)) from None
        if shown.places != self._places:
            raise OtherListError(number, shown.places)
        line = shown.lines[number - 1]
        if why := self._doubt(number):
            raise DoubtfulNumberError(wanted, line.id, why)
        if session := (read := self._reader.read(line)).session:
            return LookupResult([session], read.unreadable)
        try:
            # Agents move sessions to new files.
            return self._by_id(line.id)
        except SessionNotFoundError:
            raise LineGoneError(number, line.file) from None

    def _list_of_now(self) -> LastList:
        """The list that a person would see now."""
        found = listing(self._index, Filter(kinds=LED_BY_HUMANS)).sessions
        return LastList(self._places, tuple(map(SessionRef.of, found)))

    def _by_id(self, wanted: str) -> LookupResult:
        row = ids.pick(reading.sessions_meant(self._index, wanted), wanted) or self._by_key(wanted)
        read = self._reader.read(SessionRef.of(row)) if row else self._reader.unindexed(wanted)
        if row and read.session is None:
            raise _gone(row, read.unreadable)
        if read.session is None:
            near = ids.nearest(reading.sessions(self._index), wanted)
            raise SessionNotFoundError(wanted, near, [*self._closed(), *read.unreadable])
        return LookupResult([read.session], read.unreadable)

    def _by_key(self, wanted: str) -> SessionRow | None:
        """The session whose key this is: one of several that have the same id."""
        name = ids.id_of_key(wanted)
        return ids.pick_by_key(reading.sessions_meant(self._index, name), wanted) if name else None

    def _closed(self) -> Sequence[Unreadable]:
        return reading.problems(self._index, reading.UNREADABLE)


def _gone(row: SessionRow, unreadable: Sequence[Unreadable]) -> GeminidsError:
    """Why a session that the index knows cannot be shown."""
    for problem in unreadable:
        return NothingToReadError(problem.file, problem.detail)
    return SessionGoneError(row.id, row.file)
