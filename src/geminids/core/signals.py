"""Being told to end: SIGTERM and SIGHUP end a command as Ctrl-C does, so that it leaves nothing half done.

Python knows Ctrl-C alone, as KeyboardInterrupt; any other signal ends it on the spot, with files under way.
Code of others may make a new KeyboardInterrupt of it, so which signal it was is noted here.
"""

from __future__ import annotations

# The module `signal` itself makes names of numbers, which takes longer than all of this.
import _signal  # type: ignore[import-not-found]
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_told: list[int] = []


class ToldToEndError(KeyboardInterrupt):
    """We are told to end.

    Of KeyboardInterrupt itself Python remembers that it left code that was made of a string, as named tuples
    are, and then ends by SIGINT whatever the exit code should be.
    """


def end_like_interrupt() -> None:
    """From now on have KeyboardInterrupt raised by what should end us, unless it is being ignored (nohup)."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(_signal, name, None)
        if number is not None and _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, _end)


@contextmanager
def delayed() -> Iterator[None]:
    """Delay the signals that end a command while modules of C are loaded.

    Such a module loses an exception that is raised while it starts, or fails with another one.
    """
    if not hasattr(_signal, "pthread_sigmask"):
        yield
        return
    ending = {_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP}
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, ending)
    try:
        yield
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)


def told_to_end() -> int | None:
    """The exit code for a command that was told to end by anything but Ctrl-C; None if it was not."""
    return 128 + _told[-1] if _told else None


def _end(number: int, _: object) -> None:
    _told.append(number)
    # A terminal that is closed also lets us go on: what ends does not go back to it.
    if going_on := getattr(_signal, "SIGCONT", None):
        _signal.signal(going_on, _nothing)
    raise ToldToEndError


def _nothing(_: int, __: object) -> None:
    """Do nothing; without any handler Python complains about a signal that has come already."""
