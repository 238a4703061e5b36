"""Moments as people write them: 7d, 12h, today, yesterday, 2026-05-01, ISO 8601 with or without offset."""

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


def parse_moment(written: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment in UTC. A day, month or year is its first moment, or with `end` the first one after it.

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
    if not (found := _MONTH.fullmatch(text)):
        return None
    year, month = int(found[1]), int(found[2] or 1)
    first = date(year, month, 1)
    return first, monthrange(year, month)[1] if found[2] else 365 + isleap(year)
