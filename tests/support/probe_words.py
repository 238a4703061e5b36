"""Marks: words, numbers and times that can be recognised in the bytes of any format.

A mark is made of plain letters, so that no format escapes, breaks or translates it. Words are covered with
marks from end to end and keep their shape: their length, their lines, how each line begins. So a format
does with them what it would do with the real words, and what it cuts off anywhere is missed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import product

WIDTH = 8
_LETTERS = "bcdfghjklmnprstvwx"
_TRIPLES = ["".join(letters) for letters in product(_LETTERS, repeat=3)]
_NUMBERS = {triple.encode(): number for number, triple in enumerate(_TRIPLES)}
_MARK = re.compile(rb"zq([%s]{6})" % _LETTERS.encode(), re.IGNORECASE)
_BEGINNING = re.compile(r"\W*(?:(?<=<)\w+>\W*)?(?:[A-Za-z][\w+.-]*:(?=\S))?\W*")
"""What steers: blanks, bullets, fences, slashes, a tag, the scheme of an address, the agent before an id."""
_DIFF_HEADING = re.compile(r"---|\+\+\+|@@|Index:|===|diff |\\")
_NO_HEADING = re.compile(r"(?!)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_JSON_WORDS = re.compile(r'"([^"\\]{8,})"(?!\s*:)')
SIGNATURE = 16
"""Letters at the beginning of encoded bytes that say what kind of file it is."""

_FIRST_TIME = datetime(2031, 3, 5, tzinfo=UTC)
_MINUTES_OF_A_DAY = 1440
_NUMBER = re.compile(rb"(?<!\d)\d{1,3}(?:[,_']\d{3})+(?!\d)|\d+")
_MOST_DIGITS = 40
"""No mark has as many, and Python refuses to read numbers of thousands."""
_TIME = re.compile(rb"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?([.,]\d{1,3})?")
_CLOCK = re.compile(rb"(?<![\d:+-])\d\d:\d\d(?![\d:])")
"""A time of day; what follows a sign is a time zone."""
_MILLISECONDS = re.compile(rb"(?<!\d)\d{13}")


class Marks:
    """Gives out marks, each once, and knows how many there are."""

    def __init__(self) -> None:
        self._given = 0

    @property
    def given(self) -> int:
        """How many were given out; they are numbered from 0."""
        return self._given

    def next(self) -> str:
        """The next mark."""
        high, low = divmod(self._given, len(_TRIPLES))
        self._given += 1
        return f"zq{_TRIPLES[high]}{_TRIPLES[low]}"

    def words(self, text: str) -> str:
        """Words of the same shape that are covered with marks."""
        if _is_json(text):
            covered = _JSON_WORDS.sub(lambda found: f'"{self._cover(found[1])}"', text)
            if covered != text:
                return covered
        return self._lines(text.split("\n"))

    def diff(self, text: str) -> str:
        """A diff with the same headings, whose lines are covered with marks."""
        return self._lines(text.split("\n"), _DIFF_HEADING)

    def base64(self, text: str) -> str:
        """Base64 of as many bytes that begin as before; what is no base64 stays none."""
        if len(text) < SIGNATURE + WIDTH or len(text) % 4 or not _BASE64.fullmatch(text):
            return self._lines([text])
        count, rest = divmod(len(text) - SIGNATURE, WIDTH)
        return text[:SIGNATURE] + "A" * rest + "".join(self.next() for _ in range(count))

    def _lines(self, lines: list[str], headings: re.Pattern[str] = _NO_HEADING) -> str:
        covered = [line if headings.match(line) else self._line(line) for line in lines]
        if covered == lines:
            # Too short for any mark: the first and the last line that say something become longer.
            spoken = [place for place, line in enumerate(lines) if line.strip()]
            spoken = [place for place in spoken if not headings.match(lines[place])] or spoken
            for place in sorted({spoken[0], spoken[-1]}):
                covered[place] = f"{_beginning(lines[place])}{self.next()}"
        return "\n".join(covered)

    def _line(self, line: str) -> str:
        start = len(_beginning(line))
        rest = line[start:].rstrip()
        if len(rest) < WIDTH:
            return line
        return line[:start] + self._cover(rest) + line[start + len(rest) :]

    def _cover(self, words: str) -> str:
        """Marks from the first letter to the last."""
        between = " " if " " in words else "/" if "/" in words else "-"
        count, rest = divmod(len(words) + 1, WIDTH + 1)
        marks = [self.next() for _ in range(count)]
        return between.join([*marks[:-1], "x" * rest + marks[-1]])


class Seen:
    """What of the marks can be seen in the bytes of a format."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    @cached_property
    def marks(self) -> set[int]:
        """The marks that are there, by their numbers."""
        return {_number(found) for found in set(_MARK.findall(self._content))}

    @cached_property
    def numbers(self) -> set[int]:
        """The numbers that are there, also with something between their thousands."""
        written = {re.sub(rb"[,_']", b"", found) for found in set(_NUMBER.findall(self._content))}
        return {int(digits) for digits in written if len(digits) <= _MOST_DIGITS}

    def has_moment(self, at: datetime) -> bool:
        """Whether a time is there to the millisecond."""
        return not self._moments.isdisjoint(_written(at))

    def has_minute(self, at: datetime, times: int) -> bool:
        """Whether a time is there to the minute: with its date, or alone if so many times differ by it."""
        minutes = {written[:16] for written in _written(at)}
        if not self._minutes.isdisjoint(minutes):
            return True
        clocks = {minute[11:].encode() for minute in minutes}
        return times <= _MINUTES_OF_A_DAY and not self._clocks.isdisjoint(clocks)

    @cached_property
    def _moments(self) -> set[str]:
        return set(_moments(self._content))

    @cached_property
    def _minutes(self) -> set[str]:
        return {moment[:16] for moment in self._moments}

    @cached_property
    def _clocks(self) -> set[bytes]:
        return set(_CLOCK.findall(self._content))


def number_mark(number: int) -> int:
    """A number that no other is, nor a sum or difference of others; a later one is larger."""
    # Squares: of evenly spaced numbers, one is often the sum of two less a third.
    return 10**14 + number * 10**9 + number * number * 2_654_435_761 % 10**9


def time_mark(number: int, before: datetime) -> datetime:
    """A time that no other has to the minute, as exact as the one before."""
    at = _FIRST_TIME + timedelta(minutes=number, seconds=number * 7 % 60)
    return at + timedelta(milliseconds=1 + number * 13 % 999) if before.microsecond else at


def count_number(number: int, content: bytes) -> int:
    """How often a number is there, with or without commas between its thousands."""
    spelled = rb"(?<![\d.,])(?:%d|%s)(?!\d|[.,]\d)" % (number, f"{number:,}".encode())
    return len(re.findall(spelled, content))


def _number(letters: bytes) -> int:
    return _NUMBERS[letters[:3].lower()] * len(_TRIPLES) + _NUMBERS[letters[3:].lower()]


def _moments(content: bytes) -> Iterator[str]:
    """The times that stand there, all in one spelling, as far as they are told."""
    for day, minute, second, fraction in _TIME.findall(content):
        thousandths = fraction[1:].decode().ljust(3, "0")
        yield f"{day.decode()}T{minute.decode()}{second.decode()}" + _fraction(int(thousandths))
    for milliseconds in map(int, _MILLISECONDS.findall(content)):
        at = datetime.fromtimestamp(milliseconds // 1000, UTC)
        yield f"{at:%Y-%m-%dT%H:%M:%S}" + _fraction(milliseconds % 1000)


def _written(at: datetime) -> set[str]:
    """A time as formats write it: in UTC or in the time of this machine."""
    return {
        f"{here:%Y-%m-%dT%H:%M:%S}" + _fraction(here.microsecond // 1000)
        for here in (at.astimezone(UTC), at.astimezone())
    }


def _fraction(thousandths: int) -> str:
    return f".{thousandths:03}" if thousandths else ""


def _beginning(line: str) -> str:
    found = _BEGINNING.match(line)
    return found[0] if found else ""


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
