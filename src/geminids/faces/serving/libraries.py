"""Libraries for threads: a few that read, each for one question at a time, and one that syncs.

A library may go from thread to thread but not be used by two at once: its index is one connection. Readers
take the index as it is; SQLite shows them what the one that syncs has written since. They are opened anew
after each sync that took something in, because a library remembers more than its index: what lies on the
disk, which copies are kept, what is known of folders.

Where there is no session at all, the sample is shown in their place until there is one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import BoundedSemaphore, Lock, RLock
from typing import Protocol

from geminids.core.errors import GeminidsError, NoIndexError
from geminids.faces.documents.health import SyncState
from geminids.faces.serving.errors import EndingError, IndexBeingMadeError
from geminids.library import Library
from geminids.library.current_index import Progress
from geminids.sync.values import Outcome

READERS = 6
OFTEN = 1.0
"""Seconds for which an answer holds while a first index grows."""
PATIENCE = 0.5
"""Seconds that a sync has to end."""


class OpenLibrary(Protocol):
    """Opens the library that is shown, with or without bringing its index up to date."""

    def __call__(self, *, sync: bool, progress: Progress | None = None) -> Library: ...  # noqa: D102


class Libraries:
    """All libraries of a server."""

    def __init__(
        self, open_library: OpenLibrary, *, syncs: bool, open_sample: OpenLibrary | None = None
    ) -> None:
        self.syncs = syncs
        """Whether the index is brought up to date; else it is taken as it is."""
        self._open = open_library
        self._open_sample = open_sample
        self._idle: deque[tuple[int, Library]] = deque()
        self._free = BoundedSemaphore(READERS)
        self._writer: Library | None = None
        self._sample: Library | None = None
        self._is_empty: bool | None = None
        self._read: tuple[int, int] | None = None
        self._is_lost = False
        self._is_ending = False
        self._writing = Lock()
        self._alone = RLock()
        self._in_memory = False
        self._generation = 0
        self._grown_at = 0.0
        self._synced_at: datetime | None = None
        self._said: tuple[str, ...] = ()

    @property
    def generation(self) -> int:
        """Grows whenever the index has taken something in."""
        return self._generation

    @property
    def is_empty(self) -> bool | None:
        """Whether the last sync found nothing; None before the first."""
        return self._is_empty

    @property
    def is_lost(self) -> bool:
        """Whether there was an index that can no longer be read, so that another must be made."""
        return self._is_lost

    @property
    def is_sample_instead(self) -> bool:
        """Whether the sample is shown because there is nothing else."""
        return self._sample is not None

    def state(self) -> SyncState:
        """How the index stands."""
        is_running = self._writing.locked()
        read, total = (self._read if is_running else None) or (None, None)
        to_come = 0 if self._in_memory else self._to_come()
        return SyncState(
            is_running=is_running,
            is_first=self.syncs and not self._synced_at and to_come is None,
            is_empty=self._is_empty,
            read=read,
            total=total,
            at=self._synced_at,
            said=self._said,
            to_come=to_come or 0,
        )

    def open(self) -> Library:
        """A library of one's own, which takes the index as it is."""
        if self._sample is not None and self._open_sample is not None:
            return self._open_sample(sync=False)
        return self.open_homes()

    def open_homes(self) -> Library:
        """The same of the homes themselves, also where the sample is shown in their place."""
        return self._open(sync=False)

    @contextmanager
    def borrow(self) -> Iterator[Library]:
        """A library for one question. Raises IndexBeingMadeError where there is nothing to ask yet."""
        with self._free:
            try:
                with self._shared() if self._in_memory else self._reader() as library:
                    yield library
            except NoIndexError as error:
                # Also when a further agent has come to this machine: with its home there is another index.
                if self.syncs:
                    self._is_lost = self._synced_at is not None
                    raise IndexBeingMadeError from error
                raise

    @contextmanager
    def _shared(self) -> Iterator[Library]:
        """The library that syncs: an index that can be stored nowhere is its own."""
        with self._alone:
            shown = self._sample or self._writer
            assert shown is not None
            yield shown

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
            self._give_back(generation, library)
            raise
        except BaseException:
            # Whatever it was in the middle of, the next question begins with another one.
            library.close()
            raise
        self._give_back(generation, library)

    def _give_back(self, generation: int, library: Library) -> None:
        if self._is_ending:
            # All others are closed already, or will be.
            library.close()
        else:
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
        """Bring the index up to date, one at a time. Raises EndingError if `end` was called."""
        with self._alone, self._writing:
            if self._is_ending:
                # Whoever closes all libraries may have been here before us.
                raise EndingError
            self._read = None
            if has_moved := self._writer is not None and self._writer.lacks_a_home():
                self._writer.close()
                self._writer = None
            if self._writer is None:
                self._writer = self._open(sync=True, progress=self._note)
            self._is_lost = False
            outcome = self._writer.sync()
            was_empty, self._is_empty = self._is_empty, self._writer.is_empty()
            # Until the first sync, what there is counts as something.
            is_another = bool(was_empty) is not self._is_empty
            if is_another:
                self._choose()
            if not self._synced_at or outcome.failed or has_moved:
                self._in_memory = not self.have_index()
            self._synced_at, self._said = datetime.now(UTC), outcome.said
            if outcome.bundles or outcome.built or outcome.kept or is_another or has_moved:
                self._generation += 1
            return outcome

    def renew(self) -> None:
        """Have libraries opened anew: another process has brought the index up to date."""
        self._generation += 1

    def _choose(self) -> None:
        """Show the sample in the place of nothing, and what there is in the place of the sample."""
        if self._sample is not None:
            self._sample.close()
            self._sample = None
        if self._is_empty and self._open_sample is not None:
            sample = self._open_sample(sync=True)
            try:
                sample.sync()
            except BaseException:
                sample.close()
                raise
            self._sample = sample

    def _note(self, read: int, total: int) -> None:
        """Hear how much is read."""
        self._read = (read, total)
        now = time.monotonic()
        if not self._synced_at and now - self._grown_at >= OFTEN:
            # The newest sessions can be asked for while older ones are still read.
            self._grown_at = now
            self._generation += 1
        if self._is_ending:
            raise EndingError

    def _to_come(self) -> int | None:
        """How many groups of files the index does not hold yet; None if there is no index."""
        with self.open() as reader:
            try:
                return reader.to_come()
            except NoIndexError:
                return None

    def have_index(self) -> bool:
        """Whether there is an index that everybody can read."""
        return self._is_empty_as_it_is() is not None

    def have_sessions(self) -> bool:
        """Whether there is one that holds something."""
        return self._is_empty_as_it_is() is False

    def _is_empty_as_it_is(self) -> bool | None:
        """Whether the index holds nothing; None if there is none."""
        with self.open() as reader:
            try:
                return reader.is_empty()
            except NoIndexError:
                return None

    def end(self) -> None:
        """Let no sync begin or go on."""
        self._is_ending = True

    def close(self) -> None:
        """Let go of all of them; of one that is in the middle of a large file, when the process ends."""
        self.end()
        if not self._alone.acquire(timeout=PATIENCE):
            return
        try:
            for library in (*(one for _, one in self._idle), self._writer, self._sample):
                if library is not None:
                    library.close()
            self._idle.clear()
            self._writer = self._sample = None
        finally:
            self._alone.release()
