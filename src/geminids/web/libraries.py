"""Libraries for threads: a few that read, each for one question at a time, and one that syncs.

A library may go from thread to thread but not be used by two at once: its index is one connection. Readers
take the index as it is; SQLite shows them what the one that syncs has written since. They are opened anew
after each sync that took something in, because a library remembers more than its index: what lies on the
disk, which copies are kept, what is known of folders.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import BoundedSemaphore, Lock, RLock
from typing import Protocol

from geminids.errors import GeminidsError, NoIndexError
from geminids.library import Library, Outcome
from geminids.web.documents.overview import SyncState
from geminids.web.errors import IndexBeingMadeError

READERS = 6


class OpenLibrary(Protocol):
    """Opens the library that is shown, with or without bringing its index up to date."""

    def __call__(self, *, sync: bool) -> Library: ...  # noqa: D102


class Libraries:
    """All libraries of a server."""

    def __init__(self, open_library: OpenLibrary, *, syncs: bool) -> None:
        self.syncs = syncs
        """Whether the index is brought up to date; else it is taken as it is."""
        self._open = open_library
        self._idle: deque[tuple[int, Library]] = deque()
        self._free = BoundedSemaphore(READERS)
        self._writer: Library | None = None
        self._writing = Lock()
        self._alone = RLock()
        self._in_memory = False
        self._generation = 0
        self._synced_at: datetime | None = None
        self._said: tuple[str, ...] = ()

    @property
    def generation(self) -> int:
        """Grows whenever the index has taken something in."""
        return self._generation

    def state(self) -> SyncState:
        """How the index stands."""
        return SyncState(
            is_running=self._writing.locked(),
            generation=self._generation,
            at=self._synced_at,
            said=self._said,
        )

    def open(self) -> Library:
        """A library of one's own, which takes the index as it is."""
        return self._open(sync=False)

    @contextmanager
    def borrow(self) -> Iterator[Library]:
        """A library for one question. Raises IndexBeingMadeError where there is nothing to ask yet."""
        with self._free:
            try:
                with self._shared() if self._in_memory else self._reader() as library:
                    yield library
            except NoIndexError as error:
                if self.syncs and not self._synced_at:
                    raise IndexBeingMadeError from error
                raise

    @contextmanager
    def _shared(self) -> Iterator[Library]:
        """The library that syncs: an index that can be kept nowhere is its own."""
        with self._alone:
            assert self._writer is not None
            yield self._writer

    @contextmanager
    def _reader(self) -> Iterator[Library]:
        generation, library = self._idle_one() or (self._generation, self.open())
        try:
            yield library
        except NoIndexError:
            library.close()
            raise
        except GeminidsError:
            # An answer like any other.
            self._idle.append((generation, library))
            raise
        except BaseException:
            # Whatever it was in the middle of, the next question begins with another one.
            library.close()
            raise
        self._idle.append((generation, library))

    def _idle_one(self) -> tuple[int, Library] | None:
        """A library that nobody uses and that is not behind; others are let go of."""
        while True:
            try:
                generation, library = self._idle.pop()
            except IndexError:
                return None
            if generation == self._generation:
                return generation, library
            library.close()

    def sync(self) -> Outcome:
        """Bring the index up to date, one at a time."""
        with self._alone, self._writing:
            if self._writer is None:
                self._writer = self._open(sync=True)
            outcome = self._writer.sync()
            if not self._synced_at or outcome.failed:
                self._in_memory = not self.have_index()
            self._synced_at, self._said = datetime.now(UTC), outcome.said
            if outcome.bundles or outcome.built or outcome.kept or not self._generation:
                self._generation += 1
            return outcome

    def have_index(self) -> bool:
        """Whether there is an index that everybody can read."""
        with self.open() as reader:
            try:
                reader.is_empty()
            except NoIndexError:
                return False
            return True

    def close(self) -> None:
        """Let go of all of them."""
        with self._alone, self._writing:
            for _, library in self._idle:
                library.close()
            self._idle.clear()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
