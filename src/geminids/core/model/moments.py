"""Times that can be told: they have a date in every zone and on every system."""

from __future__ import annotations

from datetime import UTC, datetime

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
"""What is earlier is a zero that was taken for a time, as 0001-01-01, which has no date west of Greenwich."""
_END = datetime(3000, 1, 1, tzinfo=UTC)
"""In the next year the local time of Windows ends; in 9999 that of zones east of Greenwich."""


def is_tellable(at: datetime) -> bool:
    """Whether an aware time can be told in any zone. Agents were there at no other."""
    return _FIRST <= at < _END
