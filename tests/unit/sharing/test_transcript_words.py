"""Times in words, and what is long in few."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from geminids.sharing.transcript import words
from geminids.sharing.transcript.limits import cut, first_lines, more_lines
from tests.conftest import ROOT

MORNING = datetime(2026, 5, 1, 10, 0, 30, tzinfo=UTC)
NOON = datetime(2026, 5, 1, 12, 0, 30, tzinfo=UTC)
NEXT_DAY = datetime(2026, 5, 2, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("begin", "end", "span"),
    [
        (MORNING, NOON, "2026-05-01 10:00 to 12:00 UTC (2 h)"),
        (MORNING, NEXT_DAY, "2026-05-01 10:00 to 2026-05-02 00:30 UTC (14 h 29 min)"),
        (MORNING, None, "2026-05-01 10:00 UTC"),
        (None, NOON, "2026-05-01 12:00 UTC"),
        (NOON, NOON, "2026-05-01 12:00 UTC"),
        (None, None, "no time"),
    ],
)
def test_a_span_tells_what_is_known(begin: datetime | None, end: datetime | None, span: str) -> None:
    assert words.time_span(begin, end, UTC) == span


def test_a_span_in_local_time_is_that_of_the_local_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert words.time_span(NOON, NEXT_DAY) == "2026-05-01 21:00 to 2026-05-02 09:30 (12 h 29 min)"
        assert words.time_span(MORNING, NOON) == "2026-05-01 19:00 to 21:00 (2 h)"
        assert (words.clock(NOON), words.clock(NOON, UTC), words.clock(None)) == ("21:00", "12:00", "")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_is_long_is_cut_to_just_the_length_that_is_allowed() -> None:
    assert cut("12345", 5) == "12345"
    assert cut("123456", 5) == "1234…"


def test_of_a_long_text_the_first_lines_are_told_and_how_many_there_are_besides() -> None:
    assert first_lines("\na\nb\n", 2) == "a\nb"
    assert first_lines("a\nb\nc", 2) == "a\nb\n… 1 more line"
    assert first_lines("a\nb\nc\nd", 2, "--tools") == "a\nb\n… 2 more lines (--tools)"
    assert more_lines(1200) == "… 1,200 more lines"


def test_the_terminal_and_the_page_say_durations_and_sizes_alike() -> None:
    # The tests of the page read the same file.
    alike = json.loads((ROOT / "src/geminids/faces/web/frontend/tests/said-alike.json").read_text("utf-8"))
    durations = [[seconds, words.duration(timedelta(seconds=seconds))] for seconds, _ in alike["duration"]]
    assert durations == alike["duration"]
    assert [[number, words.size(number)] for number, _ in alike["size"]] == alike["size"]
