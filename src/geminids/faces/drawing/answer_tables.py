"""The rows that a query gave, as a table that fits: numbers are whole, words are cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from geminids.faces.drawing.amounts import UNKNOWN, exact
from geminids.faces.drawing.number_tables import Cell, Field, Row, draw, fit
from geminids.sharing.transcript import safe, words

if TYPE_CHECKING:
    from decimal import Decimal

    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen

_LEAST = 12
"""Columns that words have at least, if they need as many."""
_MOST_WORDS = 2_000
"""Letters of a cell that are looked at: no terminal shows more of them."""
_DIGITS = 4
"""Behind the point, at most."""
_LITTLE = 0.00005
"""What is less would look like nothing."""
_HUGE = 1e16


def draw_answer(
    page: Page, screen: Screen, names: Sequence[str], numbers: Sequence[bool], rows: Sequence[Sequence[Any]]
) -> Sequence[str]:
    """Draw rows; the names of the columns for which there is no room."""
    columns = [
        _cells(column, is_number) for column, is_number in zip(zip(*rows, strict=True), numbers, strict=True)
    ]
    fields = [
        Field(
            safe.line(name),
            is_number=is_number,
            least=None if is_number else min(_LEAST, max(len(cell.exact) for cell in column)),
            leaves=len(names) - place if place else None,
        )
        for place, (name, is_number, column) in enumerate(zip(names, numbers, columns, strict=True))
    ]
    fitted = fit(fields, [Row(cells) for cells in zip(*columns, strict=True)], screen.width)
    draw(page, fitted, is_drawn=screen.is_drawn)
    return [field.heading for field in fitted.left_out]


def _cells(values: Sequence[Any], is_number: bool) -> list[Cell]:
    if not is_number:
        are_days = all(isinstance(v, datetime) and not _time_of(v) for v in values if v is not None)
        return [
            Cell(_words(value, are_days=are_days), style="" if value is not None else "quiet")
            for value in values
        ]
    known = [value for value in values if value is not None and math.isfinite(value)]
    digits = next((few for few in range(_DIGITS) if all(_has_digits(v, few) for v in known)), _DIGITS)
    return [Cell(exact(None), style="quiet") if v is None else Cell(_number(v, digits)) for v in values]


def _has_digits(value: int | float | Decimal, digits: int) -> bool:
    """Whether a number has no more digits behind the point."""
    return isinstance(value, int) or type(value)(f"{value:.{digits}f}") == value


def _number(value: int | float | Decimal, digits: int) -> str:
    if isinstance(value, int):
        return exact(value)
    if value != 0 and -_LITTLE < value < _LITTLE:
        return f"{value:.3g}"
    # What has so many digits in front of the point knows no more of them.
    return f"{value:.6g}" if isinstance(value, float) and abs(value) >= _HUGE else f"{value:,.{digits}f}"


def _local(value: datetime) -> datetime:
    """A moment in the time of this machine, where there is one: not in the first and the last year."""
    try:
        return value.astimezone() if value.tzinfo else value
    except (OverflowError, ValueError):
        return value


def _time_of(value: datetime) -> bool:
    return _local(value).time() != time()


def _words(value: Any, *, are_days: bool) -> str:
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
        case datetime():
            local = _local(value).replace(tzinfo=None)
            return str(local.date()) if are_days else local.isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case str():
            return safe.line(value[:_MOST_WORDS])
        case _ if hasattr(value, "nanoseconds"):
            # What the engine calls an interval.
            return _span(value.months, value.days, value.nanoseconds // 1_000_000_000)
        case _:
            from geminids.scale.sql.answers import plain
            from geminids.sharing.export.data import encode

            told = plain(value)
            return safe.line((told if isinstance(told, str) else encode(told).decode())[:_MOST_WORDS])


def _span(months: int, days: int, seconds: int) -> str:
    """A span of time: 2 months 3 days 01:02:03."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    spans = [words.count(number, name) for number, name in ((months, "month"), (days, "day")) if number]
    clock = f"{hours:02}:{minutes:02}:{seconds:02}"
    return " ".join([*spans, clock] if clock != "00:00:00" or not spans else spans)
