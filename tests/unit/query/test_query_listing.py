"""Which sessions a list shows."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.core.model import Project, SessionKind, SessionSummary
from geminids.query.projects.lookup import match
from geminids.query.sessions.listing import Filter, Listing
from geminids.query.sessions.listing import listing as list_index
from tests.support.summaries import index_of, project, summary


def listing(there: list[SessionSummary], wanted: Filter) -> Listing:
    return list_index(index_of(there), wanted)


def is_meant(known: Project, wanted: str) -> bool:
    return match([known], wanted) == (known,)


def test_the_newest_session_comes_first_and_one_without_a_time_last() -> None:
    shown = listing([summary("a", 1), summary("b", None), summary("c", 3)], Filter()).sessions
    assert [session.native_id for session in shown] == ["c", "a", "b"]


@pytest.mark.parametrize(
    "wanted", ["shop", "SHO", "/home/ada/dev/shop", "/home/ada/dev", str(project().hash)[:6]]
)
def test_a_project_is_found_by_name_path_slug_and_hash(wanted: str) -> None:
    assert is_meant(project(), wanted)


@pytest.mark.parametrize("wanted", ["shopping", "/home/ada/dev/sho", "abc", "/home/ada/dev/shop/sub", "ada"])
def test_another_project_is_not(wanted: str) -> None:
    assert not is_meant(project(), wanted)


def test_a_dot_is_the_folder_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    only_hash = Project(None, hashlib.sha256(str(tmp_path).encode()).hexdigest(), None, None)
    assert is_meant(only_hash, ".")
    assert is_meant(project(str(tmp_path)), ".")
    assert not is_meant(project(), ".")


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (project("/home/ada/dev/shop"), "shop"),
        (project("C:\\Users\\ada\\shop\\"), "shop"),
        (project(None, "shop-1"), "shop-1"),
        (Project(None, "0123456789abcdef", None, None), "01234567"),
        (Project(None, None, None, None), "unknown"),
        (project("/"), "/"),
    ],
)
def test_a_project_has_a_name_for_people(known: Project, name: str) -> None:
    assert known.name == name


def test_what_a_filter_hides_is_counted_by_the_filter() -> None:
    there = [
        summary("a", 1),
        summary("b", 20),
        summary("c", 10, kind=SessionKind.SUBAGENT),
        summary("d", 10, project=project("/other", "other")),
        summary("e", None),
    ]
    wanted = Filter(
        kinds=frozenset({SessionKind.MAIN}),
        project="shop",
        since=datetime(2026, 5, 5, tzinfo=UTC),
        until=datetime(2026, 5, 15, tzinfo=UTC),
    )
    assert listing(there, wanted).hidden == {"since": 2, "until": 1, "kind": 1, "project": 1}


def test_a_session_is_active_from_its_beginning_to_its_end() -> None:
    half_past_ten = datetime(2026, 5, 1, 10, 30, tzinfo=UTC)
    assert listing([summary(day=1)], Filter(since=half_past_ten)).sessions
    assert listing([summary(day=1)], Filter(until=half_past_ten)).sessions


@given(some.lists(some.none() | some.integers(1, 28), max_size=20), some.integers(1, 28))
def test_every_session_is_shown_or_counted_as_hidden(days: list[int | None], since: int) -> None:
    there = [summary(f"id-{number}", day) for number, day in enumerate(days)]
    found = listing(there, Filter(since=datetime(2026, 5, since, tzinfo=UTC)))
    assert len(found.sessions) + sum(found.hidden.values()) == len(there)


def test_a_project_that_is_not_there_gives_the_nearest() -> None:
    found = listing([summary(), summary("b", project=project("/x/blog", "blog"))], Filter(project="shpo"))
    assert found.nearest_projects("shpo") == ["shop"]
    assert found.nearest_projects("zzz") == ["blog", "shop"]
