"""How far a long work is, on a terminal that somebody looks at."""

from __future__ import annotations

import sys
import time

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

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_shown = False


def progress(what: str) -> Progress | None:
    """A line for this work; None if nobody would see it."""
    return Progress(what) if sys.stderr is not None and sys.stderr.isatty() else None
