"""Moments as people write them: 7d, 12h, today, yesterday, 2026-05-01, ISO 8601 with or without offset."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from geminids.errors import BadTimeError

UNITS = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}

_AGO = re.compile(r"(\d{1,9})\s*(min|h|d|w)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def parse_moment(written: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment in UTC. A whole day is its first moment, or with `end` the first moment after it.

    A time without offset is local time.
    """
    text = written.strip().lower()
    try:
        if text == "now":
            return now.astimezone(UTC)
        if ago := _AGO.fullmatch(text):
            return (now - int(ago[1]) * UNITS[ago[2]]).astimezone(UTC)
        if day := _day(text, now):
            return _local_midnight(day + timedelta(days=1) if end else day)
        return datetime.fromisoformat(written.strip()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadTimeError(written) from error


def _day(text: str, now: datetime) -> date | None:
    today = now.astimezone().date()
    if text == "today":
        return today
    if text == "yesterday":
        return today - timedelta(days=1)
    return date.fromisoformat(text) if _DAY.fullmatch(text) else None


def _local_midnight(day: date) -> datetime:
    return datetime.combine(day, time()).astimezone(UTC)
