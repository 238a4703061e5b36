"""A query as it was written, made into one that the engine takes.

A column that is called like a word of the engine's grammar may be written as in other engines, and a query
may end like in a file of queries. Where there is no column "user" or "current_date", the engine gives a value
of its own instead, which looks like data.
"""

from __future__ import annotations

import re

import duckdb

_COLUMN = b"at"
"""When something was. Spark takes the bare word, DuckDB wants quotes around it."""
_GRAMMAR = [b"time", b"zone"]
"""What follows where it is no column: AT TIME ZONE."""
_END = b";"
_OF_ENGINE = frozenset(
    {b"current_catalog", b"current_role", b"current_schema", b"current_user", b"session_user", b"user"}
)
"""Names for which the engine has values that say nothing about sessions."""
_OF_TIME = frozenset(
    {b"current_date", b"current_time", b"current_timestamp", b"localtime", b"localtimestamp"}
)
"""Names for which the engine has values that a query may want, without quotes."""
_NAME = re.compile(rb'"(\w+)"(?!")|(\w+)')
MARK = "?"
"""Behind a name in a query that is only tried."""


def with_quotes(query: str) -> str:
    """The same query with quotes around the names of columns that need them."""
    written, tokens = _tokens(query)
    pieces: list[bytes] = []
    done = 0
    for place, (start, kind) in enumerate(tokens):
        if kind != duckdb.token_type.keyword or _word(written, start) != _COLUMN:
            continue
        if [_word(written, after) for after, _ in tokens[place + 1 : place + 3]] != _GRAMMAR:
            end = start + len(_COLUMN)
            pieces += (written[done:start], b'"', written[start:end], b'"')
            done = end
    return b"".join([*pieces, written[done:]]).decode()


def with_marked_names(query: str) -> str:
    """Return a query that fails where the engine would take a missing column for a value of its own."""
    written, tokens = _tokens(query)
    pieces: list[bytes] = []
    done = 0
    for start, _ in tokens:
        if not (found := _NAME.match(written, start)):
            continue
        quoted, bare = (found[number] or b"" for number in (1, 2))
        if quoted.lower() in _OF_TIME | _OF_ENGINE or bare.lower() in _OF_ENGINE:
            pieces += (written[done:start], b'"', quoted or bare, MARK.encode(), b'"')
            done = found.end()
    return b"".join([*pieces, written[done:]]).decode()


def without_end(query: str) -> str:
    """The same query without the semicolons at its end, and what somebody noted behind them."""
    written, tokens = _tokens(query)
    end = len(written)
    for start, kind in reversed(tokens):
        if kind != duckdb.token_type.operator or written[start : start + 1] != _END:
            break
        end = start
    return written[:end].decode()


def _tokens(query: str) -> tuple[bytes, list[tuple[int, duckdb.token_type]]]:
    """A query in bytes, by which the engine counts, and where each word of it begins; comments are none."""
    tokens = [(start, kind) for start, kind in duckdb.tokenize(query) if kind != duckdb.token_type.comment]
    return query.encode(), tokens


def _word(written: bytes, start: int) -> bytes:
    end = start
    while end < len(written) and written[end : end + 1].isalpha():
        end += 1
    return written[start:end].lower()
