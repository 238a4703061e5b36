"""How far a long work is, on a terminal that somebody looks at; and what was done of it if it is stopped."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    Item = TypeVar("Item")

PATIENCE = 0.5
"""Seconds before anything is shown: most works are done by then."""
_OFTEN = 0.1
_WIDTH = 30


class Progress:
    """A line on stderr that goes when the work is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._shown_at = 0.0
        self._is_shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show how much of it is done."""
        now = time.monotonic()
        if done >= total:
            self.clear()
        elif now - self._began >= PATIENCE and now - self._shown_at >= _OFTEN:
            self._shown_at = now
            self._is_shown = True
            full = _WIDTH * done // total
            bar = "━" * full + "─" * (_WIDTH - full)
            sys.stderr.write(f"\r{self._what} {bar} {100 * done // total:3} %")
            sys.stderr.flush()

    def tick(self) -> None:
        """Show for how long it has been going on."""
        self._is_shown = True
        sys.stderr.write(f"\r{self._what} … {time.monotonic() - self._began:.0f} s")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_shown = False


def progress(what: str) -> Progress | None:
    """A line for this work; None if nobody would see it."""
    return Progress(what) if sys.stderr is not None and sys.stderr.isatty() else None


class Work:
    """A long work that may be stopped: how much of it is done."""

    def __init__(self, what: str) -> None:
        self.done, self.total = 0, 0
        self._line = progress(what)

    def __call__(self, done: int, total: int) -> None:
        """Note how much of it is done, and show it."""
        self.done, self.total = done, total
        if self._line:
            self._line(done, total)

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items to be worked on, each done when the next one is asked for."""
        for number, item in enumerate(items):
            self(number, len(items))
            yield item
        self(len(items), len(items))

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._line:
            self._line.clear()


@contextmanager
def stoppable(what: str, stopped: str) -> Iterator[Work]:
    """A work whose user hears what was done of it if he stops it: `{done}` and `{total}` stand for that."""
    work = Work(what)
    try:
        yield work
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(stopped.format(done=f"{work.done:,}", total=f"{work.total:,}"))
        raise
    finally:
        work.clear()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A work of which nobody knows how long it takes: on a terminal its seconds are counted."""
    line = progress(what)
    if line is None:
        yield
        return
    from threading import Event, Thread

    is_done = Event()

    def count() -> None:
        while not is_done.wait(PATIENCE):
            line.tick()

    thread = Thread(target=count, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
        line.clear()
