"""Sessions that the user has forgotten: they are left out of what is read, and no copy is kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from geminids.core.agents.base import Bundle, Reading
from geminids.core.model import Session
from geminids.core.names import storable
from geminids.storage.durable.values import Tombstone


class Graves:
    """The tombstones, and which of them no longer hold."""

    def __init__(self, stones: Mapping[str, Tombstone]) -> None:
        self._stones = dict(stones)
        self.lifted: set[str] = set()
        """Sessions that may come back, since they have changed."""

    @property
    def any(self) -> bool:
        """Whether any session stays away."""
        return bool(self._stones)

    @property
    def files(self) -> Iterable[str]:
        """The files of all sessions that stay away, as they were when these were forgotten."""
        return [path for stone in self._stones.values() for path in stone.files]

    def holds(self, agent: str, native_id: str | None) -> bool:
        """Whether a session stays away."""
        return f"{agent}:{native_id}" in self._stones

    def without_forgotten(self, reading: Reading, bundle: Bundle | None = None) -> tuple[Reading, set[str]]:
        """What was read without the sessions that stay away, and the files that hold nothing else."""
        if not self._stones:
            return reading, set()
        self._lift(reading.sessions, bundle)
        away = self._away(reading.sessions)
        staying = tuple(session for session in reading.sessions if session.id not in away)
        held = {file.path for session in staying for file in session.files}
        gone = {file.path for session in reading.sessions if session.id in away for file in session.files}
        return msgspec.structs.replace(reading, sessions=staying), gone - held

    def _away(self, sessions: Iterable[Session]) -> set[str]:
        """Those with a tombstone, and all that they led."""
        every = list(sessions)
        away = {session.id for session in every if storable(session.id) in self._stones}
        while led := {s.id for s in every if s.parent_id in away and s.id not in away}:
            away |= led
        return away

    def _lift(self, sessions: Iterable[Session], bundle: Bundle | None) -> None:
        if bundle is None:
            return
        now = {storable(str(file.path)): (file.size, file.mtime_ns) for file in bundle.files}
        for session in sessions:
            stone = self._stones.get(storable(session.id))
            if stone is None or not stone.until_changed:
                continue
            files = {storable(file.path) for file in session.files}
            if {path: facts for path, facts in now.items() if path in files} != dict(stone.files):
                del self._stones[stone.session]
                self.lifted.add(stone.session)
