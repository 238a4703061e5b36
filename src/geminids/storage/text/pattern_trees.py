"""What a regular expression is made of: how much work it can be, and how a linear engine would spell it.

Both are told by the tree that Python's own parser makes of it.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import re
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _constants as names  # type: ignore[attr-defined,unused-ignore]
from re import _parser  # type: ignore[attr-defined,unused-ignore]
from typing import Any, TypeAlias

from geminids.storage.text.pattern_worker import FLAGS, REACH, finding, slices

MOST_IN_SETS = 655_360
"""Characters in the ranges of all sets: `re` goes through each of them, a million in a tenth of a second."""
_GROUP = 8
"""So much longer than a letter a group takes, whatever is in it."""
_MOST_REPEATS = 1_000
"""RE2 takes no more."""

Tree: TypeAlias = Any
"""A list of nodes; a node is its name and its value."""


@lru_cache(maxsize=64)
def tree_of(pattern: str) -> Tree:
    """What Python's parser makes of a regular expression. Raises what `re.compile` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _parser.parse(pattern, FLAGS)


def check(pattern: str) -> None:
    """Raise what `re.compile` raises for what is no regular expression or too large to be one."""
    if _in_sets(tree_of(pattern)) > MOST_IN_SETS:
        raise OverflowError
    finding(pattern)


def _in_sets(tree: Tree) -> int:
    found = 0
    for name, value in tree:
        if name is names.IN:
            found += sum(min(item[1], 0xFFFF) - item[0] for kind, item in value if kind is names.RANGE)
        else:
            found += sum(map(_in_sets, trees_below(name, value)))
    return found


def trees_below(name: object, value: Any) -> Iterable[Tree]:
    """The trees in a node."""
    if name is names.BRANCH:
        return value[1]  # type: ignore[no-any-return]
    if name in REPEATS or name is names.SUBPATTERN or name in _LOOKING:
        return (value[-1],)
    if name is names.ATOMIC_GROUP:
        return (value,)
    return filter(None, value[1:]) if name is names.GROUPREF_EXISTS else ()


REPEATS = (names.MAX_REPEAT, names.MIN_REPEAT, names.POSSESSIVE_REPEAT)
_LOOKING = (names.ASSERT, names.ASSERT_NOT)


# How much work it is


def most_steps(pattern: str, text: str) -> float:
    """How many steps it takes at most to find it in a slice of a text; may be infinite."""
    length = min(len(text), REACH)
    begins, places = _first_letters(pattern), float(length)
    if begins and text.isascii():
        # It can begin at no other place.
        small = text.lower()
        often = max(small.count(begins, start, stop) for start, stop in slices(text))
        places = min(places, often * _overlap(begins))
    return length * (1 + len(begins)) + places * _steps_from_one_place(pattern, _rounded(length))


def most_steps_at_start(pattern: str, length: int) -> float:
    """The same where it can only fit at the beginning of a text."""
    return _steps_from_one_place(pattern, _rounded(length))


def _overlap(word: str) -> int:
    """How many times as often as it is counted it may stand in a text: `aa` stands in `aaa` twice."""
    return len(word) if any(word.endswith(word[:end]) for end in range(1, len(word))) else 1


def _rounded(length: int) -> int:
    """The next power of two, so that few are asked for."""
    return 1 << max(length - 1, 0).bit_length()


@lru_cache(maxsize=64)
def _first_letters(pattern: str) -> str:
    """The letters that it begins with, small."""
    letters = ""
    for name, value in tree_of(pattern):
        if name is names.LITERAL and value < 128:
            letters += chr(value).lower()
        elif letters or name is not names.AT:
            break
    return letters


@lru_cache(maxsize=256)
def _steps_from_one_place(pattern: str, length: int) -> float:
    try:
        return _work(tree_of(pattern), float(length))[0]
    except (RecursionError, OverflowError):
        return float("inf")


def _work(tree: Tree, length: float) -> tuple[float, float]:
    """The steps to go through all ways in which it can fit from one place on, and how many ways there are."""
    steps, ways = 0.0, 1.0
    for name, value in tree:
        own, more = _work_of(name, value, length)
        steps, ways = steps + ways * own, ways * more
    return steps, ways


def _work_of(name: object, value: Any, length: float) -> tuple[float, float]:
    if name is names.IN:
        return 1.0 + len(value) / 4, 1.0
    if name is names.GROUPREF:
        return length, 1.0
    if name in REPEATS:
        least, most, tree = value
        steps, ways = _work_of_repeat(least, most, tree, length)
        return steps, 1.0 if name is names.POSSESSIVE_REPEAT else ways
    inside = [_work(tree, length) for tree in trees_below(name, value)]
    steps = 1.0 + sum(steps for steps, _ in inside)
    is_settled = name in _LOOKING or name is names.ATOMIC_GROUP
    return steps, 1.0 if is_settled else max(1.0, sum(ways for _, ways in inside))


def _work_of_repeat(least: int, most: int, tree: Tree, length: float) -> tuple[float, float]:
    steps, ways = _work(tree, length)
    times = max(min(float(most), length), float(least))
    if len(tree) != 1 or tree[0][0] in _HOLDING:
        steps *= _GROUP
    if ways > 1:
        # Each time anew it can fit in as many ways.
        all_ways = ways**times * 2
        return steps * all_ways, all_ways
    return steps * times, times - least + 1


_HOLDING = (*REPEATS, *_LOOKING, names.BRANCH, names.SUBPATTERN, names.ATOMIC_GROUP, names.GROUPREF_EXISTS)


# In the words of RE2


def for_linear_engine(pattern: str, *, is_ascii: bool, only_first: bool) -> str | None:
    """The same for RE2, in texts of ASCII alone or in all; None if it cannot be said or means another thing.

    RE2 has its own idea of letters, digits, blanks and of what is the same letter, so that every character is
    named here as Python takes it. Where what is repeated may be nothing, both find the first place and differ
    in how far it goes; with `only_first` nobody asks for that.
    """
    tree = tree_of(pattern)
    if tree.getwidth()[0] == 0 and not only_first:
        return None
    try:
        return _spelled(tree, _Spelling(is_ascii=is_ascii, only_first=only_first), tree.state.flags)
    except (_UnknownError, RecursionError):
        return None


class _UnknownError(Exception):
    """Something that RE2 cannot say."""


class _Spelling:
    """How characters are spelled, and for what."""

    def __init__(self, *, is_ascii: bool, only_first: bool) -> None:
        self.is_ascii = is_ascii
        self.only_first = only_first

    def set(self, items: Iterable[tuple[object, Any]], flags: int) -> str:
        """A set of characters in brackets."""
        is_negated, inside = False, ""
        for kind, value in items:
            if kind is names.NEGATE:
                is_negated = True
            elif kind is names.CATEGORY:
                inside += self._category(value)
            else:
                first, last = (value, value) if kind is names.LITERAL else value
                inside += self._range(first, last, flags)
        return f"[{'^' if is_negated else ''}{inside}]"

    def _range(self, first: int, last: int, flags: int) -> str:
        spelled = f"{_character(first)}-{_character(last)}"
        if flags & re.IGNORECASE:
            if last > 127 and _has_case(max(first, 128), last):
                raise _UnknownError
            others = (other for letter, other in _SAME if first <= ord(letter) <= last)
            spelled += "".join(_character(ord(other)) for other in others)
        return spelled

    def _category(self, value: object) -> str:
        ranges = _categories(self.is_ascii)
        if value not in ranges:
            raise _UnknownError
        return ranges[value]

    def boundary(self) -> str:
        """Where a word begins or ends."""
        if not self.is_ascii:
            raise _UnknownError
        return r"\b"


def _character(code: int) -> str:
    return rf"\x{{{code:x}}}"


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MORE = (("iI", "\u0130\u0131"), ("kK", "\u212a"), ("sS", "\u017f"))
_SAME = (
    *((small, small.upper()) for small in _LETTERS),
    *((small.upper(), small) for small in _LETTERS),
    *(
        (letter, other)
        for group in ("iI\u0130\u0131", "kK\u212a", "sS\u017f")
        for letter in group
        for other in group[2:]
    ),
)
"""Letters that begin in ASCII and the others that are the same to `re`, where case does not matter."""


@lru_cache(maxsize=64)
def _has_case(first: int, last: int) -> bool:
    """Whether some of these characters are the same as others where case does not matter."""
    if last - first > MOST_IN_SETS // 10:
        return True
    characters = "".join(map(chr, range(first, last + 1)))
    return characters.lower() != characters or characters.upper() != characters


@lru_cache(maxsize=2)
def _categories(is_ascii: bool) -> dict[object, str]:
    """Digits, blanks and letters, and all but these, as Python takes them, in ranges."""
    everything = "".join(map(chr, range(128 if is_ascii else 0x110000)))

    def ranges(pattern: str) -> str:
        return "".join(
            f"{_character(ord(run[0][0]))}-{_character(ord(run[0][-1]))}"
            for run in re.finditer(pattern, everything)
        )

    return {
        names.CATEGORY_DIGIT: ranges(r"\d+"),
        names.CATEGORY_NOT_DIGIT: ranges(r"\D+"),
        names.CATEGORY_SPACE: ranges(r"\s+"),
        names.CATEGORY_NOT_SPACE: ranges(r"\S+"),
        names.CATEGORY_WORD: ranges(r"\w+"),
        names.CATEGORY_NOT_WORD: ranges(r"\W+"),
    }


def _spelled(tree: Tree, spelling: _Spelling, flags: int) -> str:
    return "".join(_spelled_node(name, value, spelling, flags) for name, value in tree)


def _spelled_node(name: object, value: Any, spelling: _Spelling, flags: int) -> str:
    if flags & re.ASCII:
        raise _UnknownError
    if spell := _SPELLED.get(name):
        return spell(value, spelling, flags)
    raise _UnknownError


def _spelled_place(value: object, spelling: _Spelling, flags: int) -> str:
    by_line = bool(flags & re.MULTILINE)
    if value is names.AT_BEGINNING_STRING or (value is names.AT_BEGINNING and not by_line):
        return r"\A"
    if value is names.AT_END_STRING:
        return r"\z"
    if value in (names.AT_BEGINNING, names.AT_END) and by_line:
        return "(?m:^)" if value is names.AT_BEGINNING else "(?m:$)"
    if value is names.AT_BOUNDARY:
        return spelling.boundary()
    raise _UnknownError


def _spelled_repeat(value: Any, spelling: _Spelling, flags: int, end: str) -> str:
    least, most, tree = value
    most_said = "" if most is names.MAXREPEAT else int(most)
    if max(least, most_said or 0) > _MOST_REPEATS or (tree.getwidth()[0] == 0 and not spelling.only_first):
        raise _UnknownError
    return f"(?:{_spelled(tree, spelling, flags)}){{{least},{most_said}}}{end}"


def _spelled_group(value: Any, spelling: _Spelling, flags: int) -> str:
    _, added, taken, tree = value
    return f"(?:{_spelled(tree, spelling, (flags | added) & ~taken)})"


_SPELLED: dict[object, Callable[[Any, _Spelling, int], str]] = {
    names.LITERAL: lambda value, spelling, flags: spelling.set([(names.LITERAL, value)], flags),
    names.NOT_LITERAL: lambda value, spelling, flags: spelling.set(
        [(names.NEGATE, None), (names.LITERAL, value)], flags
    ),
    names.ANY: lambda _, __, flags: "(?s:.)" if flags & re.DOTALL else r"[^\n]",
    names.IN: lambda value, spelling, flags: spelling.set(value, flags),
    names.AT: _spelled_place,
    names.BRANCH: lambda value, spelling, flags: (
        f"(?:{'|'.join(_spelled(tree, spelling, flags) for tree in value[1])})"
    ),
    names.SUBPATTERN: _spelled_group,
    names.MAX_REPEAT: lambda value, spelling, flags: _spelled_repeat(value, spelling, flags, ""),
    names.MIN_REPEAT: lambda value, spelling, flags: _spelled_repeat(value, spelling, flags, "?"),
}
