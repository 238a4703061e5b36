"""Words that may have been meant by one that nobody used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
_LONG_FILLER = 5
"""Letters of one that may be a filler with another letter: shorter words have too many neighbours."""
_PLURAL = "s"
_ENDINGS = (_PLURAL, "es", "ed", "ing")
"""Without which a word may be one letter off."""
_SHORTEST = 2
"""Letters of a part; single ones stand beside each other anywhere."""
_LONGEST = 40


def near(index: Index, term: str) -> list[str]:
    """The parts of a word that was typed in one, if they stand side by side somewhere; else words like it."""
    return _parts(index, term) or _like(index, term)


def nearest_spellings(index: Index, word: str) -> list[str]:
    """What a word may have been meant for that stands nowhere: one letter off, else in parts, else alike.

    A filler stands alone: whoever meant one looks for nothing by it.
    """
    parts = terms(word)
    if len(parts) != 1 or len(parts[0]) > _LONGEST:
        return []
    (term,) = parts
    if len(term) < _SHORTEST_SLIP:
        return [other for other in _swapped(_cuts(term)) if other in FILLERS][:1]
    if found := _one_letter_off(index, term):
        return found
    other = [term.removesuffix(ending) for ending in _ENDINGS if term.endswith(ending)]
    for form in other or [term + _PLURAL]:
        if len(form) >= _SHORTEST_SLIP and (found := _one_letter_off(index, form, only_likely=True)):
            return found
    return (_parts(index, term) or _like(index, term, FILLERS)) if len(term) >= _LONG else []


def is_filler(readings: Sequence[str]) -> bool:
    """Whether a word was meant that tells nothing."""
    return bool(readings) and readings[0] in FILLERS


def _like(index: Index, term: str, others: Collection[str] = ()) -> list[str]:
    """Words that look like it, the most used first: of others, and of those that begin like it or nearly so.

    A filler stands alone, if none looks more like it.
    """
    from difflib import get_close_matches

    beginnings = dict.fromkeys((term[:2], term[1:2] + term[:1], term[:1] + term[2:3]))
    found = {
        word: messages
        for beginning in beginnings
        for word, messages in search.terms_from(index, beginning, _MOST_COMPARED)
        if abs(len(word) - len(term)) <= 2
    }
    like = get_close_matches(term, found.keys() | others, n=2 * MOST, cutoff=_LIKENESS)
    if is_filler(like):
        return like[:1]
    telling = [word for word in like if word not in FILLERS]
    return sorted(telling, key=found.__getitem__, reverse=True)[:MOST]


def _one_letter_off(index: Index, term: str, *, only_likely: bool = False) -> list[str]:
    """Words that differ from one in a letter that is missing, too many, another, or in the wrong place.

    Another letter is the least likely; it and short words are left out if only what is likely is wanted. A
    filler stands alone, if none is likelier.
    """
    cuts = _cuts(term)
    shorter = [before + after[1:] for before, after in cuts if after]
    longer = [before + letter + after for before, after in cuts for letter in ascii_lowercase]
    letters = "" if only_likely else ascii_lowercase
    other = [before + letter + after[1:] for before, after in cuts if after for letter in letters]
    is_likely = dict.fromkeys(other, False) | dict.fromkeys((*longer, *shorter, *_swapped(cuts)), True)
    is_likely.pop(term, None)
    fillers = sorted(FILLERS.intersection(is_likely), key=lambda word: (not is_likely[word], word))
    if fillers and is_likely[fillers[0]]:
        return fillers[:1]
    shortest = _SHORTEST_SLIP if only_likely else 1
    candidates = [word for word in is_likely if word not in FILLERS and len(word) >= shortest]
    found = search.messages_with(index, candidates)
    if fillers and not found and len(term) >= _LONG_FILLER:
        return fillers[:1]
    return sorted(found, key=lambda word: (is_likely[word], found[word]), reverse=True)[:MOST]


def _cuts(term: str) -> list[tuple[str, str]]:
    return [(term[:place], term[place:]) for place in range(len(term) + 1)]


def _swapped(cuts: Sequence[tuple[str, str]]) -> list[str]:
    return [before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1]


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
