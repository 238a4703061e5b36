"""Questions to the library that threads answer, so that a key never waits.

A question belongs to a lane: of those in it that nobody has begun to answer only the last counts. So who
runs through a list gets the preview of the session that is looked at, and not of all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from geminids.core.errors import GeminidsError
from geminids.core.values import NamedTuple

if TYPE_CHECKING:
    from geminids.faces.tui.asker import OpenLibrary
    from geminids.library import Library

Value = TypeVar("Value")
Failed = Callable[[Exception], None]
_PATIENCE = 2.0
"""Seconds to wait for a thread; what it then still reads is given up with the process, and loses nothing."""
_PATIENCE_TO_WRITE = 30.0
"""The same where something is to be written. It is written whole or not at all."""


class _Asked(NamedTuple):
    question: Callable[[Library], Any]
    then: Callable[[Any], None]
    failed: Failed
    is_write: bool


class Questions:
    """A thread that asks a library; what it finds is handed on by who calls `deliver`."""

    def __init__(self, open_library: OpenLibrary, wake: Callable[[], None], failed: Failed) -> None:
        """`wake` is called from the thread when there is something to deliver; `failed` hears of errors."""
        self._open_library = open_library
        self._wake = wake
        self._failed = failed
        self._changed = Condition()
        self._waiting: dict[str, _Asked] = {}
        self._answers: list[Callable[[], None]] = []
        self._is_old = False
        self._is_stopping = False
        self._is_writing = False
        self._thread: Thread | None = None

    def ask(
        self,
        lane: str,
        question: Callable[[Library], Value],
        then: Callable[[Value], None],
        failed: Failed | None = None,
        *,
        is_write: bool = False,
    ) -> None:
        """Have something asked; `then` gets the answer, unless another question in its lane comes first.

        What `is_write` is done even if nobody waits for the answer any more.
        """
        with self._changed:
            self._waiting.pop(lane, None)
            self._waiting[lane] = _Asked(question, then, failed or self._failed, is_write)
            self._changed.notify_all()
        if self._thread is None:
            self._thread = Thread(target=self._run, daemon=True)
            self._thread.start()

    def renew(self) -> None:
        """What is asked from now on is asked of the index as it is by then."""
        with self._changed:
            self._is_old = True

    def deliver(self) -> None:
        """Hand on what was found."""
        with self._changed:
            answers, self._answers = self._answers, []
        for answer in answers:
            answer()

    def close(self) -> None:
        """Let go of the index."""
        with self._changed:
            self._is_stopping = True
            self._waiting = {lane: asked for lane, asked in self._waiting.items() if asked.is_write}
            writes = self._is_writing or bool(self._waiting)
            self._changed.notify_all()
        if self._thread:
            self._thread.join(_PATIENCE_TO_WRITE if writes else _PATIENCE)

    def _run(self) -> None:
        library: Library | None = None
        while (asked := self._next()) is not None:
            if library and self._has_changed():
                library.close()
                library = None
            try:
                library = library or self._open_library(False, _nobody, _no_progress)
                answer = partial(asked.then, asked.question(library))
            except (GeminidsError, OSError) as error:
                answer = partial(asked.failed, error)
            except Exception as error:  # noqa: BLE001 - it is raised again where somebody sees it
                answer = partial(_raise, error)
            with self._changed:
                self._answers.append(answer)
            self._wake()
        if library:
            library.close()

    def _next(self) -> _Asked | None:
        """What is to be asked, as soon as there is something; None when nobody wants answers any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopping)
            asked = self._waiting.pop(next(iter(self._waiting))) if self._waiting else None
            self._is_writing = asked is not None and asked.is_write
            return asked

    def _has_changed(self) -> bool:
        """Whether there is a newer index than the one that is open."""
        with self._changed:
            was, self._is_old = self._is_old, False
        return was


def _nobody(_: str) -> None:
    """Who asks for the list hears what is to be said of the index."""


def _no_progress(_: int, __: int) -> None:
    """The same."""


def _raise(error: Exception) -> None:
    raise error
