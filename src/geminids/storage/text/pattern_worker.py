"""A process that looks for a regular expression in texts, and that ends when its time is over.

Python's `re` may take longer than anybody lives, and nothing in the same process runs meanwhile. So this file
is run by itself (`patterns.py` starts it) and loads nothing of ours. It ends by itself: when a text takes
longer than it may, when whoever asked is gone, and when nobody asks any more.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import marshal
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

FLAGS = re.IGNORECASE | re.MULTILINE
REACH = 8_192
"""Characters that a regular expression sees at once, so that a slow one stays slow instead of hanging."""
OVERLAP = 1_024
"""A match that is longer and lies across the end of such a slice may be cut short or missed."""
LENGTH = 8
"""Bytes that tell how long what follows is."""

Span = tuple[int, int]
Find = Callable[[str, int, int], Iterable[Span]]
"""Where it fits in a text, from one place on, as if the text ended at another."""


def slices(text: str) -> Iterator[Span]:
    """Where the slices of a text begin and end."""
    for start in range(0, max(len(text) - OVERLAP, 1), REACH - OVERLAP):
        yield start, min(start + REACH, len(text))


def places(find: Find, text: str, most: int, *, with_empty: bool) -> Iterator[Span]:
    """The first so many places where it fits, slice by slice of a text; also between two letters, or not."""
    end = found = 0
    for start, stop in slices(text):
        # What begins in the last part of a slice is seen with all that follows it in the next one.
        begins_before = stop - OVERLAP if stop < len(text) else len(text) + 1
        for place in find(text, start, stop):
            if place[0] >= begins_before:
                break
            if end <= place[0]:
                end = place[1]
                if with_empty or place[0] < place[1]:
                    yield place
                    found += 1
                    if found == most:
                        return


def finding(pattern: str) -> Find:
    """How Python finds it."""
    with warnings.catch_warnings():
        # Some pairs in brackets may mean something else in a later Python; they do not mean it here.
        warnings.simplefilter("ignore")
        regex = re.compile(pattern, FLAGS)
    return lambda text, start, stop: (match.span() for match in regex.finditer(text, start, stop))


def whole(pattern: str, text: str) -> Iterator[Span]:
    """All of a text, if a regular expression describes it from end to end; case matters then."""
    if match := re.compile(pattern).fullmatch(text):
        yield match.span()


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value, the length first."""
    content = marshal.dumps(value)
    left = memoryview(len(content).to_bytes(LENGTH, "big") + content)
    while left:
        left = left[pipe.write(left) :]
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """The next value. Raises EOFError where the other side has ended."""
    length = int.from_bytes(_exactly(pipe, LENGTH), "big")
    return marshal.loads(_exactly(pipe, length))


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    content = b""
    while len(content) < length:
        more = pipe.read(length - len(content))
        if not more:
            raise EOFError
        content += more
    return content


def _answer_all(questions: IO[bytes], answers: IO[bytes]) -> None:
    while True:
        pattern, text, most, with_empty, seconds = read(questions)
        found = places(finding(pattern), text, most, with_empty=with_empty) if most else whole(pattern, text)
        _end_after(seconds)
        _end_when_alone(questions, is_wanted=True)
        # What was found is told at once: it counts even if there is no time for the rest.
        for place in found:
            write(answers, place)
        _end_when_alone(questions, is_wanted=False)
        _end_after(0)
        write(answers, None)


def _end_after(seconds: float) -> None:
    """Have the system end us then, or not any more with 0: no Python would run to do it."""
    if sys.platform == "win32":
        import faulthandler

        if seconds:
            faulthandler.dump_traceback_later(seconds, exit=True)
        else:
            faulthandler.cancel_dump_traceback_later()
    else:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_when_alone(questions: IO[bytes], *, is_wanted: bool) -> None:
    """Have the system end us as soon as nobody waits for the answer any more, or not any more.

    Nobody asks while we are at it, so whatever happens to the pipe then is its end.
    """
    if sys.platform != "win32":
        import fcntl
        import os
        import select

        handle = questions.fileno()
        fcntl.fcntl(handle, fcntl.F_SETOWN, os.getpid())
        others = fcntl.fcntl(handle, fcntl.F_GETFL) & ~os.O_ASYNC
        fcntl.fcntl(handle, fcntl.F_SETFL, others | (os.O_ASYNC if is_wanted else 0))
        if is_wanted and select.select([handle], [], [], 0)[0]:
            # It was a moment before.
            raise EOFError


def _take_signals_as_they_are() -> None:
    """Let signals end us, whatever those who started us do with them."""
    if sys.platform != "win32":
        for one in (signal.SIGALRM, signal.SIGIO, signal.SIGINT, signal.SIGPIPE):
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


if __name__ == "__main__":
    _take_signals_as_they_are()
    try:
        _answer_all(sys.stdin.buffer, sys.stdout.buffer)
    except (EOFError, OSError):
        sys.exit()
