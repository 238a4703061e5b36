"""The grammar of searches: filters apart, and the tree that is left (`language.py` tells the rules)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from geminids.query.search.filters import Filter, checked
from geminids.query.search.mistakes import QuerySyntaxError
from geminids.query.search.tokens import BARS, Kind, Token, tokens
from geminids.query.search.tree import And, Leaf, Node, Not, Or, Prefix, Substring, Words

_BEGINS_A_PART = (Kind.LEAF, Kind.SIGNS, Kind.FILTER, Kind.OPEN, Kind.NOT)
_WRITTEN_OUT = ("OR", "AND")
_ENDS_A_PART = (Kind.LEAF, Kind.SIGNS, Kind.FILTER, Kind.CLOSE)


def taken_apart(text: str) -> tuple[Node | None, list[Filter]]:
    """What is looked for, and the filters beside it."""
    typed = _without_loose_parentheses(text, list(tokens(text)))
    filters, rest = _filters_apart(text, _with_whole_operators(text, typed))
    return _Grammar(rest).tree() or _signs(rest), filters


def _without_loose_parentheses(text: str, typed: Sequence[Token]) -> list[Token]:
    """The tokens without a `(` that is never closed: pasted text is often cut, but who types OR means it."""
    unclosed: list[int] = []
    for number, token in enumerate(typed):
        if token.kind is Kind.OPEN:
            unclosed.append(number)
        elif token.kind is Kind.CLOSE:
            unclosed.pop()
    if unclosed and any(token.kind in (Kind.OR, Kind.AND, Kind.NOT) for token in typed):
        column = typed[unclosed[-1]].column
        raise QuerySyntaxError(
            text, column, "This ( is never closed.", "geminids search '(cors OR csrf) preflight'"
        )
    return [token for number, token in enumerate(typed) if number not in unclosed]


def _with_whole_operators(text: str, typed: Sequence[Token]) -> list[Token]:
    """The tokens without AND, which need not be written, and without bars that have nothing to join."""
    kept: list[Token] = []
    for token, follower in zip(typed, _followers(typed), strict=False):
        has_right = follower in _BEGINS_A_PART
        is_whole = has_right and bool(kept) and kept[-1].kind in _ENDS_A_PART
        if token.kind is Kind.NOT and not has_right:
            raise QuerySyntaxError(text, token.column, f"Nothing follows this {token.typed}.")
        if token.typed in _WRITTEN_OUT and not is_whole:
            problem = (
                f"{token.typed} needs something to search for on both sides. To search for it as a word, "
                "put it in quotes."
            )
            raise QuerySyntaxError(text, token.column, problem, "geminids search 'cors OR csrf'")
        if token.kind is not Kind.AND and (is_whole or token.kind is not Kind.OR):
            kept.append(token)
    return kept


def _followers(typed: Sequence[Token]) -> list[Kind | None]:
    """What comes after each token, bars aside."""
    kinds: list[Kind | None] = [None]
    for token in reversed(typed[1:]):
        kinds.append(kinds[-1] if token.typed in BARS else token.kind)
    return kinds[::-1]


class _Grammar:
    """Makes a tree of tokens: `NOT` before `OR` before the unwritten `AND`."""

    def __init__(self, typed: Sequence[Token]) -> None:
        self._tokens = typed
        self._next = 0

    def tree(self) -> Node | None:
        """What stands side by side, up to the end or to a `)`; None if there is no word in it."""
        parts: list[Node | None] = []
        while self._kind not in (None, Kind.CLOSE):
            parts.append(self._any())
        return _one_or(And, parts)

    @property
    def _kind(self) -> Kind | None:
        return self._tokens[self._next].kind if self._next < len(self._tokens) else None

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _any(self) -> Node | None:
        parts = [self._one()]
        while self._kind is Kind.OR:
            self._take()
            parts.append(self._one())
        return _one_or(Or, parts)

    def _one(self) -> Node | None:
        """A part, with the NOTs before it."""
        is_negated = False
        while self._kind is Kind.NOT:
            self._take()
            is_negated = not is_negated
        part = self._group() if self._kind is Kind.OPEN else _with_words(self._take())
        return Not(part) if part and is_negated else part

    def _group(self) -> Node | None:
        self._take()
        inside = self.tree()
        self._take()
        return inside


def _one_or(join: type[And | Or], parts: Sequence[Node | None]) -> Node | None:
    """The parts that have words, joined if there are several."""
    kept = tuple(part for part in parts if part)
    return join(kept) if len(kept) > 1 else next(iter(kept), None)


def _with_words(token: Token) -> Leaf | None:
    return token.leaf if token.kind is Kind.LEAF else None


def _signs(typed: Sequence[Token]) -> Node | None:
    """Signs without letters, like `=>`, looked for as characters: there is nothing else to look for."""
    if any(token.kind is Kind.NOT for token in typed):
        return None
    parts = [
        Substring(token.leaf.text, token.column)
        for token in typed
        if token.kind is Kind.SIGNS and isinstance(token.leaf, Words | Prefix) and token.leaf.text.strip()
    ]
    return And(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def _filters_apart(text: str, typed: Sequence[Token]) -> tuple[list[Filter], list[Token]]:
    """Filters count for the query as a whole, so they are taken out of it, with the NOTs before them."""
    filters: list[Filter] = []
    rest: list[Token] = []
    depth = nots = 0
    for number, token in enumerate(typed):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if token.filter:
            if depth or _is_beside_or(typed, number):
                _refuse_filter_in_a_part(text, token)
            filters += checked(text, token.filter._replace(is_negated=nots % 2 == 1))
            del rest[len(rest) - nots :]
        elif not (token.kind is Kind.OR and _is_between_values(typed, number)):
            rest.append(token)
        nots = nots + 1 if token.kind is Kind.NOT else 0
    return filters, rest


def _is_between_values(typed: Sequence[Token], number: int) -> bool:
    """Whether this OR stands between two filters of one name, which are alternatives without it too."""
    left, right = typed[number - 1].filter, typed[number + 1].filter
    return left is not None and right is not None and left.name == right.name


def _is_beside_or(typed: Sequence[Token], number: int) -> bool:
    places = [place for place in (number - 1, number + 1) if 0 <= place < len(typed)]
    return any(typed[place].kind is Kind.OR and not _is_between_values(typed, place) for place in places)


def _refuse_filter_in_a_part(text: str, token: Token) -> NoReturn:
    raise QuerySyntaxError(
        text,
        token.column,
        "A filter applies to the whole query: it cannot be in parentheses or beside OR.",
        "geminids search 'project:shop (cors OR csrf)', or several values: 'project:shop project:blog cors'",
    )
