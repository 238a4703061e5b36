"""Being told to end: SIGTERM and SIGHUP end a command as Ctrl-C does, so that it leaves nothing half done.

Python knows Ctrl-C alone, as KeyboardInterrupt; any other signal ends it on the spot, with files under way.
Code of others may make a new KeyboardInterrupt of it, so which signal it was is noted here.
"""

# The module `signal` itself makes names of numbers, which takes longer than all of this.
import _signal  # type: ignore[import-not-found]

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
