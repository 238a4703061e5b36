"""What a text must hold for some letters to stand in it, as far as the words of the index tell.

Letters that stand together may begin and end within words, and `indexed` cuts words where a capital begins
a new one, which the letters do not show. So `usernam` stands in a text with a word that holds it, or with one
that ends in `user` and is followed by one that begins with `nam`: in whatever pieces are words of the index.
Only what is certain counts: signs part words, accents are left out of them, Chinese characters are found by
their pairs, and beside all other characters a word may go on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from geminids.storage.index.terms import Terms
from geminids.storage.text.characters import folded_in_place
from geminids.storage.text.words import Phrase, as_phrase

MOST_WORDS = 400
"""Words that are asked for instead of some letters: more take longer to look up than they rule out."""
FEW_WORDS = 60
"""Words of which each is asked for together with what follows it."""
SHORTEST = 3
"""Letters that a word begins with; fewer begin words nearly everywhere."""
LONGEST = 40
"""Letters that are looked for; of a longer run, the first."""

_RUNS = re.compile("(?P<word>[A-Za-z0-9]+)|(?P<han>[\u3400-\u4dbf\u4e00-\u9fff]+)")


def needed_phrases(letters: str, terms: Terms) -> list[list[Phrase]]:
    """Of each list, at least one phrase is in any text in which the letters stand."""
    needs = []
    letters = letters if letters.isascii() else folded_in_place(letters)
    for run in sorted(_RUNS.finditer(letters), key=lambda run: run.start() - run.end()):
        phrases = _of_han(run[0]) if run["han"] else _of_word(_fragment(letters, run.span()), terms)
        if phrases is not None:
            needs.append(phrases)
    return needs


def _of_han(run: str) -> list[Phrase] | None:
    found = as_phrase(run)
    return [found] if found else None


class _Fragment(NamedTuple):
    """Small letters and digits in one piece, and whether the word may go on at its ends."""

    letters: str
    is_open_before: bool
    is_open_after: bool


def _fragment(letters: str, span: tuple[int, int]) -> _Fragment:
    start, end = span
    cut = min(end, start + LONGEST)
    before, after = letters[:start][-1:], letters[cut : cut + 1]
    return _Fragment(
        letters[start:cut].lower(),
        not before or not before.isascii(),
        not after or not after.isascii() or after.isalnum(),
    )


def _of_word(fragment: _Fragment, terms: Terms) -> list[Phrase] | None:
    """Phrases of which a text has one that holds a fragment; None where there are too many."""
    if terms.has_dotless_i and "i" in fragment.letters:
        return None
    found = _in_one_word(fragment, terms)
    if found is None:
        return None
    tails = _Tails(fragment, terms)
    for cut in _cuts(fragment.letters):
        phrases = _cut_at(fragment, cut, tails, terms)
        if phrases is None or len(found) + len(phrases) > MOST_WORDS:
            return None
        found += phrases
    return found


def _in_one_word(fragment: _Fragment, terms: Terms) -> list[Phrase] | None:
    letters, is_open_before, is_open_after = fragment
    if not is_open_before and is_open_after and len(letters) < SHORTEST:
        return None
    if not is_open_before:
        return _beginning(fragment, terms)
    look_up = terms.holding if is_open_after else terms.ending
    words = look_up(letters, MOST_WORDS)
    return None if words is None else [Phrase((word,), is_open=False) for word in words]


def _beginning(fragment: _Fragment, terms: Terms) -> list[Phrase]:
    """The fragment as a word, or as the beginning of one; nothing if there is no such word."""
    letters, _, is_open = fragment
    is_there = terms.has_beginning(letters) if is_open else letters in terms
    return [Phrase((letters,), is_open)] if is_there else []


def _cut_at(fragment: _Fragment, cut: int, tails: _Tails, terms: Terms) -> list[Phrase] | None:
    """Phrases for a fragment in which a capital begins a new word at some place."""
    after = tails.at(cut)
    if not after:
        return []
    head = fragment.letters[:cut]
    words = terms.ending(head, FEW_WORDS) if fragment.is_open_before else [head][: head in terms]
    if words is not None:
        return [_joined(word, tail) for word in words for tail in after]
    return None if any(_is_short(tail) for tail in after) else after


def _joined(word: str, tail: Phrase) -> Phrase:
    """A word and what follows it; without that where nearly every word does."""
    return Phrase((word,), is_open=False) if _is_short(tail) else Phrase((word, *tail.words), tail.is_open)


def _is_short(tail: Phrase) -> bool:
    return tail.is_open and len(tail.words[-1]) < SHORTEST


class _Tails:
    """What may follow where a capital begins a new word in a fragment."""

    def __init__(self, fragment: _Fragment, terms: Terms) -> None:
        self._fragment = fragment
        self._terms = terms
        self._known: dict[int, bool] = {}

    def at(self, cut: int) -> list[Phrase]:
        """Phrases of which one follows; none if no words of the index can."""
        rest = self._rest(cut)
        whole = _beginning(rest, self._terms)
        # Where there are more capitals, the first piece is a word by itself.
        pieces = (rest.letters[:end] for end in _cuts(rest.letters) if self._goes_on(cut + end))
        return whole + [Phrase((piece,), is_open=False) for piece in pieces if piece in self._terms]

    def _goes_on(self, cut: int) -> bool:
        """Whether words of the index can be put together to what follows; the last of them may go on."""
        if cut not in self._known:
            rest = self._rest(cut)
            self._known[cut] = bool(_beginning(rest, self._terms)) or any(
                rest.letters[:end] in self._terms and self._goes_on(cut + end) for end in _cuts(rest.letters)
            )
        return self._known[cut]

    def _rest(self, cut: int) -> _Fragment:
        return self._fragment._replace(letters=self._fragment.letters[cut:], is_open_before=False)


def _cuts(letters: str) -> Sequence[int]:
    """Where a capital may have stood, but for the first letter."""
    return [place for place in range(1, len(letters)) if letters[place].isalpha()]
