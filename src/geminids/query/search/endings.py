"""Forms of a word that differ in its ending: `uploads`, `uploaded` and `uploading` for `upload`.

They are made by rule and may be no words at all: one that stands nowhere finds nothing, and takes next to no
time. Only a search that found too little asks for them; a word in quotes stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

_SHORTEST = 4
"""Letters of a word that has other forms, and of what is left of one without an ending."""
_ENDINGS = (
    *("s", "es", "ed", "ing", "ings", "er", "ers", "e", "ion", "ions", "ation", "ations"),
    *("ment", "ments", "ly", "al", "able", "en", "n", "ung", "ungen"),
)
_LEAVE_A_WORD = ("s", "ed", "ing", "er")
"""Endings before which a shorter word may stand by itself: `added`, but not `notes`."""
_DOUBLING = ("ed", "ing", "er", "ers")
_VOWELS = "aeiou"


@lru_cache(maxsize=256)
def forms(word: str) -> tuple[str, ...]:
    """Other forms that a word may have, of which few are words."""
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return ()
    found: dict[str, None] = {}
    for stem, is_word in _stems(word):
        if is_word:
            found[stem] = None
        found.update(dict.fromkeys(_with_endings(stem)))
    return tuple(form for form in found if form != word)


def _stems(word: str) -> Iterator[tuple[str, bool]]:
    """What words with the same stem begin with, and whether it may be a word by itself."""
    yield word, True
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST - 1:
            yield stem, len(stem) >= _SHORTEST or ending in _LEAVE_A_WORD
            if ending in _DOUBLING and _ends_doubled(stem):
                yield stem[:-1], True
            if stem.endswith("i"):
                yield stem[:-1] + "y", True


def _with_endings(stem: str) -> Iterator[str]:
    for ending in _ENDINGS:
        yield stem + ending
        if stem.endswith("e") and ending[0] in _VOWELS:
            yield stem[:-1] + ending
        if stem.endswith("y"):
            yield f"{stem[:-1]}i{ending}"
        if ending in _DOUBLING and stem[-1] not in _VOWELS:
            yield stem + stem[-1] + ending


def _ends_doubled(stem: str) -> bool:
    return len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in _VOWELS
