"""What a query asks for, as a tree: what it is true of, and how much of it the index can answer.

Words, phrases and prefixes are answered by the index exactly. Of substrings and regular expressions its words
tell only what they need at least (`literals.py`); the rest must be verified on the text (`matches`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from geminids.core.values import Value
from geminids.storage.text.words import Phrase, Want, Way, as_phrase, spellings, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from geminids.storage.index.terms import Terms
    from geminids.storage.text.needs import Need
    from geminids.storage.text.patterns import Patterns


class Words(Value):
    """A word, or a phrase in quotes: its words stand one after the other in one column."""

    text: str
    column: int = 1
    """Where it was typed, from 1."""
    is_quoted: bool = False

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """Any of these in the index will do. Quotes say: exactly this."""
        return _typed(self.text) if self.is_quoted else _spelled(self.text)


class Prefix(Value):
    """A word or phrase whose last word may go on."""

    text: str
    column: int = 1

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """Any of these in the index will do."""
        return _typed(self.text, prefix=True)


class Substring(Value):
    """Characters that stand together anywhere, in capitals or not."""

    text: str
    column: int = 1


class Regex(Value):
    """A regular expression of Python; case does not matter, `^` and `$` are the ends of lines."""

    pattern: str
    column: int = 1


class And(Value):
    """All of these."""

    parts: tuple[Node, ...]


class Or(Value):
    """Any of these."""

    parts: tuple[Node, ...]


class Not(Value):
    """Not this."""

    part: Node


MOST_NEEDS = 3
"""Pieces of some letters that the index is asked for, the longest ones."""
MOST_PARTS = 20
"""Needs of one pattern that it is asked for."""

Leaf: TypeAlias = Words | Prefix | Substring | Regex
Node: TypeAlias = And | Or | Not | Leaf


@lru_cache(maxsize=256)
def _spelled(text: str) -> tuple[Phrase, ...]:
    return tuple(spellings(text))


@lru_cache(maxsize=256)
def _typed(text: str, *, prefix: bool = False) -> tuple[Phrase, ...]:
    typed = as_phrase(text, prefix=prefix)
    return (typed,) if typed else ()


class Bound(Value):
    """Rows as FTS5 can name them: those that match an expression, or with `is_complement` all others.

    Without expression it is no row at all, or every row.
    """

    expression: str | None
    is_complement: bool

    @property
    def flipped(self) -> Bound:
        """All rows but these."""
        return Bound(self.expression, not self.is_complement)


NO_ROW = Bound(None, is_complement=False)
EVERY_ROW = Bound(None, is_complement=True)


def leaves(node: Node, *, wanted: bool = True) -> Iterator[tuple[Leaf, bool]]:
    """Each leaf, and whether it is wanted (or to be kept out)."""
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part, wanted=wanted)
        case Not(part):
            yield from leaves(part, wanted=not wanted)
        case _:
            yield node, wanted


def whole_words(node: Node | None) -> Node | None:
    """The same with no word taken apart: `todo` means no more `to do`, but `GitHub` still means `github`."""
    match node:
        case And(parts) | Or(parts):
            return type(node)(tuple(part for part in map(whole_words, parts) if part))
        case Words(text, column) if node.phrases and len(node.phrases[0].words) == 1:
            return Words(text, column, is_quoted=True)
        case _:
            return node


def want(leaf: Leaf) -> Want:
    """What to highlight for a leaf."""
    match leaf:
        case Words(text, _, is_quoted):
            return Want(text, Way.PHRASE if is_quoted else Way.WORD)
        case Prefix(text):
            return Want(text, Way.PREFIX)
        case Substring(text):
            return Want(text, Way.SUBSTRING)
        case Regex(pattern):
            return Want(pattern, Way.REGEX)


def is_everything_else(node: Node) -> bool:
    """Whether it is true of a message in which none of its words occur."""
    match node:
        case And(parts):
            return all(map(is_everything_else, parts))
        case Or(parts):
            return any(map(is_everything_else, parts))
        case Not(part):
            return not is_everything_else(part)
        case _:
            return False


def rows(node: Node, terms: Terms | None, *, at_least: bool = False) -> Bound:
    """The rows that may fit, or with `at_least` those that surely do; what lies between must be verified."""
    match node:
        case Words() | Prefix():
            return _any_phrase(node.phrases)
        case Substring() | Regex():
            return NO_ROW if at_least else _fulfilling(need(node), terms)
        case Not(part):
            return rows(part, terms, at_least=not at_least).flipped
        case And(parts):
            return _in_all([rows(part, terms, at_least=at_least) for part in parts])
        case Or(parts):
            return _in_any([rows(part, terms, at_least=at_least) for part in parts])


def need(node: Node) -> Need:
    """What letters a message needs for it to be true, as far as its substrings and patterns tell."""
    from geminids.storage.text.needs import NOTHING, AllOf, either, needed_by_regex

    match node:
        case Substring(text):
            return text
        case Regex(pattern):
            return needed_by_regex(pattern)
        case And(parts):
            return AllOf(tuple(map(need, parts)))
        case Or(parts):
            return either(list(map(need, parts)))
        case _:
            return NOTHING


def _any_phrase(phrases: Sequence[Phrase]) -> Bound:
    return Bound(_joined(" OR ", [phrase.expression for phrase in phrases]), is_complement=False)


def _fulfilling(wanted: Need, terms: Terms | None) -> Bound:
    """The rows that may have what is needed; without words of the index, all of them."""
    from geminids.query.search.literals import needed_phrases
    from geminids.storage.text.needs import AllOf

    if terms is None:
        return EVERY_ROW
    if isinstance(wanted, str):
        return _in_all([_any_phrase(phrases) for phrases in needed_phrases(wanted, terms)[:MOST_NEEDS]])
    bounds = [_fulfilling(part, terms) for part in wanted.parts[:MOST_PARTS]]
    if isinstance(wanted, AllOf):
        return _in_all(bounds)
    return _in_any(bounds) if len(wanted.parts) <= MOST_PARTS else EVERY_ROW


def _in_any(bounds: Sequence[Bound]) -> Bound:
    """The rows that one of the bounds has."""
    return _in_all([bound.flipped for bound in bounds]).flipped


def _in_all(bounds: Sequence[Bound]) -> Bound:
    """The rows that all bounds have. FTS5 knows `a NOT b`, but no `NOT b` by itself."""
    if NO_ROW in bounds:
        return NO_ROW
    inside = [bound.expression for bound in bounds if bound.expression and not bound.is_complement]
    outside = [bound.expression for bound in bounds if bound.expression and bound.is_complement]
    if not inside:
        return Bound(_joined(" OR ", outside), is_complement=True)
    wanted, unwanted = _joined(" AND ", inside), _joined(" OR ", outside)
    expression = f"{_closed(wanted)} NOT {_closed(unwanted)}" if wanted and unwanted else wanted
    return Bound(expression, is_complement=False)


def _joined(operator: str, expressions: Sequence[str]) -> str | None:
    distinct = list(dict.fromkeys(expressions))
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    return operator.join(map(_closed, distinct))


def _closed(expression: str) -> str:
    """In parentheses, unless it is one phrase: words hold no quotes, so there are just the two around it."""
    return expression if expression.count('"') == 2 else f"({expression})"


def matches(node: Node, texts: Mapping[str, str], patterns: Patterns) -> bool:
    """Whether it is true of a message whose texts these are, by column. Raises TooSlowError."""
    return _is_true(node, _Message(list(filter(None, texts.values()))), patterns)


class _Message:
    """The texts of a message, and their words once somebody asks for them."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self._words: list[list[str]] | None = None

    @property
    def words(self) -> list[list[str]]:
        if self._words is None:
            self._words = [terms(text) for text in self.texts]
        return self._words


def _is_true(node: Node, message: _Message, patterns: Patterns) -> bool:
    from geminids.storage.text.places import has_substring

    match node:
        case And(parts):
            return all(_is_true(part, message, patterns) for part in parts)
        case Or(parts):
            return any(_is_true(part, message, patterns) for part in parts)
        case Not(part):
            return not _is_true(part, message, patterns)
        case Words() | Prefix():
            return any(holds(words, phrase) for phrase in node.phrases for words in message.words)
        case Substring(text):
            return any(has_substring(each, text) for each in message.texts)
        case Regex(pattern):
            return any(patterns.is_in(text, pattern) for text in message.texts)


def holds(words: Sequence[str], phrase: Phrase) -> bool:
    """Whether the words of a phrase stand among these one after the other."""
    *before, last = phrase.words
    for end in range(len(before), len(words)):
        is_last = words[end].startswith(last) if phrase.is_open else words[end] == last
        if is_last and words[end - len(before) : end] == before:
            return True
    return False
