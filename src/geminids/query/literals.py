"""What a text must hold for a substring or a regular expression to be found in it, as far as the index knows.

Only what is certain counts. A word of ASCII letters is certain where it begins after a sign that is part of
what is looked for. Where its capitals stand is not known, so its first piece may be any beginning of it:
`foo(bar` needs `b`, `ba`, or a word that begins with `bar`. Chinese characters are certain everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from geminids.store.words import Phrase, as_phrase

LEAST_LETTERS = 3
"""Shorter beginnings stand nearly everywhere: asking for them takes time and rules nothing out."""
MOST_LETTERS = 24
MOST_NEEDS = 3

_AFTER_A_SIGN = re.compile(r"(?<=[\x00-/:-@\[-`{-\x7f])[A-Za-z0-9]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
_UNBOUNDED = re.compile(r"[*+]|\{\d*,\}")
_REPEAT = re.compile(r"[*+?]|\{\d*,?\d*\}")
_CODES = tuple("xuUN0123456789")
"""Escapes that stand for a character by its number or name."""


def needed_by_substring(text: str) -> list[list[Phrase]]:
    """Of each list, at least one phrase is in any text that holds this one."""
    needs = [_of_han(run[0]) for run in _HAN.finditer(text)]
    words = [word[0][:MOST_LETTERS] for word in _AFTER_A_SIGN.finditer(text)]
    longest = sorted((word for word in words if len(word) >= LEAST_LETTERS), key=len, reverse=True)
    return [*needs, *map(_beginnings, longest)][:MOST_NEEDS]


def needed_by_regex(pattern: str) -> list[list[Phrase]]:
    """Of each list, at least one phrase is in any text in which the pattern fits."""
    return [need for run in _literal_runs(pattern) for need in needed_by_substring(run)][:MOST_NEEDS]


def repeats_a_repeat(pattern: str) -> bool:
    """Whether a group that ends in a repeat is repeated itself, like `(a+)+`: such a search may never end."""
    open_groups, closed, is_after_repeat = [False], False, False
    for piece in _pieces(pattern):
        if piece == "(":
            open_groups.append(False)
        elif piece == ")" and len(open_groups) > 1:
            has_repeat = open_groups.pop()
            open_groups[-1] |= has_repeat
            closed = is_after_repeat = has_repeat and is_after_repeat
            continue
        elif _UNBOUNDED.fullmatch(piece):
            if closed:
                return True
            open_groups[-1] = True
        closed, is_after_repeat = False, bool(_REPEAT.fullmatch(piece))
    return False


def repeats_likes(pattern: str) -> bool:
    """Whether alternatives are repeated that may fit the same letters, like `(a|aa)+` or `(a+|b)+`.

    There are countless ways then to go through a long run of such letters, and a search tries them all.
    """
    groups, closed, before = [_Alternatives()], None, ""
    for piece in _pieces(pattern):
        match piece:
            case "(":
                groups.append(_Alternatives())
            case ")" if len(groups) > 1:
                group = groups.pop()
                groups[-1].are_alike |= group.are_alike or group.end(before)
                groups[-1].add("(")
                closed, before = group, piece
                continue
            case "|":
                groups[-1].next(before)
            case _ if _UNBOUNDED.fullmatch(piece) and closed is not None and closed.are_alike:
                return True
            case _:
                groups[-1].add(piece)
        closed, before = None, piece
    return False


class _Alternatives:
    """What stands between the bars of a group: by the first letters, as far as these are known."""

    def __init__(self) -> None:
        self.are_alike = False
        self._firsts: list[str] = [""]
        self._is_prefix = False

    def add(self, piece: str) -> None:
        """Take the next piece; `?:` and the like only name the group."""
        if self._is_prefix or (piece == "?" and self._firsts == [""]):
            self._is_prefix = piece not in {":", ">", "=", "!"}
        elif not self._firsts[-1]:
            self._firsts[-1] = piece

    def next(self, before: str) -> None:
        """A bar, after some piece."""
        self.are_alike |= bool(_UNBOUNDED.fullmatch(before))
        self._firsts.append("")

    def end(self, before: str) -> bool:
        """The end of the group: whether some of its alternatives may fit the same letters."""
        if len(self._firsts) > 1:
            fitting = [_LETTERS if first == "(" else _fitting(first) for first in self._firsts]
            self.are_alike |= bool(_UNBOUNDED.fullmatch(before))
            self.are_alike |= any(a & b for a, b in combinations(fitting, 2))
        return self.are_alike


_LETTERS = frozenset(map(chr, range(128)))


def _fitting(piece: str) -> frozenset[str]:
    """The letters that a piece of a pattern fits; none for what fits a place."""
    try:
        fits = re.compile(piece, re.IGNORECASE).fullmatch
    except re.error:
        return frozenset()
    return frozenset(filter(fits, _LETTERS))


def _of_han(run: str) -> list[Phrase]:
    found = as_phrase(run)
    return [found] if found else []


def _beginnings(word: str) -> list[Phrase]:
    """A word that goes on, or that a capital cuts short."""
    small = word.lower()
    cuts = [place for place in range(1, len(small)) if small[place].isalpha()]
    return [Phrase((small,), is_open=True), *(Phrase((small[:cut],), is_open=False) for cut in cuts)]


def _pieces(pattern: str) -> Iterator[str]:
    return (piece[0] for piece in _PIECE.finditer(pattern))


def _literal_runs(pattern: str) -> list[str]:
    """Characters that stand together in whatever the pattern fits; none if that is hard to tell."""
    if _VERBOSE.search(pattern):
        return []
    runs, depth = [""], 0
    for piece in _pieces(pattern):
        if piece.startswith("\\") and piece.endswith(_CODES):
            return []
        if piece == "|" and not depth:
            return []
        depth += (piece == "(") - (piece == ")")
        if not depth and (letter := _literal(piece)):
            runs[-1] += letter
            continue
        if _REPEAT.fullmatch(piece) and piece != "+":
            runs[-1] = runs[-1][:-1]
        runs.append("")
    return runs


def _literal(piece: str) -> str | None:
    """The character that a piece of a pattern stands for, if it stands for one."""
    if piece.startswith("\\"):
        return None if piece[1:].isalnum() else piece[1:]
    return piece if len(piece) == 1 and piece not in ".^$*+?{}[]|()" else None
