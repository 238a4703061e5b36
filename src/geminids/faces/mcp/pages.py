"""Pages of a list that is asked for by place: how many fit, and where the next one begins."""

from __future__ import annotations

from geminids.faces.mcp.errors import BadPlaceError

MOST_DIGITS = 7


def start_of(after: str) -> int:
    """The place where a page begins, from 0. Raises BadPlaceError."""
    if not after:
        return 0
    if len(after) > MOST_DIGITS or not (after.isascii() and after.isdigit()):
        raise BadPlaceError(after)
    return int(after)


def next_of(start: int, shown: int, total: int) -> str | None:
    """What to give for the page behind one; None if that was the last one."""
    return str(start + shown) if start + shown < total else None
