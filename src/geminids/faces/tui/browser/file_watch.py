"""Notices that files were written to, or are gone, while somebody reads what stood in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from threading import Condition, Thread

EVERY = 1.0
"""Seconds after which is looked again."""
_PATIENCE = 2.0
"""Seconds to wait for a disk that does not answer."""
_REST = 5
"""What was written is read at most a part of the time so large: one in so many."""


class FileWatch:
    """A thread that looks at some files again and again; `wake` is called when one of them differs."""

    def __init__(self, sizes: Mapping[str, int], wake: Callable[[], None]) -> None:
        """`sizes` are those that the files had when they were read."""
        self._wake = wake
        self._changed = Condition()
        self.paths = frozenset(sizes)
        self._state = self._states()
        self._is_old = any(self._state[path] and self._state[path][0] != size for path, size in sizes.items())
        self._pause = EVERY
        self._is_stopping = False
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def take_change(self) -> bool:
        """Whether a file differs since this was asked the last time."""
        with self._changed:
            was, self._is_old = self._is_old, False
        return was

    def rest(self, seconds: float) -> None:
        """Reading what is new took so long."""
        with self._changed:
            self._pause = max(EVERY, _REST * seconds)

    def close(self) -> None:
        """Look no more."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._is_stopping, self._pause):
                    return
            if (state := self._states()) != self._state:
                with self._changed:
                    self._state, self._is_old = state, True
                self._wake()

    def _states(self) -> dict[str, tuple[int, ...]]:
        return {path: _state(path) for path in self.paths}


def _state(path: str) -> tuple[int, ...]:
    """The size of a file and when it was written; nothing of one that is gone."""
    try:
        found = os.stat(path)  # noqa: PTH116 - the paths are words, and may be anything
    except (OSError, ValueError):
        return ()
    return found.st_size, found.st_mtime_ns
