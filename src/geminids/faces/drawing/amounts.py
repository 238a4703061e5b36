"""Numbers as tables show them: whole where there is room, short where there is not. Unknown is never 0."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

UNKNOWN = "–"
MARK = "≥"
"""What stands before a number of a table that is a lower bound."""
_LITTLE = "<$0.01"
_UNITS = ("k", "M", "B", "T")
_SHORT_FROM = 10_000
_LEAST_SHOWN = 0.005
"""Dollars; what is less would look like nothing."""


def exact(number: int | None) -> str:
    """Every digit: 1,192,511."""
    return UNKNOWN if number is None else f"{number:,}"


def short(number: int | None) -> str:
    """Three digits that matter, and how large it is: 12.3M."""
    if number is None or abs(number) < _SHORT_FROM:
        return exact(number)
    size, units = abs(number) / 1000, iter(_UNITS)
    unit = next(units)
    while round(size) >= 1000 and unit != _UNITS[-1]:
        size, unit = size / 1000, next(units)
    digits = 2 if round(size, 2) < 10 else 1 if round(size, 1) < 100 else 0
    return f"{'-' if number < 0 else ''}{size:,.{digits}f}{unit}"


def dollars(cost: Decimal | None) -> str:
    """A cost to the cent: $1,087.97."""
    if cost is None:
        return UNKNOWN
    return _LITTLE if 0 < cost < _LEAST_SHOWN else f"${cost:,.2f}"


def at_least(number: str, *, is_bound: bool, mark: str = "at least ") -> str:
    """Return a number, with a mark before it if it is a lower bound."""
    if not is_bound:
        return number
    return f"{mark}{'$0.00' if number == _LITTLE else number}"


def percent(part: int, whole: int) -> str:
    """A part of a whole; unknown if there is none."""
    if not whole:
        return UNKNOWN
    share = 100 * part / whole
    return "<1 %" if 0 < share < 1 else f"{share:.0f} %"
