"""How long things took."""

from __future__ import annotations

from datetime import datetime


def seconds_between(begin: datetime | None, end: datetime | None) -> float | None:
    """Seconds; None if a moment is not known, or the clock went back."""
    return (end - begin).total_seconds() if begin and end and end >= begin else None
