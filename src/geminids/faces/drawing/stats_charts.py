"""Small pictures from block characters: bars, a line of days, a calendar, readable without colour."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from geminids.faces.drawing.amounts import short
from geminids.faces.drawing.number_tables import flow

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page, Span
    from geminids.query.usage.figures import Tokens

    Days = Sequence[tuple[date, Tokens]]

_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_SHADES = "░▒▓█"
_NONE, _UNKNOWN = "·", "?"
MOST_WEEKS, FEWEST_WEEKS = 52, 26
_WEEKDAYS = ("Mon", "", "Wed", "", "Fri", "", "Sun")
_MARGIN = 5
"""Columns of the names of weekdays."""
_WEEK = timedelta(days=7)
_DAY = timedelta(days=1)


def bar(value: float | None, largest: float, width: int) -> str:
    """A bar whose length tells a value; the least one can be seen."""
    if not value or value < 0 or not largest:
        return ""
    eighths = max(1, round(8 * width * value / largest))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


# A line of days


class Sparkline(NamedTuple):
    """Days side by side, and which they are."""

    drawn: str
    first: date
    last: date


def sparkline(days: "Days", most: int) -> Sparkline | None:
    """The last days, also those with nothing; None if there are not two days to compare."""
    used = {day: used.total or 0 for day, used in days}
    if len(used) < 2 or most < 2:
        return None
    last = max(used)
    first = max(min(used), _before(last, most - 1))
    values = [used.get(first + number * _DAY, 0) for number in range((last - first).days + 1)]
    largest = max(values)
    return Sparkline("".join(_height(value, largest) for value in values), first, last) if largest else None


def _height(value: int, largest: int) -> str:
    """Days with anything stand above those with nothing."""
    return _HEIGHTS[0] if value <= 0 else _HEIGHTS[1 + 6 * value // largest]


def _before(day: date, days: int) -> date:
    """So many days before; the calendar begins with the year 1."""
    return day - min(days, day.toordinal() - 1) * _DAY


# A calendar


class Calendar(NamedTuple):
    """Which weeks a calendar shows, and from how many tokens on a day is how dark."""

    first: date
    """A Monday."""
    weeks: int
    used: Mapping[date, int | None]
    limits: Sequence[int]
    """The least of each shade, ascending."""
    last: date
    is_dense: bool
    """Whether there is no room between the weeks."""


def calendar(days: "Days", today: date, width: int | None) -> Calendar | None:
    """The weeks up to today, or up to the last day with anything if that was before all of them."""
    used = {day: used.total for day, used in days}
    if not used:
        return None
    room = (width or _MARGIN + 2 * MOST_WEEKS) - _MARGIN
    is_dense = room < 2 * FEWEST_WEEKS
    weeks = max(1, min(MOST_WEEKS, room if is_dense else room // 2))
    last = today if any(_first_monday(today, weeks) <= day <= today for day in used) else max(used)
    first = _first_monday(last, weeks)
    shown = {day: total for day, total in used.items() if first <= day <= last}
    return Calendar(first, weeks, shown, _limits(shown), last, is_dense)


def _first_monday(last: date, weeks: int) -> date:
    return _before(last, last.weekday() + 7 * (weeks - 1))


def _limits(used: Mapping[date, int | None]) -> Sequence[int]:
    """The values at which a quarter, the half and three quarters of the days are passed."""
    values = sorted(total for total in used.values() if total)
    quarters = [values[len(values) * quarter // 4] for quarter in range(4)] if values else []
    return list(dict.fromkeys(quarters))


def draw_calendar(page: "Page", drawn: Calendar, width: int | None) -> None:
    """Weeks as columns, Monday to Sunday as rows, and what the shades mean."""
    page.line((f"{'':{_MARGIN}}{_months(drawn)}", "quiet"))
    for weekday, name in enumerate(_WEEKDAYS):
        page.line((f"{name:<{_MARGIN}}", "quiet"), *_weekday(drawn, weekday))
    page.line()
    for line in flow(_legend(drawn), width and width - _MARGIN, between="  "):
        page.line((line, "quiet"), indent=_MARGIN)


def _weekday(drawn: Calendar, weekday: int) -> "Iterator[Span]":
    gap = "" if drawn.is_dense else " "
    for week in range(drawn.weeks):
        day = drawn.first + week * _WEEK + weekday * _DAY
        if day > drawn.last:
            return
        mark = _mark(drawn, day)
        yield mark + gap, "quiet" if mark in (_NONE, _UNKNOWN) else "good"


def _mark(drawn: Calendar, day: date) -> str:
    if day not in drawn.used:
        return _NONE
    total = drawn.used[day]
    if total is None:
        return _UNKNOWN
    return _shades(drawn)[sum(total >= limit for limit in drawn.limits[1:])] if total > 0 else _NONE


def _shades(drawn: Calendar) -> str:
    """As many shades as there are limits, the darkest last."""
    return _SHADES[-len(drawn.limits) :] if drawn.limits else _SHADES


def _months(drawn: Calendar) -> str:
    """The name of each month over its first whole week."""
    step = 1 if drawn.is_dense else 2
    line, month = "", None
    for week in range(drawn.weeks):
        monday = drawn.first + week * _WEEK
        if monday.month != month and (month is not None or monday.day <= 7 or week == 0):
            name = f"{monday:%b}"
            is_free = len(line) <= week * step and (week > 0 or monday.day <= 14)
            if is_free and week * step + len(name) <= drawn.weeks * step:
                line = f"{line:<{week * step}}{name} "
            month = monday.month
    return line


def _legend(drawn: Calendar) -> Iterator[str]:
    """From how many tokens on a day has which shade."""
    yield "tokens a day:"
    yield f"{_NONE} none"
    for shade, limit in zip(_shades(drawn), drawn.limits, strict=True):
        yield f"{shade} from {short(limit)}"
    if None in drawn.used.values():
        yield f"{_UNKNOWN} not recorded"
