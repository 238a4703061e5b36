"""Times as agents write them, as aware UTC; what is no time, or can be none of ours, is None."""

from __future__ import annotations

from datetime import UTC, datetime

from geminids.core.model import is_tellable

_FIRST_MILLISECOND_STAMP = 10**11
"""Numbers from here on count milliseconds: as seconds they would lie beyond the year 5000."""


def parse_time(written: object) -> datetime | None:
    """Read an ISO 8601 text or a Unix number; a text without zone is taken as UTC."""
    if isinstance(written, str):
        # Read here and not in a function of its own: nothing is done as often.
        try:
            moment = datetime.fromisoformat(written)
            if moment.tzinfo is not UTC:
                moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
            return moment if is_tellable(moment) else None
        except (ValueError, OverflowError):
            return None
    if isinstance(written, int | float) and not isinstance(written, bool):
        return _from_number(written)
    return None


def disk_time(seconds: float) -> datetime | None:
    """The time of a file; disks know years that are none of ours."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if is_tellable(moment) else None


def _from_number(written: float) -> datetime | None:
    try:
        return disk_time(written / 1000 if abs(written) >= _FIRST_MILLISECOND_STAMP else written)
    except OverflowError:
        return None
