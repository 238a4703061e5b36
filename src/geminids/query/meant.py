"""Which session is meant: by its id or the beginning of it, by a line of the last list, or as the latest.

A session is read as soon as it is known, with no more files than that takes; which of them could not
be read is part of the answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from geminids.errors import (
    LineGoneError,
    NoSuchLineError,
    OtherListError,
    SessionNotFoundError,
    ShortIdError,
)
from geminids.model import CompanionKind, Problem, Session, SessionKind
from geminids.query import identity
from geminids.query.last_list import LastList, Listed, keepable
from geminids.query.listing import LED_BY_HUMANS, Filter, listing, newest_last
from geminids.sources.base import Bundle, CompanionFile, Companions, Reading

LATEST = "latest"
_LINE_NUMBER = re.compile(r"[0-9]{1,6}")

LISTED = frozenset({CompanionKind.SAVED_CHAT, CompanionKind.PROMPT_LOG})
"""What lies beside sessions and is listed among them."""
Wanted = Callable[[Bundle | Companions], bool]
"""Whether these files are to be read."""
Readings = Callable[[Wanted], Iterator[Reading]]
"""The readings of the files that are wanted, each in its turn."""


class Meant(NamedTuple):
    """The sessions that were meant, and what could not be looked into on the way to them."""

    sessions: Sequence[Session]
    unreadable: Sequence[Problem]


class Finder:
    """Finds one session among those of some homes."""

    def __init__(
        self,
        readings: Readings,
        places: tuple[str, ...],
        closed_folders: Sequence[Problem],
        last_list: Callable[[], LastList | None],
    ) -> None:
        self._readings = readings
        self._places = places
        self._closed_folders = closed_folders
        self._last_list = last_list
        self._closed_files: dict[Problem, None] = {}

    def find(self, wanted: str) -> Meant:
        """The session that is meant. Raises the error that says why there is none."""
        if wanted == LATEST:
            # Where we cannot look may be a newer one.
            return Meant([self._latest()], self._unreadable())
        is_number = _LINE_NUMBER.fullmatch(wanted)
        session = self._numbered(wanted) if is_number else self._by_id(wanted)
        return Meant([session], tuple(self._closed_files))

    def _latest(self) -> Session:
        led = [s.without_messages() for s in self._sessions() if s.kind in LED_BY_HUMANS]
        # A saved chat or what is left of a session is the latest only where there is nothing else.
        newest = max(led, key=lambda s: (s.kind is SessionKind.MAIN, newest_last(s)), default=None)
        session = self._listed(Listed.of(newest)) if newest else None
        if session is None:
            raise SessionNotFoundError(LATEST, unreadable=self._unreadable())
        return session

    def _numbered(self, wanted: str) -> Session:
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
        if session := self._listed(line):
            return session
        try:
            # Agents move sessions to new files.
            return self._by_id(line.id)
        except SessionNotFoundError:
            raise LineGoneError(number, line.file) from None

    def _list_of_now(self) -> LastList:
        """The list that a person would see now."""
        everything = (session.without_messages() for session in self._sessions())
        found = listing(everything, Filter(kinds=LED_BY_HUMANS)).sessions
        return LastList(self._places, tuple(map(Listed.of, found)))

    def _by_id(self, wanted: str) -> Session:
        hint = identity.file_name_hint(wanted)
        # Nearly always the names of the files hold the first letters of the id.
        likely = list(self._sessions(lambda bundle: _is_named(bundle, hint)))
        if session := identity.pick(likely, wanted):
            return session
        known = [session.without_messages() for session in self._sessions()]
        named = identity.pick(known, wanted)
        session = self._listed(Listed.of(named)) if named else None
        if session is None:
            raise SessionNotFoundError(wanted, identity.nearest(known, wanted), self._unreadable())
        return session

    def _listed(self, line: Listed) -> Session | None:
        """The session of an id that lies in a file."""
        for session in self._sessions(lambda bundle: _holds(bundle, line.file)):
            if Listed.of(session) == line:
                return session
        return None

    def _sessions(self, is_wanted: Wanted = lambda _: True) -> Iterator[Session]:
        for reading in self._readings(is_wanted):
            self._closed_files.update(dict.fromkeys(p for p in reading.problems if p.is_unreadable))
            yield from reading.sessions

    def _unreadable(self) -> tuple[Problem, ...]:
        return (*self._closed_folders, *self._closed_files)


def _is_named(found: Bundle | Companions, hint: str) -> bool:
    if isinstance(found, Companions):
        # Reading these takes reading all sessions of the project first.
        return any(
            hint in beside.path.rpartition(os.sep)[2].lower() for beside in found.files if _is_listed(beside)
        )
    return hint in found.key.lower() or any(hint in str(file.path).lower() for file in found.files)


def _holds(found: Bundle | Companions, file: str | None) -> bool:
    if isinstance(found, Companions):
        return any(keepable(beside.path) == file for beside in found.files if _is_listed(beside))
    return any(keepable(str(held.path)) == file for held in found.files)


def _is_listed(beside: CompanionFile) -> bool:
    """Whether a file beside the sessions is listed among them."""
    return beside.kind in LISTED
