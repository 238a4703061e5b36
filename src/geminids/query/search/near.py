"""Words that may have been meant by one that nobody used."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from geminids.query.search.fillers import FILLERS
from geminids.storage.index import search
from geminids.storage.index.database import Index
from geminids.storage.text.words import terms

MOST = 3
"""Suggestions for a word."""
_MOST_COMPARED = 4_000
_MOST_PARTS = 5
_MOST_TRIED = 40
_LIKENESS = 0.75
_SHORTEST_SLIP = 4
"""Letters of a word that is read as another one."""
_LONG = 7
"""Letters of one that may be more than one letter off."""
_SHORTEST = 2
"""Letters of a part; single ones stand beside each other anywhere."""
_LONGEST = 40


def near(index: Index, term: str) -> list[str]:
    """The parts of a word that was typed in one, if they stand side by side somewhere; else words like it."""
    return _parts(index, term) or _like(index, term)


def nearest_spellings(index: Index, word: str) -> list[str]:
    """What a word may have been meant for that stands nowhere: one letter off, else in parts, else alike."""
    parts = terms(word)
    if len(parts) != 1 or not _SHORTEST_SLIP <= len(parts[0]) <= _LONGEST:
        return []
    found = _one_letter_off(index, parts[0])
    return found or (near(index, parts[0]) if len(parts[0]) >= _LONG else [])


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


def _one_letter_off(index: Index, term: str) -> list[str]:
    """Words that differ from one in a letter that is missing, too many, another, or in the wrong place.

    Another letter is the least likely.
    """
    cuts = [(term[:place], term[place:]) for place in range(len(term) + 1)]
    swapped = [before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1]
    shorter = [before + after[1:] for before, after in cuts if after]
    longer = [before + letter + after for before, after in cuts for letter in ascii_lowercase]
    other = [before + letter + after[1:] for before, after in cuts if after for letter in ascii_lowercase]
    is_likely = dict.fromkeys(other, False) | dict.fromkeys((*longer, *shorter, *swapped), True)
    candidates = [word for word in is_likely if word != term and word not in FILLERS]
    found = search.messages_with(index, candidates)
    return sorted(found, key=lambda word: (is_likely[word], found[word]), reverse=True)[:MOST]


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
