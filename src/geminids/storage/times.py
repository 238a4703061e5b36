"""Moments in the database: microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime | None) -> int | None:
    """A moment as it is kept."""
    return None if at is None else (at - _EPOCH) // _MICROSECOND


def moment(microseconds: int | None) -> datetime | None:
    """The moment that was kept."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
