"""Threads that ask for sessions, so that a key never waits for an answer.

One answers, at first from the index as it is; the other takes in what is new, after which the first looks
again. Of what is asked while an answer is made, only the last counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Condition, Thread
from time import monotonic

from geminids.core.errors import NoIndexError, NoSessionsError
from geminids.faces.tui.errors import NoSharedIndexError
from geminids.faces.tui.matches import Asked, Listed, Matches
from geminids.library.current_index import NEWEST_FIRST
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.errors import Unreadable
    from geminids.library import Library
    from geminids.library.current_index import Progress, Tell

    OpenLibrary = Callable[[bool, Tell, Progress], Library]
    """Whether it takes in what is new first, who hears what it says, and who how far it is."""

_PAUSE = 0.3
"""Seconds without another question until sessions are asked for that are not seen yet."""
_BEFORE_READING = 0.2
"""Seconds between the first answer and reading what is new: the answer is drawn first."""
_LEFT_ALONE = 1.0
"""Seconds without a question until what is new is read again: reading would slow the answers."""
_PATIENCE = 2.0
"""Seconds to wait for a thread; what it then still does is given up with the process, and loses nothing."""


class _StoppedError(Exception):
    """Nobody waits for the answer any more."""


class Asker:
    """Asks in threads of its own; `wake` is called when there is something to look at."""

    def __init__(
        self,
        open_library: OpenLibrary,
        now: datetime,
        wake: Callable[[], None],
        *,
        with_use: bool = False,
        every: float | None = None,
    ) -> None:
        """With `with_use` sessions come with what they used; `every` so many seconds what is new is read."""
        self._open_library = open_library
        self._now = now
        self._wake = wake
        self._with_use = with_use
        self._every = every
        self._changed = Condition()
        self.asked: Asked | None = None
        """The last question."""
        self._asked_at = 0.0
        self._has_new = False
        self._may_read = False
        """Whether there was an answer, or none without reading."""
        self._is_read = False
        """Whether what is new was taken in since the index was opened."""
        self._is_stopping = False
        self.listed: Listed | None = None
        """The last answer."""
        self._progress_told = self._to_come_told = ""
        self._heard: dict[str, bool] = {}
        """The sentences that were said, and whether they have been seen: nothing is said twice."""
        self.closed = ""
        """What could not be read, in a sentence."""
        self.readings = 0
        """How often what is new was looked for."""
        self.changes = 0
        """How often there was something, and it can be asked for."""
        self._state: Sequence[object] | None = None
        """Of the library as it was read last."""
        self.error: Exception | None = None
        """What ended it."""
        self._threads = [
            Thread(target=self._caught, args=[run], daemon=True) for run in (self._read, self._run)
        ]
        for thread in reversed(self._threads):
            thread.start()

    @property
    def said(self) -> str:
        """How far reading is, or what else a person should know."""
        return self._progress_told or self._to_come_told or self._unseen

    @property
    def _unseen(self) -> str:
        return " ".join(sentence for sentence, is_seen in [*self._heard.items()] if not is_seen)

    def silence(self) -> None:
        """What was to be said has been seen."""
        self._heard.update(dict.fromkeys(self._heard, True))

    def ask(self, asked: Asked) -> None:
        """Ask for something else than before."""
        with self._changed:
            self.asked, self._has_new, self._asked_at = asked, True, monotonic()
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
        except Exception as error:  # noqa: BLE001 - it is raised again where somebody sees it
            self.error = error
            self._wake()

    def _read(self) -> None:
        """Take in what is new, once or again and again."""
        with self._changed:
            self._changed.wait_for(lambda: self._may_read or self._is_stopping)
            if self.listed and self._changed.wait_for(lambda: self._is_stopping, _BEFORE_READING):
                return
        while True:
            self._check()
            with self._open_library(True, self._hear, self._progress) as library:
                is_new = self._look_at(library)
            with self._changed:
                self._is_read = self._is_read or is_new
                self.readings += 1
                self._changed.notify_all()
            self._wake()
            with self._changed:
                if self._every is None or self._is_stopped_within(self._every):
                    return

    def _look_at(self, library: Library) -> bool:
        """See how much is still to be read and what cannot be, and whether anything is new."""
        left = library.to_come()
        if self._every is None and library.is_empty():
            raise NoSessionsError("", library.searched_places)
        more = "1 more session is" if left == 1 else f"{left:,} more sessions are"
        self._to_come_told = f"{more} being read" if left else ""
        if (closed := told_closed(library.unreadable())) != self.closed:
            self.closed = closed
            self._hear(closed)
        before, self._state = self._state, library.state()
        return self._state != before

    def _is_stopped_within(self, seconds: float) -> bool:
        """Wait so long, and until nobody types."""
        while not self._changed.wait_for(lambda: self._is_stopping, seconds):
            seconds = self._asked_at + _LEFT_ALONE - monotonic()
            if seconds <= 0:
                return False
        return True

    def _run(self) -> None:
        """Answer with the index as it is, again and again."""
        while True:
            try:
                with self._open_library(False, self._hear, self._progress) as library:
                    # Nothing that is read behind is new if that stays as it is.
                    self._state = self._state or library.state()
                    self._answer_until_read(Matches(library, self._now, with_use=self._with_use))
            except NoIndexError:
                if self.changes:
                    # It was made, and only for the thread that made it.
                    raise NoSharedIndexError(self._unseen) from None
                # The first time nothing can be listed before it is read.
                self._wait_until_read()

    def _answer_until_read(self, matches: Matches) -> None:
        while (asked := self._next()) is not None:
            # Who looks at a list as it was goes on with all of it.
            is_same = self.listed is not None and self.listed.asked.is_like(asked)
            at_once = asked.limit if is_same else asked.at_once or asked.limit
            self._answer(matches, asked._replace(limit=at_once, is_hasty=at_once < asked.limit))
            if at_once < asked.limit and self._may_be_more(at_once) and self._is_left_alone():
                self._answer(matches, asked)

    def _answer(self, matches: Matches, asked: Asked) -> None:
        self.listed = matches.listed(asked)
        self._check()
        self._wake()
        with self._changed:
            self._let_read()

    def _may_be_more(self, limit: int) -> bool:
        return self.listed is not None and len(self.listed.lines) >= limit

    def _is_left_alone(self) -> bool:
        """Whether nothing else is wanted for a moment."""
        with self._changed:
            others = self._changed.wait_for(
                lambda: self._has_new or self._is_read or self._is_stopping, _PAUSE
            )
        return not others

    def _let_read(self) -> None:
        if not self._may_read:
            self._may_read = True
            self._changed.notify_all()

    def _next(self) -> Asked | None:
        """What is asked, as soon as it is something new; None as soon as the index is."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_new or self._is_read or self._is_stopping)
            self._check()
            if self._is_read:
                self._begin_anew()
                return None
            self._has_new = False
            return self.asked

    def _wait_until_read(self) -> None:
        with self._changed:
            self._let_read()
            self._changed.wait_for(lambda: self._is_read or self._is_stopping)
            self._check()
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Have the same asked again."""
        self._is_read, self._has_new = False, self.asked is not None
        self.changes += 1

    def _check(self) -> None:
        if self._is_stopping:
            raise _StoppedError

    def _hear(self, message: str) -> None:
        self._check()
        # How much that is at any time is told in fewer words.
        if message and not message.startswith(NEWEST_FIRST):
            self._heard.setdefault(message, False)
            self._wake()

    def _progress(self, done: int, whole: int) -> None:
        self._check()
        self._progress_told = f"Reading sessions: {100 * done // max(whole, 1)} %" if done < whole else ""
        self._wake()


def told_closed(places: Sequence[Unreadable]) -> str:
    """What could not be read, in a sentence."""
    if not places:
        return ""
    first = f"Cannot read {words.path(places[0].file)}: {places[0].detail}"
    more = f", and {words.count(len(places) - 1, 'more place')}" if len(places) > 1 else ""
    return f"{first}{more}. `geminids doctor` shows all."
