"""Days side by side as bars, as wide as the screen allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from geminids.faces.tui.lines import Piece

WIDEST = 12
"""Columns of a day, with the blank after it."""
NAMED_FROM = 7
"""Columns of a day from which on each is named; else the first and the last are."""
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_DAY = timedelta(days=1)


class Days(NamedTuple):
    """The days of a picture, all of them between the first and the last."""

    first: date
    values: Sequence[int]
    width: int
    """Columns of each."""

    @property
    def last(self) -> date:
        """The last one."""
        return self.first + (len(self.values) - 1) * _DAY


def days_that_fit(used: Mapping[date, int | None], first: date, last: date, room: int) -> Days | None:
    """The last of these days for which there is room; None if there are not two, or nothing in any."""
    number = min((last - first).days + 1, room)
    first = last - (number - 1) * _DAY if number > 0 else last
    values = [used.get(first + at * _DAY) or 0 for at in range(number)]
    if number < 2 or not any(values):
        return None
    return Days(first, values, max(1, min(WIDEST, room // number)))


def bar_rows(days: Days, height: int) -> list[list[Piece]]:
    """The bars, and below them which days they are."""
    largest = max(days.values)
    # The least that is more than nothing can be seen.
    eighths = [max(1, round(8 * height * value / largest)) if value > 0 else 0 for value in days.values]
    rows = []
    for level in range(height - 1, -1, -1):
        marks = (_EIGHTHS[max(0, min(8, full - 8 * level))] for full in eighths)
        rows.append([Piece("".join(_wide(mark, days.width) for mark in marks), "bar")])
    return [*rows, [Piece(_names(days), "quiet")]]


def _wide(mark: str, width: int) -> str:
    """A piece of a bar; bars of some width have a blank between them."""
    return mark if width == 1 else mark * (width - 1) + " "


def _names(days: Days) -> str:
    if days.width >= NAMED_FROM:
        named = (short_day(days.first + at * _DAY) for at in range(len(days.values)))
        return "".join(name.ljust(days.width) for name in named)
    first, last = short_day(days.first), short_day(days.last)
    between = len(days.values) * days.width - (days.width > 1) - len(first) - len(last)
    return f"{first}{' ' * between}{last}" if between > 0 else f"{first} to {last}"


def short_day(day: date) -> str:
    """A day of a year that everybody knows."""
    return f"{day.day} {day:%b}"
