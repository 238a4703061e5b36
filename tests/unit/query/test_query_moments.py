"""Moments as people write them."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.core.errors import BadTimeError
from geminids.query.search.moments import parse_moment
from tests.conftest import NOW


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("now", NOW),
        ("7d", NOW - timedelta(days=7)),
        (" 12h ", NOW - timedelta(hours=12)),
        ("90min", NOW - timedelta(minutes=90)),
        ("2w", NOW - timedelta(weeks=2)),
        ("1mo", NOW - timedelta(days=30)),
        ("1y", NOW - timedelta(days=365)),
        ("7days", NOW - timedelta(days=7)),
        ("12 hours ago", NOW - timedelta(hours=12)),
        ("30 minutes", NOW - timedelta(minutes=30)),
        ("2 months", NOW - timedelta(days=60)),
        ("today", datetime(2026, 6, 15, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 6, 14, tzinfo=UTC)),
        ("last month", datetime(2026, 5, 1, tzinfo=UTC)),
        ("This month", datetime(2026, 6, 1, tzinfo=UTC)),
        ("last week", datetime(2026, 6, 8, tzinfo=UTC)),
        ("this  week", datetime(2026, 6, 15, tzinfo=UTC)),
        ("last-year", datetime(2025, 1, 1, tzinfo=UTC)),
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T14:00", datetime(2026, 5, 1, 14, tzinfo=UTC)),
        ("2026-05-01 14:00:30", datetime(2026, 5, 1, 14, 0, 30, tzinfo=UTC)),
        ("2026-05-01T14:00+02:00", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01T14:00:00Z", datetime(2026, 5, 1, 14, tzinfo=UTC)),
    ],
)
def test_people_write_moments_in_many_ways(written: str, meant: datetime) -> None:
    assert parse_moment(written, NOW) == meant


@pytest.mark.parametrize(("written", "meant"), [("today", 16), ("yesterday", 15), ("2026-06-01", 2)])
def test_the_end_of_a_day_is_the_beginning_of_the_next(written: str, meant: int) -> None:
    assert parse_moment(written, NOW, end=True) == datetime(2026, 6, meant, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "month", "day"),
    [
        ("last month", 6, 1),
        ("this month", 7, 1),
        ("last week", 6, 15),
        ("this week", 6, 22),
        ("2026-05", 6, 1),
    ],
)
def test_the_end_of_a_span_is_the_beginning_of_the_next(written: str, month: int, day: int) -> None:
    assert parse_moment(written, NOW, end=True) == datetime(2026, month, day, tzinfo=UTC)


def test_the_month_before_january_is_december() -> None:
    january = datetime(2026, 1, 31, tzinfo=UTC)
    assert parse_moment("last month", january) == datetime(2025, 12, 1, tzinfo=UTC)
    assert parse_moment("last week", january) == datetime(2026, 1, 19, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "soon", "7x", "d", "-3d", "2026-13-01", "30m", "9999-12-31x"])
def test_what_is_no_moment_is_named_with_examples(written: str) -> None:
    with pytest.raises(BadTimeError, match="Use 7d, 12h"):
        parse_moment(written, NOW)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("end", [False, True])
def test_what_lies_outside_of_all_time_is_its_first_or_last_moment(
    zone: str, end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    assert parse_moment("0001-01-01", NOW, end=end) < datetime(2, 1, 1, tzinfo=UTC)
    assert parse_moment("9999-12-31", NOW, end=end) > datetime(9999, 12, 30, tzinfo=UTC)
    assert parse_moment("0001-01-01T00:00+14:00", NOW) < datetime(2, 1, 1, tzinfo=UTC)
    assert parse_moment("999999999w", NOW) < datetime(2, 1, 1, tzinfo=UTC)


@given(some.text())
def test_any_text_is_a_moment_in_utc_or_a_bad_time(written: str) -> None:
    try:
        moment = parse_moment(written, NOW)
    except BadTimeError:
        return
    assert moment.utcoffset() == timedelta(0)


@given(some.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)), some.integers(-12 * 60, 14 * 60))  # noqa: DTZ001
def test_a_moment_with_an_offset_is_that_moment(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_moment(aware.isoformat(), NOW) == aware
