"""A column that is called like a word of the engine's grammar: it may be written as in other engines."""

from __future__ import annotations

from itertools import pairwise

import duckdb

_COLUMN = b"at"
"""When something was. Spark takes the bare word, DuckDB wants quotes around it."""
_GRAMMAR = b"time"
"""What follows where it is no column: AT TIME ZONE."""


def with_quotes(query: str) -> str:
    """The same query with quotes around the names of columns that need them."""
    written = query.encode()
    # The engine counts bytes.
    starts = [start for start, kind in duckdb.tokenize(query) if kind == duckdb.token_type.keyword]
    pieces: list[bytes] = []
    done = 0
    for start, after in pairwise([*starts, len(written)]):
        end = start + len(_COLUMN)
        if _word(written, start) == _COLUMN and _word(written, after) != _GRAMMAR:
            pieces += (written[done:start], b'"', written[start:end], b'"')
            done = end
    return b"".join([*pieces, written[done:]]).decode()


def _word(written: bytes, start: int) -> bytes:
    end = start
    while end < len(written) and written[end : end + 1].isalpha():
        end += 1
    return written[start:end].lower()
