"""Moments as people write them: 7d, 12h, today, last week, 2026-05-01, ISO 8601 with or without offset."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from datetime import UTC, date, datetime, time, timedelta

from geminids.core.errors import BadTimeError
from geminids.storage.times import FIRST, LAST

UNITS = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "mo": timedelta(days=30),
    "y": timedelta(days=365),
}

_AGO = re.compile(
    r"(\d{1,9})\s*(?:(min)(?:ute)?s?|(h)(?:ours?)?|(d)(?:ays?)?|(w)(?:eeks?)?|(mo)(?:nths?)?|(y)(?:ears?)?)"
    r"(?:\s+ago)?"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?")
"""A month, or a whole year."""
_SPAN = re.compile(r"(this|last)[\s_-]*(week|month|year)")


def parse_moment(written: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment in UTC. A day, week, month or year is its first moment, or with `end` the first after it.

    A time without offset is local time. What lies before or after all time is the first or last moment.
    """
    text = written.strip().lower()
    if text == "now":
        return now.astimezone(UTC)
    if ago := _AGO.fullmatch(text):
        return _before(now, int(ago[1]), next(filter(None, ago.groups()[1:])))
    try:
        days = _days(text, now)
        moment = datetime.combine(days[0], time()) if days else datetime.fromisoformat(written.strip())
    except ValueError as error:
        raise BadTimeError(written) from error
    try:
        return (moment + timedelta(days=days[1]) if days and end else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        return FIRST if moment.year < now.year else LAST


def _before(now: datetime, number: int, unit: str) -> datetime:
    try:
        return (now - number * UNITS[unit]).astimezone(UTC)
    except OverflowError:
        return FIRST


def _days(text: str, now: datetime) -> tuple[date, int] | None:
    """The first day that is meant, and how many."""
    today = now.astimezone().date()
    if text == "today":
        return today, 1
    if text == "yesterday":
        return today - timedelta(days=1), 1
    if _DAY.fullmatch(text):
        return date.fromisoformat(text), 1
    if span := _SPAN.fullmatch(text):
        return _span(today, span[2], is_last=span[1] == "last")
    if not (found := _MONTH.fullmatch(text)):
        return None
    return _month(int(found[1]), int(found[2])) if found[2] else _year(int(found[1]))


def _span(today: date, unit: str, *, is_last: bool) -> tuple[date, int]:
    """The week, month or year of a day, or the one before it; weeks begin on Monday."""
    if unit == "week":
        return today - timedelta(days=today.weekday() + 7 * is_last), 7
    if unit == "year":
        return _year(today.year - is_last)
    of_it = today.replace(day=1) - timedelta(days=int(is_last))
    return _month(of_it.year, of_it.month)


def _month(year: int, month: int) -> tuple[date, int]:
    return date(year, month, 1), monthrange(year, month)[1]


def _year(year: int) -> tuple[date, int]:
    return date(year, 1, 1), 365 + isleap(year)
