"""What lies beside sessions, read as it was taken in: tied to them by what the index noted of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from geminids.core.agents.base import Companions, Home, Reading
from geminids.core.names import storable
from geminids.query.sessions.homes_reader import HomesReader
from geminids.reading.bundles import project_key, read_beside, shelves
from geminids.storage.codec.rows import traces
from geminids.storage.index.bundles import Known
from geminids.storage.index.database import Index
from geminids.storage.index.folders import folders_with_companions, shelf_number


class CompanionReadings:
    """Saved chats and lost sessions, project by project; none of the sessions beside them is read."""

    def __init__(self, index: Index, homes: Sequence[Home], limit: int) -> None:
        self._index = index
        self._homes = homes
        self._limit = limit
        self._last: tuple[int, Reading | None] | None = None

    def of_shelf(self, shelf: int) -> Reading | None:
        """What is listed of a project beside its sessions; None if that is gone."""
        if self._last is None or self._last[0] != shelf:
            found = self.found(shelf)
            tied = traces(Known.traces(self._index, shelf))
            self._last = shelf, read_beside(found, tied, self._limit) if found else None
        return self._last[1]

    def found(self, shelf: int) -> Companions | None:
        """What lies beside the sessions of a project, unread; None if that is gone."""
        return self._companions.get(shelf)

    @cached_property
    def _companions(self) -> Mapping[int, Companions]:
        """The companions by the numbers of their shelves, from one look at all folders that have any."""
        scans = HomesReader(self._homes, folders_with_companions(self._index)).scans
        found = (shelf.companions for shelf in shelves(scans))
        numbered = ((shelf_number(self._index, one.agent, storable(project_key(one))), one) for one in found)
        return {number: one for number, one in numbered if number is not None}
