"""Queries that cannot be understood: the error says what, where, and shows one that can."""

from __future__ import annotations

from geminids.core.errors import GeminidsError

_SHOWN = 60
"""Characters of a query that an error shows before and after the place it is about."""


EXAMPLE = "geminids search 'cors \"preflight request\" project:shop since:7d'"


class QuerySyntaxError(GeminidsError):
    """A query that cannot be understood; says where, and shows one that can."""

    def __init__(self, text: str, column: int, problem: str, example: str = EXAMPLE) -> None:
        self.column = column
        place = f" At column {column}:\n{_pointed_at(text, column)}" if text.strip() else ""
        super().__init__(f"{problem}{place}\nFor example: {example}")


def _pointed_at(text: str, column: int) -> str:
    """The query on one line, and `^` under a column of it."""
    start = max(column - 1 - _SHOWN, 0)
    shown = "".join(c if c.isprintable() else " " for c in text[start : column + _SHOWN])
    before = shown[: column - 1 - start]
    return f"  {shown}\n  {' ' * _cells(before)}^"


def _cells(text: str) -> int:
    """How wide a text is on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
