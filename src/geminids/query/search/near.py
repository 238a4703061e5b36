"""Words that may have been meant by one that nobody used."""

from __future__ import annotations

from collections.abc import Iterator

from geminids.storage.index import search
from geminids.storage.index.database import Index

MOST = 3
"""Suggestions for a word."""
_MOST_COMPARED = 4_000
_MOST_PARTS = 5
_MOST_TRIED = 40
_LIKENESS = 0.75
_SHORTEST = 2
"""Letters of a part; single ones stand beside each other anywhere."""
_LONGEST = 40


def near(index: Index, term: str) -> list[str]:
    """The parts of a word that was typed in one, if they stand side by side somewhere; else words like it."""
    return _parts(index, term) or _like(index, term)


def _like(index: Index, term: str) -> list[str]:
    """Words that look like it, the most used first, among those that begin like it or nearly so."""
    from difflib import get_close_matches

    beginnings = dict.fromkeys((term[:2], term[1:2] + term[:1], term[:1] + term[2:3]))
    found = {
        word: messages
        for beginning in beginnings
        for word, messages in search.terms_from(index, beginning, _MOST_COMPARED)
        if abs(len(word) - len(term)) <= 2
    }
    like = get_close_matches(term, found, n=2 * MOST, cutoff=_LIKENESS)
    return sorted(like, key=found.__getitem__, reverse=True)[:MOST]


def _parts(index: Index, term: str) -> list[str]:
    """`getusername` as `get user name`, if these words follow each other in some message."""
    if len(term) > _LONGEST:
        return []
    known: dict[str, bool] = {}

    def is_word(part: str) -> bool:
        if part not in known:
            known[part] = search.occurs(index, part)
        return known[part]

    def splits(rest: str, parts: int) -> Iterator[tuple[str, ...]]:
        if parts == 1:
            if len(rest) >= _SHORTEST and is_word(rest):
                yield (rest,)
            return
        for end in range(len(rest) - _SHORTEST * (parts - 1), _SHORTEST - 1, -1):
            if is_word(rest[:end]):
                for others in splits(rest[end:], parts - 1):
                    yield (rest[:end], *others)

    tried = 0
    for parts in range(2, _MOST_PARTS):
        for split in splits(term, parts):
            phrase = " ".join(split)
            if search.is_anywhere(index, f'"{phrase}"'):
                return [phrase]
            tried += 1
            if tried >= _MOST_TRIED:
                return []
    return []
