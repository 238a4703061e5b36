"""What a text must hold for a substring or a regular expression to be found in it, as far as the index knows.

Only what is certain counts. A word of ASCII letters is certain where it begins after a sign that is part of
what is looked for. Where its capitals stand is not known, so its first piece may be any beginning of it:
`foo(bar` needs `b`, `ba`, or a word that begins with `bar`. Chinese characters are certain everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.storage.text.words import Phrase, as_phrase

LEAST_LETTERS = 3
"""Shorter beginnings stand nearly everywhere: asking for them takes time and rules nothing out."""
MOST_LETTERS = 24
MOST_NEEDS = 3

_AFTER_A_SIGN = re.compile(r"(?<=[\x00-/:-@\[-`{-\x7f])[A-Za-z0-9]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
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
