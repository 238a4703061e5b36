"""Where in a text what was looked for stands: case, accents, camelCase and signs between words do not matter.

A text of a megabyte is searched in milliseconds, so it is not cut into words: patterns find candidates in its
small letters, and the characters around a candidate tell whether it is a word by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from time import monotonic

from geminids.core.values import NamedTuple
from geminids.storage.text.words import Want, Wanted, Way, spellings, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.text.patterns import Patterns

MOST_FOUND = 500
"""Places of one want that are looked for in one text: more would not make a better snippet."""
MOST_CANDIDATES = 20_000
LONGEST = 1.0
"""Seconds for the places of a phrase in one text."""
WINDOW = 32_768
"""Characters that are searched at once."""
WINDOW_OVERLAP = 8_192
"""A phrase that is longer may be missed where a window ends: then it is not highlighted."""

_GAP = r"[\W_]{0,80}"
"""What may stand between two words of a phrase."""


class Span(NamedTuple):
    """A place in a text."""

    start: int
    end: int
    want: int
    """The number of the want that stands there."""


def find(text: str, wanted: Wanted, patterns: Patterns | None = None) -> list[Span]:
    """Where the wants stand, in the order of the text; regular expressions as far as `patterns` have time."""
    searched = _Text(text)
    spans: list[Span] = []
    for number, want in enumerate(wanted):
        places = islice(_places(searched, want, patterns), MOST_FOUND)
        spans += [Span(start, end, number) for start, end in places]
    return sorted(spans)


def has_substring(text: str, wanted: str) -> bool:
    """Whether these characters stand in a text, in capitals or not."""
    return _without_case(wanted) in _without_case(text)


def substring_places(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Where they stand.

    `re` would find the same, but where it fails it goes back to the next letter: in a long line of one letter
    that takes minutes.
    """
    searched, small, end = _without_case(text), _without_case(wanted), 0
    while small and (start := searched.find(small, end)) >= 0:
        end = start + len(small)
        yield start, end


def _without_case(text: str) -> str:
    """A text in which letters are the same if they differ in case alone, each at its place."""
    if text.isascii():
        return text.lower()
    from geminids.storage.text.characters import without_case

    return without_case(text)


class _Text:
    """A text, and its letters without case and accents at the same places."""

    def __init__(self, text: str) -> None:
        self.text = text
        if text.isascii():
            self.has_marks, self.folded = False, text.lower()
        else:
            from geminids.storage.text.characters import folded_in_place, has_marks

            self.has_marks, self.folded = has_marks(text), folded_in_place(text)

    def is_edge(self, place: int) -> bool:
        """Whether a word may begin or end here."""
        if not 0 < place < len(self.text):
            return True
        before, after = self.text[place - 1], self.text[place]
        if not (before.isalnum() and after.isalnum()):
            return True
        if before.isascii() and after.isascii():
            return _is_hump(before, after, self.text[place + 1 : place + 2])
        return _is_cjk(before) != _is_cjk(after)


def _is_hump(before: str, after: str, next_one: str) -> bool:
    if not after.isupper():
        return False
    return not before.isupper() or (next_one.isascii() and next_one.islower())


class _Sequence(NamedTuple):
    """Words and runs of CJK that stand one after the other."""

    units: tuple[str, ...]
    ends_anywhere: bool
    is_loose: bool
    """They may stand in one piece too."""

    @property
    def begins_anywhere(self) -> bool:
        return _is_cjk(self.units[0])


def _places(searched: _Text, want: Want, patterns: Patterns | None) -> Iterator[tuple[int, int]]:
    if want.way is Way.REGEX:
        yield from _regex_places(searched.text, want.text, patterns)
    elif want.way is Way.SUBSTRING:
        yield from substring_places(searched.text, want.text)
    else:
        for sequence in _sequences(want):
            yield from (places := list(islice(_of_sequence(searched, sequence), MOST_FOUND)))
            if places and sequence.is_loose:
                return


def _regex_places(text: str, pattern: str, patterns: Patterns | None) -> list[tuple[int, int]]:
    if patterns is not None:
        return patterns.places(text, pattern, MOST_FOUND)
    from geminids.storage.text.patterns import Patterns

    with Patterns() as own:
        return own.places(text, pattern, MOST_FOUND)


def _of_sequence(searched: _Text, sequence: _Sequence) -> Iterator[tuple[int, int]]:
    if not searched.has_marks and not all(unit in searched.folded for unit in sequence.units):
        return
    pattern, place = _pattern(sequence.units, ignoring_marks=searched.has_marks), 0
    until = monotonic() + LONGEST
    for _ in range(MOST_CANDIDATES):
        found = _next(pattern, searched.folded, place, until)
        if not found:
            return
        is_whole = _stands_alone(searched, sequence, found)
        place = found.end() if is_whole else found.start() + 1
        if is_whole:
            yield found.span()


def _next(pattern: re.Pattern[str], text: str, place: int, until: float) -> re.Match[str] | None:
    """The first candidate from a place on, as far as there is time."""
    # Window by window: while `re` is at work, nobody looks at the time, and nothing else runs.
    while monotonic() < until:
        found = pattern.search(text, place, place + WINDOW)
        if found or place + WINDOW >= len(text):
            return found
        place += WINDOW - WINDOW_OVERLAP
    return None


def _stands_alone(searched: _Text, sequence: _Sequence, found: re.Match[str]) -> bool:
    """Whether no word of a candidate is a piece of a longer one."""
    if not (sequence.begins_anywhere or searched.is_edge(found.start())):
        return False
    if not (sequence.ends_anywhere or searched.is_edge(found.end())):
        return False
    return sequence.is_loose or all(
        searched.is_edge(found.end(number)) and searched.is_edge(found.start(number + 1))
        for number in range(1, found.re.groups)
    )


@lru_cache(maxsize=256)
def _sequences(want: Want) -> tuple[_Sequence, ...]:
    """How a want can stand in a text, the usual way first; the others count if that one does not occur."""
    units = _units(want.text)
    if not units:
        return ()
    if want.way is not Way.WORD:
        return (_Sequence(units, want.way is Way.PREFIX or _is_cjk(units[-1]), is_loose=False),)
    others = spellings(want.text)[1:]
    usual = _Sequence(units, _is_cjk(units[-1]), is_loose=bool(others))
    pieces = [phrase.words for phrase in others if len(phrase.words) > 1]
    return (usual, *(_Sequence(words, ends_anywhere=False, is_loose=False) for words in pieces))


def _units(text: str) -> tuple[str, ...]:
    if text.isascii():
        return tuple(terms(text))
    from geminids.storage.text.characters import units

    return tuple(units(text))


def _is_cjk(unit: str) -> bool:
    if unit.isascii():
        return False
    from geminids.storage.text.characters import is_cjk

    return is_cjk(unit)


@lru_cache(maxsize=256)
def _pattern(units: tuple[str, ...], *, ignoring_marks: bool) -> re.Pattern[str]:
    """A pattern in which each unit is a group."""
    if not ignoring_marks:
        return re.compile(_GAP.join(f"({re.escape(unit)})" for unit in units))
    from geminids.storage.text import characters

    return re.compile(_GAP.join(f"({characters.ignoring_marks(unit)})" for unit in units))
