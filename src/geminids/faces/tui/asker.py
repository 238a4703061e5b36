"""Threads that ask for sessions, so that a key never waits for an answer.

One answers, at first from the index as it is; the other takes in what is new, after which the first looks
again. Of what is asked while an answer is made, only the last counts.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread

from geminids.core.errors import GeminidsError, NoIndexError, NoSessionsError
from geminids.faces.tui.matches import Asked, Listed, Matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.library import Library
    from geminids.library.current_index import Progress, Tell

    OpenLibrary = Callable[[bool, Tell, Progress], Library]
    """Whether it takes in what is new first, who hears what it says, and who how far it is."""

_PATIENCE = 2.0
"""Seconds to wait for a thread; what it then still does is given up with the process, and loses nothing."""


class _StoppedError(Exception):
    """Nobody waits for the answer any more."""


class Asker:
    """Asks in threads of its own; `wake` is called when there is something to look at."""

    def __init__(self, open_library: OpenLibrary, now: datetime, wake: Callable[[], None]) -> None:
        self._open_library = open_library
        self._now = now
        self._wake = wake
        self._changed = Condition()
        self._asked: Asked | None = None
        self._has_new = False
        self._is_read = False
        """Whether what is new was taken in since the index was opened."""
        self._is_stopping = False
        self.listed: Listed | None = None
        """The last answer."""
        self.said = ""
        """What a person should know, or how far reading is."""
        self.error: GeminidsError | OSError | None = None
        """What ended it."""
        self._threads = [
            Thread(target=self._caught, args=[run], daemon=True) for run in (self._read, self._run)
        ]
        for thread in reversed(self._threads):
            thread.start()

    def ask(self, asked: Asked) -> None:
        """Ask for something else than before."""
        with self._changed:
            self._asked, self._has_new = asked, True
            self._changed.notify_all()

    def close(self) -> None:
        """Let go of the index."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def _caught(self, run: Callable[[], None]) -> None:
        try:
            run()
        except _StoppedError:
            return
        except (GeminidsError, OSError) as error:
            self.error = error
            self._wake()

    def _read(self) -> None:
        """Take in what is new."""
        with self._open_library(True, self._hear, self._progress) as library:
            library.to_come()
            if library.is_empty():
                raise NoSessionsError("", library.searched_places)
        with self._changed:
            self._is_read = True
            self._changed.notify_all()

    def _run(self) -> None:
        """Answer with the index as it is, again and again."""
        while True:
            try:
                with self._open_library(False, self._hear, self._progress) as library:
                    self._answer_until_read(Matches(library, self._now))
            except NoIndexError:
                # The first time nothing can be listed before it is read.
                self._wait_until_read()

    def _answer_until_read(self, matches: Matches) -> None:
        while (asked := self._next()) is not None:
            self.listed = matches.listed(asked)
            self._check()
            self._wake()

    def _next(self) -> Asked | None:
        """What is asked, as soon as it is something new; None as soon as the index is."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_new or self._is_read or self._is_stopping)
            self._check()
            if self._is_read:
                self._begin_anew()
                return None
            self._has_new = False
            return self._asked

    def _wait_until_read(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_read or self._is_stopping)
            self._check()
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Have the same asked again."""
        self._is_read, self._has_new = False, self._asked is not None

    def _check(self) -> None:
        if self._is_stopping:
            raise _StoppedError

    def _hear(self, message: str) -> None:
        self._check()
        self.said = message
        self._wake()

    def _progress(self, done: int, whole: int) -> None:
        self._check()
        self._hear(f"Reading sessions: {100 * done // max(whole, 1)} %" if done < whole else "")
