"""A thread in which the engine works, so that who waits for it can be interrupted.

The engine hears of that between two steps. A single step may take hours (the distance of two long texts), so
the thread can be left behind: it ends with the process.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

_OFTEN = 0.1
"""Seconds between two interruptions of what does not end."""
PATIENCE = 2.0
"""Seconds that are waited for the end of a step."""
Given = TypeVar("Given")


class Asking:
    """What is asked one after the other, and answered in a thread."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="asking", daemon=True)
        self._thread.start()
        self.is_left_behind = False
        """Whether it still works on something that nobody waits for."""

    def answer(self, work: Callable[[], Given]) -> Given:
        """What comes of some work, or KeyboardInterrupt."""
        doing: Future[Given] = Future()
        self._asked.put((doing, work))
        try:
            return doing.result()
        except KeyboardInterrupt:
            try:
                self._insist(doing)
            finally:
                self.is_left_behind = not doing.done()
            raise

    def _insist(self, doing: Future[Any]) -> None:
        # An engine that was about to begin heard nothing, so it is told again.
        for _ in range(round(PATIENCE / _OFTEN)):
            if doing.done():
                return
            self._interrupt()
            wait([doing], _OFTEN)

    def close(self) -> None:
        """End the thread, unless it is left behind."""
        self._asked.put(None)
        if not self.is_left_behind:
            self._thread.join()

    def _work(self) -> None:
        while asked := self._asked.get():
            doing, work = asked
            try:
                doing.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked
                doing.set_exception(error)
            # Else what it made would stay until something else is asked.
            del asked, doing, work
