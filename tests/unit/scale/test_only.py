"""Which rows are wanted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.core.disk import REAL
from geminids.scale.engine import Question, batches
from geminids.scale.homes import pieces
from geminids.scale.only import ANYTHING, Only
from tests.support.homes import write_session

SECOND = "1f0c9a2b-0000-4000-8000-000000000002"
BETWEEN = datetime(2026, 5, 2, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path / "m", day=1, slug="shop", prompt="First")
    write_session(tmp_path / "n", SECOND, day=3, slug="blog", prompt="Second")
    return tmp_path


def _told(home: Path, table: str, only: Only, columns: tuple[str, ...]) -> list[Any]:
    questions = [Question(piece, table, columns, only) for piece in pieces(REAL, str(home), only.files())]
    return [row for question in questions for rows in batches(question) for row in rows.to_pylist()]


@pytest.mark.parametrize(
    ("only", "titles"),
    [
        (ANYTHING, ["First", "Second"]),
        (Only(since=BETWEEN), ["Second"]),
        (Only(until=BETWEEN), ["First"]),
        (Only(since=BETWEEN, until=BETWEEN), []),
        (Only(machines=frozenset({"n"})), ["Second"]),
        (Only(projects=frozenset({"/home/ada/dev/shop"})), ["First"]),
        (Only(agents=frozenset({"gemini"})), ["First", "Second"]),
        (Only(agents=frozenset({"codex"})), []),
        (Only(agents=frozenset()), []),
    ],
)
def test_only_what_is_wanted_is_told(home: Path, only: Only, titles: list[str]) -> None:
    assert [row["title"] for row in _told(home, "sessions", only, ("title",))] == titles


def test_a_session_that_began_before_and_went_on_is_among_both(home: Path) -> None:
    during = datetime(2026, 5, 1, 10, 3, tzinfo=UTC)
    assert len(_told(home, "sessions", Only(since=during, until=during), ("id",))) == 1
    after = _told(home, "messages", Only(since=during, until=BETWEEN), ("text",))
    assert [row["text"] for row in after] == ["Done."]


def test_columns_that_tell_which_rows_are_wanted_need_not_be_asked_for(home: Path) -> None:
    (row,) = _told(home, "requests", Only(since=BETWEEN), ("total",))
    assert row == {"total": 12}


def test_what_has_no_time_is_told_for_any_time(tmp_path: Path) -> None:
    path = write_session(tmp_path / "m")
    path.write_text(path.read_text().replace('"timestamp"', '"timestamp-of-old"'))
    future = Only(since=datetime.now(UTC) - timedelta(minutes=5))
    assert {row["at"] for row in _told(tmp_path, "messages", future, ("at",))} == {None}


def test_files_that_were_not_written_since_are_not_planned(home: Path) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    assert list(pieces(REAL, str(home), Only(since=tomorrow).files())) == []
    # Clocks differ: of the last day before, all is looked at.
    for since in (datetime.now(UTC), datetime.min.replace(tzinfo=UTC)):
        assert len(list(pieces(REAL, str(home), Only(since=since).files()))) == 2


def test_what_two_want_is_what_both_want() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    one = Only(agents=frozenset({"a", "b"}), since=early, until=late)
    other = Only(agents=frozenset({"b", "c"}), machines=frozenset({"m"}), since=late)
    both = Only(frozenset({"b"}), frozenset({"m"}), None, late, late)
    assert one.narrowed(other) == other.narrowed(one) == both
    assert one.narrowed(ANYTHING) == one
