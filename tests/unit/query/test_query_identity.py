"""Which session is meant."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.core.errors import AmbiguousIdError, Candidate, ShortIdError
from geminids.core.model import SessionFile
from geminids.query.sessions import ids
from tests.support.summaries import summary

KNOWN = [
    summary("1f0c9a2b-1111", 1, title="Fix the login redirect"),
    summary("1f0c9a2b-2222", 2, title="购物车"),
    summary("77aa0000-3333", 3, title=None),
    summary("my-session", 4),
    summary("my-session-2", 5),
]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("gemini:77aa0000-3333", "77aa0000-3333"),
        ("77aa0000-3333", "77aa0000-3333"),
        ("77a", "77aa0000-3333"),
        ("77AA", "77aa0000-3333"),
        ("gemini:77a", "77aa0000-3333"),
        ("my-session", "my-session"),
        ("my-session-", "my-session-2"),
    ],
)
def test_an_id_or_a_unique_beginning_means_one_session(wanted: str, meant: str) -> None:
    picked = ids.pick(KNOWN, wanted)
    assert picked is not None
    assert picked.native_id == meant


def test_several_candidates_are_told_with_time_project_and_title() -> None:
    with pytest.raises(AmbiguousIdError) as error:
        ids.pick(KNOWN, "1f0c")
    assert error.value.candidates == [
        Candidate("gemini:1f0c9a2b-2222", datetime(2026, 5, 2, 11, tzinfo=UTC), "shop", "购物车"),
        Candidate(
            "gemini:1f0c9a2b-1111", datetime(2026, 5, 1, 11, tzinfo=UTC), "shop", "Fix the login redirect"
        ),
    ]


def test_two_sessions_of_one_id_are_told_by_their_files() -> None:
    twin = summary("77aa0000-3333", files=(SessionFile("/backup/b.jsonl", "jsonl", 1),))
    for wanted in ("77aa0000-3333", "77aa"):
        with pytest.raises(AmbiguousIdError, match="give the file") as error:
            ids.pick([*KNOWN, twin], wanted)
        assert "/backup/b.jsonl" in {candidate.place for candidate in error.value.candidates}


def test_two_letters_are_too_few() -> None:
    with pytest.raises(ShortIdError, match="at least 3"):
        ids.pick(KNOWN, "77")


def test_an_unknown_id_gives_the_nearest() -> None:
    assert [candidate.id for candidate in ids.nearest(KNOWN, "77ab0000-3333")] == ["gemini:77aa0000-3333"]
    assert [candidate.title for candidate in ids.nearest(KNOWN, "login")] == ["Fix the login redirect"]
    assert ids.nearest(KNOWN, "zzzzzzzzzz") == []


@given(some.sampled_from(KNOWN), some.integers(3, 20))
def test_a_beginning_never_means_a_session_that_does_not_begin_so(known: object, length: int) -> None:
    wanted = getattr(known, "native_id")[:length]  # noqa: B009
    try:
        picked = ids.pick(KNOWN, wanted)
    except AmbiguousIdError:
        return
    assert picked is not None
    assert picked.native_id.startswith(wanted)


def test_short_ids_tell_sessions_apart() -> None:
    names = ["11111111-22", "11111111-23", "aaaaaaaa-1", "aaaaaaaa-1#child", "checkpoint-a b@shop", "x"]
    assert ids.short_ids(names) == {
        "11111111-22": "11111111-22",
        "11111111-23": "11111111-23",
        "aaaaaaaa-1": "aaaaaaaa",
        "aaaaaaaa-1#child": "aaaaaaaa-1#child",
        "checkpoint-a b@shop": "checkpoint-a b@shop",
        "x": "x",
    }


def test_the_beginning_of_an_id_means_the_session_before_those_made_of_it() -> None:
    parent, child = summary("aaaaaaaa-1"), summary("aaaaaaaa-1#child")
    assert ids.pick([child, parent], "aaaaaaaa") == parent
    assert ids.pick([child, parent], "aaaaaaaa-1#c") == child
