"""The index of a library: brought up to date when it is first asked, made anew where it is damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from geminids.core.errors import NoIndexError
from geminids.core.values import Value
from geminids.storage.index.database import (
    DamagedIndexError,
    Index,
    IndexFile,
    closed_on_error,
    naming_damage,
    naming_strange_rows,
)

if TYPE_CHECKING:
    from geminids.core.disk import Disk
    from geminids.storage.archive.archive import Archive
    from geminids.sync import Sync
    from geminids.sync.values import Outcome

BUDGET = 5.0
"""Seconds that a command may spend on what is new before it answers with what it has."""

Answer = TypeVar("Answer")
Tell = Callable[[str], None]
Progress = Callable[[int, int], None]
"""Told how many bytes of how many are read."""


class IndexManner(Value):
    """How the index is brought up to date."""

    place: Callable[[], IndexFile | None]
    """Where it is kept; None if nowhere."""
    sync: Callable[[], Sync]
    is_synced: bool
    """Whether that is done before it is asked; else it is used as it is."""
    disk: Disk
    archive: Archive | None
    tell: Tell
    progress: Progress | None


class CurrentIndex:
    """The index that questions are put to."""

    def __init__(self, manner: IndexManner) -> None:
        self._manner = manner
        self._opened: Index | None = None

    def ask(self, question: Callable[[Index], Answer]) -> Answer:
        """The answer of the index; one that turns out to be damaged is made anew first."""
        try:
            with naming_strange_rows(self.open().path):
                return self._answer(question)
        except DamagedIndexError as error:
            place = self._manner.place()
            if place is None:
                raise
            self.close()
            follows = "; the index is made anew" if self._manner.is_synced else ""
            self._manner.tell(f"{error} It is now {place.move_aside(error.path)!r}{follows}.")
            return self._answer(question)

    def open(self) -> Index:
        """The index, up to date if that is wished."""
        if self._opened is None:
            self._opened = self._up_to_date() if self._manner.is_synced else self._as_it_is()
        return self._opened

    def catch_up(self) -> None:
        """Bring it up to date now, if that is done at all before it is asked."""
        if self._manner.is_synced:
            self.open()

    def sync(self, *, full: bool) -> Outcome:
        """Bring it up to date, however long it takes; with `full`, make it from nothing."""
        self.close()
        self._manner.disk.look_again()
        self._opened, outcome = self._manner.sync().up_to_date(full=full, progress=self._manner.progress)
        self._manner.disk.look_again()
        return outcome

    def close(self) -> None:
        """Let go of the index and of the kept copies; what is asked later opens them again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        if self._manner.archive is not None:
            self._manner.archive.close()

    def _answer(self, question: Callable[[Index], Answer]) -> Answer:
        index = self.open()
        with naming_damage(index.path):
            return question(index)

    def _up_to_date(self) -> Index:
        manner = self._manner
        index, outcome = manner.sync().up_to_date(budget=BUDGET, progress=manner.progress)
        manner.disk.look_again()
        with closed_on_error(index):
            for message in (*outcome.said, *(manner.archive.said if manner.archive else ())):
                manner.tell(message)
            if outcome.left:
                manner.tell(
                    f"There was no time for all that is new: {outcome.left:,} more groups of files. "
                    "`geminids sync` takes them in."
                )
            return index

    def _as_it_is(self) -> Index:
        place = self._manner.place()
        index = place.open() if place else None
        if index is None:
            raise NoIndexError
        return index
