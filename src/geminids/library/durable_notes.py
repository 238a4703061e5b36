"""What the user told us, kept in a file that outlives the index: marks, links, what is forgotten.

Where that file is damaged it is mended, which is said. Without a folder of our own there is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

from geminids.core.errors import GeminidsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from geminids.storage.durable.values import Tombstone

    Answer = TypeVar("Answer")


class DurableNotes:
    """The durable file in a folder of ours."""

    def __init__(self, folder: str | None, tell: Callable[[str], None]) -> None:
        self._folder = folder
        self._tell = tell

    def ask(self, question: Callable[[], Answer]) -> Answer:
        """An answer of the file; one that is damaged is mended first.

        Raises GeminidsError or OSError if it cannot be mended.
        """
        from geminids.storage.durable.database import DamagedStoreError

        try:
            return question()
        except DamagedStoreError:
            self.mend()
            return question()

    def mend(self) -> None:
        """Recover the file, and say so. Raises GeminidsError or OSError."""
        from pathlib import Path

        from geminids.storage.durable.recovery import mend

        if self._folder is not None and (message := mend(Path(self._folder))):
            self._tell(message)

    def generation(self) -> int:
        """A number that grows with every change of links and of what was learnt of projects."""
        from geminids.storage.durable.database import DAMAGED, generation

        folder = self._folder
        number = generation(folder) if folder else 0
        if folder and number == DAMAGED:
            # What cannot be mended is said where somebody asks for it.
            with suppress(GeminidsError, OSError):
                self.mend()
            number = generation(folder)
        return number

    def forgotten(self) -> dict[str, Tombstone]:
        """The sessions that are not to come back, by their ids."""
        folder = self._folder
        if folder is None:
            return {}
        from geminids.storage.durable.tombstones import tombstones

        return self.ask(lambda: tombstones(folder))

    def generation_of_forgotten(self) -> int:
        """A number that grows with every change of what is forgotten."""
        from geminids.storage.durable.database import FORGOTTEN, generation

        return generation(self._folder, FORGOTTEN) if self._folder else 0

    def lift(self, sessions: Collection[str]) -> None:
        """Let forgotten sessions come back."""
        from pathlib import Path

        from geminids.storage.durable.tombstones import lift

        if self._folder is not None:
            lift(Path(self._folder), sessions)
