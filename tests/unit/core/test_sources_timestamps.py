"""Times as agents write them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.core.timestamps import disk_time, parse_time

ZONES = ("Pacific/Kiritimati", "Asia/Tokyo", "UTC", "America/New_York", "Pacific/Pago_Pago")


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2026-05-01T10:00:00.000Z", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01T12:00:00+02:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01T10:00:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        (1_777_629_600_000, datetime(2026, 5, 1, 10, tzinfo=UTC)),
        (1_777_629_600, datetime(2026, 5, 1, 10, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        ("2999-12-31T23:59:59.999Z", datetime(2999, 12, 31, 23, 59, 59, 999_000, UTC)),
    ],
)
def test_a_time_is_read_as_utc(written: object, at: datetime) -> None:
    assert parse_time(written) == at


@pytest.mark.parametrize(
    "written",
    [
        *(
            "0001-01-01T00:00:00Z",
            "0001-01-01T00:00:00+14:00",
            "0001-01-01T00:00:00",
            "1969-12-31T23:59:59.999Z",
        ),
        *("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-10:00", "3000-01-01T00:00:00Z", "soon", ""),
        *(-62_135_596_800_000, -1, 253_402_300_799_999, 10**30, -(10**400), 1e308, float("inf"), True, None),
    ],
)
def test_what_no_agent_can_have_seen_is_no_time(written: object) -> None:
    assert parse_time(written) is None


@pytest.mark.parametrize("seconds", [-1, 253_402_300_799, 1e20, -1e300])
def test_disks_know_years_that_are_none_of_ours(seconds: float) -> None:
    assert disk_time(seconds) is None


@given(st.datetimes().map(datetime.isoformat) | st.integers() | st.floats())
def test_every_time_can_be_told_everywhere(written: object) -> None:
    at = parse_time(written)
    if at is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        for zone in ZONES:
            patch.setenv("TZ", zone)
            time.tzset()
            assert len(f"{at.astimezone():%Y-%m-%d}") == 10
    time.tzset()
