"""The pieces of a query: what is an operator, what a filter, and what a word, as `language.py` tells it."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from geminids.query.search.filters import FILTERS, Filter, refuse_a_slip
from geminids.query.search.mistakes import QuerySyntaxError
from geminids.query.search.tree import Leaf, Prefix, Regex, Substring, Words

DEEPEST = 16
"""Parentheses within parentheses. The parser of FTS5 has room for a hundred symbols."""

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\|\|?|[^\s|]+")
_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”')
_REGEX = re.compile(r"/((?:[^/\\]|\\.)+)/i?(?=[\s)]|$)", re.DOTALL)
_REGEX_SIGN = re.compile(r"[\^$*+?{}\[\]\\|()]|(?<!^)\.")
_FILTER = re.compile(r"([a-z]+):(?![:\s]|//|$)")
_NEGATIVE_NUMBER = re.compile(r"-[\d.,]+(?=[\s)]|$)")
_OPERAND = re.compile(r"""-(?:[^\W_]|\(|["“*/_.'$@#]\S)""")


class Kind(Enum):
    """What a piece of a query is."""

    LEAF = 1
    SIGNS = 2  # neither letters nor digits: no word
    FILTER = 3
    OPEN = 4
    CLOSE = 5
    OR = 6
    AND = 7
    NOT = 8


class Token(NamedTuple):
    """A piece of a query, as it was typed and as it is meant."""

    kind: Kind
    typed: str
    column: int
    leaf: Leaf | None = None
    filter: Filter | None = None


BARS = ("|", "||")
_OPERATORS = {"OR": Kind.OR, "|": Kind.OR, "||": Kind.OR, "AND": Kind.AND, "NOT": Kind.NOT}


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a query in their order."""
    place, depth = 0, 0
    while place < len(text):
        if space := _SPACE.match(text, place):
            place = space.end()
            continue
        token, place = _token(text, place, depth)
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth > DEEPEST:
            raise QuerySyntaxError(text, token.column, f"Parentheses can be nested at most {DEEPEST} deep.")
        yield token


def _token(text: str, place: int, depth: int) -> tuple[Token, int]:
    """The token that begins here, and where the next one may begin."""
    sign, column = text[place], place + 1
    if sign == "(":
        return Token(Kind.OPEN, sign, column), column
    if sign == ")" and depth:
        return Token(Kind.CLOSE, sign, column), column
    if sign == "-" and _OPERAND.match(text, place) and not _NEGATIVE_NUMBER.match(text, place):
        return Token(Kind.NOT, sign, column), column
    if found := _leaf(text, place, depth) or _filter(text, place, depth):
        return found
    word = _word(text, place, depth)
    if word in _OPERATORS:
        return Token(_OPERATORS[word], word, column), place + len(word)
    return _leaf_token(_of_word(word, column), word), place + len(word)


def _word(text: str, place: int, depth: int) -> str:
    """The characters up to the next blank, or to a `)` that closes a group and not a `(` of their own."""
    found = _WORD.match(text, place)
    word, own = found[0] if found else "", 0
    for number, sign in enumerate(word):
        own += (sign == "(") - (sign == ")")
        if own < 0 and depth:
            return word[:number]
    return word


def _of_word(word: str, column: int) -> Leaf:
    if word.endswith("*") and not word.endswith("**") and word[-2:-1].isalnum():
        return Prefix(word[:-1], column)
    return Words(word, column)


def _leaf_token(leaf: Leaf, typed: str) -> Token:
    is_empty = isinstance(leaf, Words | Prefix) and not leaf.phrases
    return Token(Kind.SIGNS if is_empty else Kind.LEAF, typed, leaf.column, leaf)


def _leaf(text: str, place: int, depth: int) -> tuple[Token, int] | None:
    """A phrase, a substring or a regular expression that begins here."""
    if text[place] in '"“':
        return _phrase(text, place)
    if text[place] == "*":
        return _substring(text, place, depth)
    return _regex(text, place) if text[place] == "/" else None


def _phrase(text: str, place: int) -> tuple[Token, int] | None:
    quoted = _QUOTED.match(text, place)
    if not quoted:
        if text[place] == '"' and text[place + 1 :].strip():
            problem = 'This " is never closed. To search for single words, leave it out.'
            raise QuerySyntaxError(text, place + 1, problem, "geminids search '\"connection refused\"'")
        return None
    inside, end = quoted[1] or quoted[2] or "", quoted.end()
    if text.startswith("*", end):
        return _leaf_token(Prefix(inside, place + 1), quoted[0]), end + 1
    return _leaf_token(Words(inside, place + 1, is_quoted=True), quoted[0]), end


def _substring(text: str, place: int, depth: int) -> tuple[Token, int] | None:
    if quoted := _QUOTED.match(text, place + 1):
        inside, end = quoted[1] or quoted[2] or "", quoted.end()
        end += text.startswith("*", end)
    else:
        word = _word(text, place, depth)
        inside, end = word.strip("*"), place + len(word)
        if word.startswith("**") or not any(map(str.isalnum, inside)):
            return None
    return (_leaf_token(Substring(inside, place + 1), text[place:end]), end) if inside else None


def _regex(text: str, place: int) -> tuple[Token, int] | None:
    found = _REGEX.match(text, place)
    if not found or not _REGEX_SIGN.search(found[1]):
        return None
    pattern = found[1].replace(r"\/", "/")
    _check_regex(text, place + 1, pattern)
    return _leaf_token(Regex(pattern, place + 1), found[0]), found.end()


def _check_regex(text: str, column: int, pattern: str) -> None:
    from geminids.storage.text.pattern_trees import check

    example = "geminids search '/time ?out/', or in quotes as words"
    try:
        check(pattern)
    except re.error as error:
        place = column + 1 + (error.pos or 0)
        raise QuerySyntaxError(text, place, f"Not a regular expression: {error.msg}.", example) from error
    except (OverflowError, RecursionError) as error:
        raise QuerySyntaxError(text, column, "This regular expression is too large.", example) from error


def _filter(text: str, place: int, depth: int) -> tuple[Token, int] | None:
    named = _FILTER.match(text, place)
    if not named:
        return None
    if named[1] not in FILTERS:
        refuse_a_slip(text, place)
        return None
    value, end = _filter_value(text, named.end(), depth)
    token = Filter(named[1], value, column=place + 1)
    return Token(Kind.FILTER, text[place:end], place + 1, filter=token), end


def _filter_value(text: str, place: int, depth: int) -> tuple[str, int]:
    if quoted := _QUOTED.match(text, place):
        return quoted[1] or quoted[2] or "", quoted.end()
    word = _word(text, place, depth)
    return word, place + len(word)
