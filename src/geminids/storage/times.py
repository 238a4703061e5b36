"""Moments in the database: microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime | None) -> int | None:
    """A moment as it is stored."""
    return None if at is None else (at - _EPOCH) // _MICROSECOND


def moment(stored: int | None) -> datetime | None:
    """The moment that was stored."""
    return None if stored is None else _EPOCH + timedelta(microseconds=stored)
