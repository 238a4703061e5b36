"""Regular expressions that people type, looked for in texts within a time.

Python's `re` can take for ever, and nothing else runs in the process meanwhile. So it is asked here only
where that is sure to be quick. Otherwise RE2 is, which takes no longer than the text is long, if it is
installed (`google-re2`) and can say the same; else `re` is asked in another process (`pattern_worker.py`),
which is ended when the time is over. All three find the same places.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.storage.text import pattern_trees, pattern_worker
from geminids.storage.text.pattern_worker import Find, Span

if TYPE_CHECKING:
    from subprocess import Popen

FOR_ONE_TEXT = 1.5
"""Seconds that a text may take."""
FOR_ALL = 5.0
"""Seconds that all texts of a page may take."""
QUICK = 5_000_000
"""Steps that are taken in this process, for each slice of a text: less than a tenth of a second."""


class TooSlowError(Exception):
    """There was not enough time to tell."""


class Found(NamedTuple):
    """Where something was found, as far as there was time."""

    places: list[Span]
    is_whole: bool
    """Else there was no time for all of the text."""


class Patterns:
    """Looks for regular expressions; may start a process for it, which ends with the `with`."""

    def __init__(self, seconds: float = FOR_ALL) -> None:
        self._left = seconds
        self._worker: _Worker | None = None

    def __enter__(self) -> "Patterns":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_worker()

    @property
    def is_spent(self) -> bool:
        """Whether there is no time left."""
        return self._left <= 0

    def is_in(self, text: str, pattern: str) -> bool:
        """Whether it fits somewhere in a text. Raises TooSlowError if there is no time to tell."""
        found = self._found(text, pattern, 1, with_empty=True)
        if not found.places and not found.is_whole:
            raise TooSlowError
        return bool(found.places)

    def places(self, text: str, pattern: str, most: int) -> list[Span]:
        """Where it fits, if not between two letters: the first so many of those that there is time for."""
        return self._found(text, pattern, most, with_empty=False).places

    def is_whole(self, text: str, pattern: str) -> bool:
        """Whether it describes a text from end to end, case included. Raises TooSlowError."""
        if pattern_trees.most_steps_at_start(pattern, len(text)) <= QUICK:
            return any(pattern_worker.whole(pattern, text))
        found = self._found_by_worker((pattern, text, 0, True, FOR_ONE_TEXT))
        if not found.is_whole:
            raise TooSlowError
        return bool(found.places)

    def _found(self, text: str, pattern: str, most: int, *, with_empty: bool) -> Found:
        if self.is_spent:
            return Found([], is_whole=False)
        began = monotonic()
        seconds = min(FOR_ONE_TEXT, self._left)
        try:
            if find := _find_here(pattern, text, only_first=with_empty):
                in_time = _until(began + seconds, find)
                return _as_far_as_possible(pattern_worker.places(in_time, text, most, with_empty=with_empty))
            return self._found_by_worker((pattern, text, most, with_empty, seconds))
        finally:
            self._left -= monotonic() - began

    def _found_by_worker(self, question: tuple[object, ...]) -> Found:
        if self._worker is None:
            self._worker = _Worker()
        try:
            found = self._worker.ask(question)
        except BaseException:
            self._end_worker()
            raise
        if not found.is_whole:
            self._end_worker()
        return found

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None


def _find_here(pattern: str, text: str, *, only_first: bool) -> Find | None:
    """How to find it in this process; None if that may take long."""
    if pattern_trees.most_steps(pattern, text) <= QUICK:
        return _by_python(pattern)
    if not _is_utf_8(text):
        return None
    return _by_linear_engine(pattern, is_ascii=text.isascii(), only_first=only_first)


def _is_utf_8(text: str) -> bool:
    """Whether there is no half of a character in it, which no engine but Python's knows."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_by_python = lru_cache(maxsize=64)(pattern_worker.finding)


@lru_cache(maxsize=64)
def _by_linear_engine(pattern: str, *, is_ascii: bool, only_first: bool) -> Find | None:
    try:
        from re2 import Options, compile, error  # noqa: A004 - as it calls them
    except ImportError:
        return None
    spelled = pattern_trees.for_linear_engine(pattern, is_ascii=is_ascii, only_first=only_first)
    if spelled is None:
        return None
    options = Options()
    options.log_errors = False
    try:
        regex = compile(spelled.encode(), options)
    except error:
        # It has limits of its own.
        return None
    return lambda text, start, stop: _linear_places(regex, text, start, stop)


def _linear_places(regex: Any, text: str, start: int, stop: int) -> Iterator[Span]:
    # Of what stands before, the last character tells whether a line or a word begins here.
    before = max(start - 1, 0)
    content = text[before:stop].encode()
    begin = len(text[before:start].encode())
    at, place = begin, start
    while match := regex.search(content, at):
        first, last = match.span()
        first_place = place + len(content[at:first].decode())
        place = first_place + len(content[first:last].decode())
        at = last
        yield first_place, place


def _until(end: float, find: Find) -> Find:
    def find_in_time(text: str, start: int, stop: int) -> Iterable[Span]:
        if monotonic() > end:
            raise TooSlowError
        return find(text, start, stop)

    return find_in_time


def _as_far_as_possible(found: Iterable[Span]) -> Found:
    places: list[Span] = []
    try:
        places.extend(found)
    except TooSlowError:
        return Found(places, is_whole=False)
    return Found(places, is_whole=True)


class _Worker:
    """The process that does what may take long."""

    def __init__(self) -> None:
        import subprocess
        import sys

        self._process: Popen[bytes] = subprocess.Popen(
            [sys.executable, "-I", "-S", pattern_worker.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Where a thread waits for a pipe with a buffer, Python would wait for the thread when it ends.
            bufsize=0,
        )

    def ask(self, question: tuple[object, ...]) -> Found:
        """What it finds, as far as it comes."""
        assert self._process.stdin
        assert self._process.stdout
        places: list[Span] = []
        try:
            pattern_worker.write(self._process.stdin, question)
            while place := pattern_worker.read(self._process.stdout):
                places.append(place)
        except (EOFError, BrokenPipeError):
            return Found(places, is_whole=False)
        return Found(places, is_whole=True)

    def end(self) -> None:
        """End it, whatever it is doing."""
        with self._process as process:
            process.kill()
            assert process.stdin
            # It was just killed: nobody is left to read what was not sent.
            with suppress(BrokenPipeError):
                process.stdin.close()
