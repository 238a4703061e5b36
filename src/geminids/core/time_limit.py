"""A while in which something must be done: it is interrupted then, as Ctrl-C would interrupt it."""

from __future__ import annotations

# The module `signal` itself makes names of numbers, which takes longer than all of this.
import _signal  # type: ignore[import-not-found]
from collections.abc import Iterator
from contextlib import contextmanager


class TimeIsUpError(KeyboardInterrupt):
    """The while is over. What leaves nothing half done where a person interrupts it does not here either."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeIsUpError in what takes longer; in the main thread only, and where the system has timers."""
    if not hasattr(_signal, "setitimer"):
        yield
        return
    before = _signal.signal(_signal.SIGALRM, _end)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, before)


def _end(_: int, __: object) -> None:
    raise TimeIsUpError
