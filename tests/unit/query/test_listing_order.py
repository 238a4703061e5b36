"""The orders of a list."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.core.model import Counts, Project, SessionSummary
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter, listing
from geminids.storage.index.reader import ORDERS
from tests.conftest import Run
from tests.support.homes import write_session
from tests.support.summaries import index_of, project, summary

THERE = [
    summary("a", 1, title="beta", counts=Counts(1, 1, 9, 0, 0), project=project("/x/Zoo", "zoo")),
    summary("b", 3, title="Alpha", counts=Counts(3, 4, 0, 0, 0), project=project("/y/apple", "apple")),
    summary("c", 2, title=None, counts=Counts(2, 0, 0, 0, 0), project=project("C:\\dev\\mango", None)),
    summary(
        "d", 4, title="gamma", started_at=datetime(2026, 1, 1, tzinfo=UTC), project=project(None, "kiwi")
    ),
]


def ordered(there: list[SessionSummary], order: str, *, reverse: bool = False) -> list[str]:
    found = listing(index_of(there), Filter(order=order, reverse=reverse))
    return [session.native_id for session in found.sessions]


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        ("date", "dbca"),
        ("started", "bcad"),
        ("messages", "bdca"),
        ("title", "badc"),
        ("project", "bdca"),
    ],
)
def test_a_list_comes_in_the_order_that_is_asked_for(order: str, ids: str) -> None:
    assert "".join(ordered(THERE, order)) == ids


@pytest.mark.parametrize("order", ORDERS)
@given(some.lists(some.tuples(some.none() | some.integers(1, 28), some.sampled_from(["x", "X", "y", None]))))
def test_the_reverse_is_the_reverse(order: str, drawn: list[tuple[int | None, str | None]]) -> None:
    there = [summary(f"id-{place}", day, title=title) for place, (day, title) in enumerate(drawn)]
    assert ordered(there, order, reverse=True) == ordered(there, order)[::-1]


def test_a_project_without_any_name_has_a_place_too() -> None:
    nowhere = summary("n", 1, project=Project(None, None, None, None))
    root = summary("r", 1, project=project("/", None))
    assert sorted(ordered([nowhere, root, *THERE], "project")) == sorted("nrabcd")


def test_numbers_and_hints_follow_the_order(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path, "aaaa1111-0000", day=1, prompt="Zebra")
    write_session(tmp_path, "bbbb2222-0000", day=2, prompt="apple")
    where = ("--home", tmp_path, "--data", tmp_path / "data")
    outcome = geminids("list", "--sort", "title", "--reverse", "-n", "1", *where)
    assert outcome.out.endswith("\tZebra\n")
    assert "list --limit 2 --sort title --reverse --home" in outcome.err
    assert "Zebra" in geminids("show", "1", *where).out
    assert geminids("list", "--sort", "size", *where).code == 2


def test_the_newest_are_found_without_putting_all_in_order() -> None:
    index = index_of(THERE)
    asked: list[str] = []
    index.connection.set_trace_callback(asked.append)
    listing(index, Filter(kinds=LED_BY_HUMANS), 2)
    index.connection.set_trace_callback(None)
    newest = next(question for question in asked if "LIMIT 2" in question)
    plan = [row[3] for row in index.connection.execute(f"EXPLAIN QUERY PLAN {newest}")]
    assert "sessions_by_time" in plan[0]
    # Only those of the same moment are.
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan
