"""A regular expression as it must fit in the bytes of JSON, in small letters, wherever it fits in its texts.

It may fit at more places, and at none fewer. What JSON can spell in several ways is any byte here, a few
times; what only looks around is left out, but for the edges of words that are spelled out.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from re import _constants as names  # type: ignore[attr-defined,unused-ignore]
from typing import Any, NamedTuple

from geminids.storage.text.pattern_trees import REPEATS, Tree, most_steps_at_start, tree_of, trees_below

WINDOW, OVERLAP = 32_768, 8_192
"""Bytes that are looked through at once; a match that is longer may be missed in its text, too."""
FEW_STEPS = 200_000
"""Steps from one place on: what may take more is not looked for in bytes."""
PLAIN = frozenset(b" !#$%&'()*+,-.0123456789:;<=>?@[]^_`abcdefghijklmnopqrstuvwxyz{|}~")
"""Bytes that stand for themselves in JSON, in small letters."""

_ANY = rb"[\x00-\xff]"
_LONGEST = 12
"""Bytes that one character takes at most, but for odd escapes."""


class _Atom(NamedTuple):
    """What one character may be: a set of bytes, and how many of them at most."""

    one_of: bytes
    most: int

    def repeated(self, least: int, most: int | None) -> bytes:
        """So many characters of the kind."""
        upper = b"" if most is None else b"%d" % (most * self.most)
        return self.one_of + b"{%d,%s}" % (least, upper)


_ANYTHING = _Atom(_ANY, _LONGEST)
_IN_WORD = frozenset(b"0123456789_abcdefghijklmnopqrstuvwxyz")
_BEGUN = rb"(?:(?<![0-9a-z_]%b)|(?<=\\[bfnrt]%b)|(?<=\\u[0-9a-f]{4}%b))"
"""Whether letters are the beginning of a word. What stands before them may be the end of an escape."""
_ENDED = b"(?![0-9a-z_])"
"""The same for the end of one."""


def found_in_bytes(pattern: str) -> Callable[[bytes], bool] | None:
    """Tells whether bytes in small letters may hold what a pattern fits; None if that could take long.

    None too if it may fit across lines: texts that stand apart in a record are told one below the other.
    """
    tree = tree_of(pattern)
    if most_steps_at_start(pattern, WINDOW) > FEW_STEPS or _crosses_lines(tree, tree.state.flags):
        return None
    try:
        search = re.compile(_spelled(tree)).search
    except (re.error, RecursionError, OverflowError):
        return None

    def is_found(content: bytes) -> bool:
        starts = range(0, max(len(content) - OVERLAP, 1), WINDOW - OVERLAP)
        return any(search(content, start, start + WINDOW) for start in starts)

    return is_found


def _crosses_lines(tree: Tree, flags: int) -> bool:
    return any(_may_end_a_line(name, value, flags) for name, value in tree)


def _may_end_a_line(name: object, value: Any, flags: int) -> bool:
    """Whether something in a pattern may be the end of a line."""
    if name is names.LITERAL:
        return bool(value == _NEW_LINE)
    if name is names.NOT_LITERAL:
        return bool(value != _NEW_LINE)
    if name is names.IN:
        return any(_has_new_line(*item) for item in value) != (value[0][0] is names.NEGATE)
    if name is names.ANY:
        return bool(flags & re.DOTALL)
    if name is names.SUBPATTERN:
        flags = (flags | value[1]) & ~value[2]
    return any(_crosses_lines(below, flags) for below in trees_below(name, value))


def _has_new_line(kind: object, item: Any) -> bool:
    if kind is names.RANGE:
        return bool(item[0] <= _NEW_LINE <= item[1])
    return bool(item == _NEW_LINE) if kind is names.LITERAL else item in _WITH_NEW_LINE


def letters_in(pattern: str) -> set[str]:
    """The letters that stand for themselves in a pattern, small."""
    return {chr(code).lower() for code in _codes(tree_of(pattern))}


def _codes(tree: Tree) -> Iterator[int]:
    for name, value in tree:
        if name is names.LITERAL:
            yield value
        for below in trees_below(name, value):
            yield from _codes(below)


def _spelled(tree: Tree) -> bytes:
    nodes = list(tree)
    spelled, place = b"", 0
    while place < len(nodes):
        if nodes[place] == _BOUNDARY:
            letters = _letters_from(nodes, place + 1)
            if letters:
                # Letters come first: for these `re` looks as quickly as it can.
                spelled += letters + _BEGUN % (letters, letters, letters)
            elif place and _letters_from(nodes, place - 1):
                spelled += _ENDED
            place += len(letters)
        else:
            spelled += _node(*nodes[place])
        place += 1
    return spelled


def _letters_from(nodes: Sequence[tuple[object, Any]], start: int) -> bytes:
    """The letters of a word that stand for themselves from a place on."""
    found = b""
    for name, value in islice(nodes, start, None):
        if name is not names.LITERAL or (small := _small(value)) not in _IN_WORD:
            break
        found += bytes([small])
    return found


def _node(name: object, value: Any) -> bytes:
    if name in REPEATS:
        return _repeated(*value)
    if name is names.BRANCH:
        return b"(?:%s)" % b"|".join(map(_spelled, value[1]))
    if name is names.SUBPATTERN:
        return _spelled(value[-1])
    if name is names.ATOMIC_GROUP:
        return _spelled(value)
    if name in _NO_WIDTH:
        return b""
    if name in (names.GROUPREF, names.GROUPREF_EXISTS):
        return _ANY + b"*"
    return _one(_atom(name, value))


def _one(atom: _Atom) -> bytes:
    return atom.one_of if atom.most == 1 else atom.repeated(1, 1)


def _repeated(least: int, most: Any, tree: Tree) -> bytes:
    upper = None if most is names.MAXREPEAT else int(most)
    if len(tree) == 1 and tree[0][0] in _CHARACTERS:
        return _atom(*tree[0]).repeated(least, upper)
    return b"(?:%s){%d,%s}" % (_spelled(tree), least, b"" if upper is None else b"%d" % upper)


def _atom(name: object, value: Any) -> _Atom:
    if name is names.LITERAL:
        letter = _small(value)
        return _Atom(b"\\x%02x" % letter, 1) if letter in PLAIN else _ANYTHING
    return _set(value) if name is names.IN else _ANYTHING


def _small(code: int) -> int:
    """A letter in its small form, if that is one letter: that of `İ` is two."""
    small = chr(code).lower()
    return ord(small) if len(small) == 1 else code


def _set(items: list[tuple[object, Any]]) -> _Atom:
    """The bytes of a set of characters; any if one of them may be spelled otherwise."""
    found: set[int] = set()
    for kind, item in items:
        if kind is names.CATEGORY:
            if item not in _CATEGORIES:
                return _ANYTHING
            found |= _CATEGORIES[item]
        elif kind is names.LITERAL or kind is names.RANGE:
            first, last = (item, item) if kind is names.LITERAL else item
            small = {_small(code) for code in range(first, last + 1)} if last < _ASCII else {_ASCII}
            if not small <= PLAIN:
                return _ANYTHING
            found |= small
        else:
            return _ANYTHING
    if not found.isdisjoint(_WITH_OTHERS):
        found |= _BEYOND
    spelled = b"".join(b"\\x%02x" % byte for byte in sorted(found))
    return _Atom(b"[%s]" % spelled, 1 if max(found, default=0) < _ASCII else 4)


_NEW_LINE = 10
_WITH_NEW_LINE = (names.CATEGORY_SPACE, names.CATEGORY_NOT_DIGIT, names.CATEGORY_NOT_WORD)
_BOUNDARY = (names.AT, names.AT_BOUNDARY)
_ASCII = 128
_BEYOND = frozenset(range(_ASCII, 256))
_CATEGORIES = {
    names.CATEGORY_DIGIT: frozenset(b"0123456789") | _BEYOND,
    names.CATEGORY_WORD: frozenset(b"0123456789_abcdefghijklmnopqrstuvwxyz") | _BEYOND,
}
_WITH_OTHERS = frozenset(b"iks")
"""Letters that are the same to `re` as some beyond ASCII; of those that stand alone, see `letters_in`."""
_NO_WIDTH = (names.AT, names.ASSERT, names.ASSERT_NOT)
_CHARACTERS = (names.LITERAL, names.NOT_LITERAL, names.IN, names.ANY)
