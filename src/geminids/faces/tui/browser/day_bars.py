"""Days side by side as bars, as wide as the screen allows; weeks, where there is no room for all days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from geminids.faces.tui.lines import Piece

WIDEST = 12
"""Columns of a bar, with the blank after it."""
NAMED_FROM = 7
"""Columns of a bar from which on each has its day below it; else the first and the last have."""
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_WEEK = 7


class Bars(NamedTuple):
    """Days or weeks, all of them between the first and the last."""

    first: date
    values: Sequence[int]
    width: int
    """Columns of each."""
    days: int
    """Of each."""

    @property
    def period(self) -> str:
        """What a bar stands for."""
        return "day" if self.days == 1 else "week"

    @property
    def highest(self) -> int:
        """The most that is in one."""
        return max(self.values)

    def day(self, number: int) -> date:
        """The day with which one begins."""
        return self.first + timedelta(days=number * self.days)


def bars_of(used: Mapping[date, int | None], first: date, last: date, room: int) -> Bars | None:
    """Those for which there is room, the last ones; None if there are not two, or nothing is in any."""
    is_long = (last - first).days >= room
    step = _WEEK if is_long else 1
    # Weeks begin on Mondays.
    first -= timedelta(days=first.weekday() if is_long else 0)
    values = [0] * ((last - first).days // step + 1)
    for day, value in used.items():
        if first <= day <= last:
            values[(day - first).days // step] += value or 0
    shown = values[-room:]
    if len(shown) < 2 or not any(shown):
        return None
    begin = first + timedelta(days=(len(values) - len(shown)) * step)
    return Bars(begin, shown, max(1, min(WIDEST, room // len(shown))), step)


def bar_rows(bars: Bars, height: int) -> list[list[Piece]]:
    """The bars, and below them which days they are."""
    # The least that is more than nothing can be seen.
    eighths = [max(1, round(8 * height * value / bars.highest)) if value > 0 else 0 for value in bars.values]
    rows = []
    for level in range(height - 1, -1, -1):
        marks = (_EIGHTHS[max(0, min(8, full - 8 * level))] for full in eighths)
        rows.append([Piece("".join(_wide(mark, bars.width) for mark in marks), "bar")])
    return [*rows, [Piece(_names(bars), "quiet")]]


def _wide(mark: str, width: int) -> str:
    """A piece of a bar; bars of some width have a blank between them."""
    return mark if width == 1 else mark * (width - 1) + " "


def _names(bars: Bars) -> str:
    number = len(bars.values)
    if bars.width >= NAMED_FROM:
        return "".join(short_day(bars.day(at)).ljust(bars.width) for at in range(number))
    first, last = short_day(bars.first), short_day(bars.day(number - 1))
    between = number * bars.width - (bars.width > 1) - len(first) - len(last)
    return f"{first}{' ' * between}{last}" if between > 0 else f"{first} to {last}"


def short_day(day: date) -> str:
    """A day of a year that everybody knows."""
    return f"{day.day} {day:%b}"
