"""Sessions that the index knows, read from their files: no others are opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from geminids.core.agents.base import Bundle, Companions, Home, Reading
from geminids.core.agents.homes import disk_of
from geminids.core.model import Problem, Project, Session
from geminids.core.names import storable
from geminids.core.values import NamedTuple
from geminids.query.projects.known_projects import projects_known
from geminids.query.sessions import ids
from geminids.query.sessions.assembly import assembled
from geminids.query.sessions.known_bundles import bundle_as_known
from geminids.query.sessions.listing import LEFT_UNREAD
from geminids.query.sessions.session_ref import SessionRef
from geminids.reading.bundles import LISTED, read_bundle
from geminids.storage.index import reader as rows
from geminids.storage.index.bundles import SessionPlace, numbered_place, place_of
from geminids.storage.index.copies import copied_messages
from geminids.storage.index.database import Index
from geminids.storage.index.folders import folders_of_session

if TYPE_CHECKING:
    from geminids.query.sessions.companion_readings import CompanionReadings
    from geminids.query.sessions.homes_reader import HomesReader

SHOW_LIMIT = 1_000_000_000
"""So many bytes beside the sessions of a project are read where one session is looked for."""


class ReadSession(NamedTuple):
    """A session as it was read, and what could not be looked into on the way to it."""

    session: Session | None
    unreadable: Sequence[Problem] = ()


class SessionReader:
    """Sessions of an index, from their files. What was scanned once is not scanned again."""

    def __init__(self, index: Index, homes: Sequence[Home], *, with_outputs: bool = True) -> None:
        self._index = index
        self._homes = homes
        self._with_outputs = with_outputs
        """Whether outputs that were moved to files of their own are read too."""
        self._scanned: dict[tuple[str, ...], HomesReader] = {}
        self._last: tuple[int, Sequence[Reading]] | None = None
        """The bundle that was read last, by its number: subagents follow their parents."""

    def read(self, wanted: SessionRef) -> ReadSession:
        """A session, also one that the index does not know."""
        return self._read(wanted, place_of(self._index, *wanted))

    def numbered(self, number: int) -> Session | None:
        """The session in a row of the index; None if it is gone."""
        place = numbered_place(self._index, number)
        if place is None:
            return None
        if place.key:
            return self._read(SessionRef(place.id, place.file), place).session
        reading = self._companions.of_shelf(place.shelf)
        wanted = SessionRef(place.id, place.file)
        found = (one for one in reading.sessions if SessionRef.of(one) == wanted) if reading else iter(())
        session = next(found, None)
        return self._assembled(session, copied_messages(self._index, *wanted)) if session else None

    def unindexed(self, wanted: str) -> ReadSession:
        """The session of an id in files beside sessions of which the index holds only a part."""
        large = {problem.file for problem in rows.problems(self._index, LEFT_UNREAD)}
        if not large:
            return ReadSession(None)
        readings = self._homes_reader(None).readings(lambda found: _is_beside(found, large), SHOW_LIMIT)
        found = ids.pick([session for reading in readings for session in reading.sessions], wanted)
        return ReadSession(self._assembled(found, ()) if found else None)

    def bundle(self, place: SessionPlace) -> Bundle | None:
        """The files that a session is read from, as the index knows them or as a scan does; None if gone."""
        known = bundle_as_known(self._index, place, self._homes)
        if known is not None:
            return known
        bundles = self._scan(place.id).bundles()
        return next((bundle for bundle in bundles if _holds(bundle, place.file)), None)

    def _read(self, wanted: SessionRef, place: SessionPlace | None) -> ReadSession:
        unreadable: list[Problem] = []
        for reading in self._readings(wanted, place):
            unreadable += [problem for problem in reading.problems if problem.is_unreadable]
            for session in reading.sessions:
                if SessionRef.of(session) == wanted:
                    copied = copied_messages(self._index, *wanted)
                    return ReadSession(self._assembled(session, copied), unreadable)
        return ReadSession(None, unreadable)

    def _readings(self, wanted: SessionRef, place: SessionPlace | None) -> Iterable[Reading]:
        """All readings that may hold a session."""
        if place is None or not place.key:
            # What lies beside sessions can only be told with all of them.
            return self._scan(wanted.id).readings(lambda found: _holds(found, wanted.file), SHOW_LIMIT)
        if self._last is None or self._last[0] != place.bundle:
            bundle = self.bundle(place)
            self._last = place.bundle, [read_bundle(bundle)] if bundle else []
        return self._last[1]

    def _scan(self, session_id: str) -> HomesReader:
        """The homes, as far as the project of a session goes; of one that is not known, all of them."""
        folders = tuple(folders_of_session(self._index, session_id))
        if folders not in self._scanned:
            self._scanned[folders] = self._homes_reader(folders or None)
        return self._scanned[folders]

    def _homes_reader(self, only: Collection[str] | None) -> HomesReader:
        # Most sessions are opened without it.
        from geminids.query.sessions.homes_reader import HomesReader

        return HomesReader(self._homes, only)

    def _assembled(self, session: Session, copied: Collection[str]) -> Session:
        disk = disk_of(self._homes, session.file or "") if self._with_outputs else None
        return assembled(session, self._projects(session.project), disk, copied)

    @cached_property
    def _companions(self) -> CompanionReadings:
        from geminids.query.sessions.companion_readings import CompanionReadings

        return CompanionReadings(self._index, self._homes, SHOW_LIMIT)

    @cached_property
    def _projects(self) -> Callable[[Project], Project]:
        return projects_known(self._index)


def _holds(found: Bundle | Companions, file: str | None) -> bool:
    if isinstance(found, Companions):
        # Reading these takes reading all sessions of the project first.
        return any(storable(beside.path) == file for beside in found.files if beside.kind in LISTED)
    return any(storable(str(held.path)) == file for held in found.files)


def _is_beside(found: Bundle | Companions, files: set[str]) -> bool:
    return isinstance(found, Companions) and any(storable(beside.path) in files for beside in found.files)
