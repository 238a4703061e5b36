"""Searches that forgive: sentences, other endings, slips, words remembered wrongly; names and tags."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.library import Library
from geminids.query.search.endings import forms
from geminids.query.search.found import Found
from geminids.query.search.mistakes import QuerySyntaxError
from geminids.query.search.question import Question
from geminids.storage.durable.values import MarkChange
from tests.conftest import NOW
from tests.support.claude_lines import line, user, write
from tests.support.homes import write_session
from tests.support.questions import by_words, measured, write_home

UPLOAD = "1a0c9a2b-0000-4000-8000-000000000001"
CACHE = "2b0c9a2b-0000-4000-8000-000000000002"
NOTES = "3c0c9a2b-0000-4000-8000-000000000003"
SESSIONS = {
    UPLOAD: ("shop", "The upload to the bucket times out", "Raised the timeout of the client to a minute."),
    CACHE: ("shop", "Put memcached before the product listing", "Listings are cached for an hour now."),
    NOTES: ("blog", "Count the notes of each notebook", "A query counts them in one go."),
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Three sessions of two projects."""
    for day, (native_id, (slug, prompt, answer)) in enumerate(SESSIONS.items(), start=1):
        write_session(tmp_path / "home", native_id, slug=slug, day=day, prompt=prompt, answer=answer)
    with Library([tmp_path / "home"], tmp_path / "data") as opened:
        yield opened


def found(library: Library, words: str) -> Found:
    """What a search that forgives finds."""
    return library.search(Question(words, forgiving=True, with_names=True), NOW)


def ids(answer: Found) -> list[str]:
    return [hits.session.native_id for hits in answer.sessions]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("where do we count notes", NOTES),
        ("how did I fix the uploads timing out", UPLOAD),
        ("counting notebooks", NOTES),
        ("cached listings of products", CACHE),
        ("memcahced listing", CACHE),
        ("redis product listing", CACHE),
        ("bucket of uplaods", UPLOAD),
        ("cuont notebook", NOTES),
        ("shop bucket", UPLOAD),
    ],
)
def test_what_is_remembered_finds_its_session_first(library: Library, words: str, meant: str) -> None:
    assert not library.search(Question(words), NOW).sessions
    answer = found(library, words)
    assert ids(answer)[0] == meant
    assert answer.sessions[0].hits
    assert all(hit.snippet for hits in answer.sessions for hit in hits.hits)


def test_what_a_session_lacks_is_told(library: Library) -> None:
    answer = found(library, "redis product listing")
    assert (answer.words, answer.respelt) == (3, {})
    assert [hits.missing for hits in answer.sessions] == [("redis",)]


def test_a_word_that_stands_nowhere_is_read_as_the_nearest_and_that_is_told(library: Library) -> None:
    assert found(library, "memcahced").respelt == {"memcahced": ("memcached",)}
    assert ids(found(library, "memcahced")) == [CACHE]
    assert not found(library, "qqqqqq").sessions


@pytest.mark.parametrize(
    ("words", "fillers", "respelt", "meant"),
    [
        ("somthing with memcached teh listings", {"somthing": "something", "teh": "the"}, {}, CACHE),
        ("becuase listings timed out", {"becuase": "because"}, {}, UPLOAD),
        ("somethign counting", {"somethign": "something"}, {}, NOTES),
        ("becuase", {}, {}, None),
        ("lisings", {}, {"lisings": ("listings",)}, CACHE),
        ("bukcets upload", {}, {"bukcets": ("bucket",)}, UPLOAD),
        ("listngs", {}, {"listngs": ("listings",)}, CACHE),
        ("prodct listing", {}, {"prodct": ("product",)}, CACHE),
        ("buckts", {}, {"buckts": ("bucket",)}, UPLOAD),
        ("quartz", {}, {}, None),
    ],
)
def test_a_slip_is_the_nearest_word_be_it_one_that_tells_nothing(
    library: Library,
    words: str,
    fillers: dict[str, str],
    respelt: dict[str, tuple[str, ...]],
    meant: str | None,
) -> None:
    answer = found(library, words)
    assert (answer.fillers, answer.respelt) == (fillers, respelt)
    assert ids(answer)[:1] == ([meant] if meant else [])


def test_a_word_that_is_read_as_another_ends_otherwise_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, UPLOAD, prompt="The upload form rejects it", day=2)
    write_session(home, NOTES, prompt="Does the linter reject it", slug="blog")
    with Library([home], tmp_path / "data") as library:
        answer = found(library, "upload form rejct")
        assert (ids(answer), answer.respelt) == ([UPLOAD], {"rejct": ("reject",)})
        assert answer.sessions[0].missing == ()


def test_sessions_with_more_of_the_words_come_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, UPLOAD, prompt="Migrate and migrate", day=28)
    for number in range(8):
        write_session(home, f"{number:08}-a", answer="It is python", slug="blog", day=1 + number)
        write_session(home, f"{number:08}-b", answer="It is python or rust", slug="blog", day=1 + number)
    with Library([home], tmp_path / "data") as library:
        missing = [hits.missing for hits in found(library, "migrate python to rust").sessions]
        assert missing[:9] == [*[("migrate",)] * 8, ("python", "rust")]


def test_all_words_together_come_first_and_alone(library: Library) -> None:
    for words in ("upload bucket", "product listing", "upload", '"the upload"'):
        assert ids(found(library, words)) == ids(library.search(Question(words), NOW))
        assert not found(library, words).words


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ('"count notes"', []),
        ('"counts the notes" notebook', []),
        ('"the notes" kubernetes', [NOTES]),
        ("uploading bucket -timeout", [UPLOAD]),
        ("uploading bucket -upload", []),
        ("uploading bucket project:blog", []),
        ("memcahced project:blog", []),
        ("bucket OR redis", [UPLOAD]),
        ("buck* redis", [UPLOAD]),
    ],
)
def test_quotes_filters_and_operators_hold_as_they_were_typed(
    library: Library, words: str, meant: list[str]
) -> None:
    assert ids(found(library, words)) == meant


def test_words_that_only_hold_a_sentence_together_do_not_count(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, UPLOAD, prompt="Upload of pictures fails with a timeout", day=2)
    write_session(home, NOTES, prompt="why did the what and where of it fail", slug="blog")
    with Library([home], tmp_path / "data") as library:
        assert ids(found(library, "why did the upload fail")) == [UPLOAD]


def test_whoever_wants_all_that_is_meant_gets_no_guesses(library: Library) -> None:
    assert not library.found_sessions("redis product listing", NOW)


def test_names_tags_and_notes_are_found(library: Library) -> None:
    library.mark(CACHE, MarkChange(name="S3 ACL bug", tags=["urgent"], notes=["Bo had the idea"]))
    for words in (
        "S3 ACL bug",
        "acl",
        "urgent",
        "the idea",
        "tag:urgent",
        "tag:URGENT",
        "name:acl",
        'name:"acl bug"',
    ):
        answer = found(library, words)
        assert ids(answer)[0] == CACHE, words
        assert answer.total.sessions == len(answer.sessions)
    assert found(library, "acl bug").sessions[0].hits[0].where == ("marks",)
    assert ids(found(library, "ACL of the bucket")) == [UPLOAD, CACHE]
    assert not found(library, "acl project:blog").sessions
    assert ids(found(library, "-tag:urgent listing OR notes")) == [NOTES]
    assert found(library, "tag:nope").near == {"tag:nope": ("urgent",)}
    assert library.session("s3 acl BUG").native_id == CACHE


def test_on_every_page_each_session_stands_once_whatever_is_said_of_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    every = [f"{number:08}-0000-4000-8000-000000000000" for number in range(12)]
    for number, native_id in enumerate(every):
        write_session(home, native_id, day=1 + number, prompt="zebra crossing")
    with Library([home], tmp_path / "data") as library:
        for native_id in every[:3]:
            library.mark(native_id, MarkChange(name="zebra of old"))
        for order in ("best", "newest"):
            question = Question("zebra", limit=2, order=order, forgiving=True, with_names=True)
            seen: list[str] = []
            while True:
                page = library.search(question, NOW)
                assert len(page.sessions) <= 2
                assert page.total.sessions <= 12
                seen += ids(page)
                if page.next is None:
                    break
                question = question._replace(after=page.next)
            assert sorted(seen) == every
            assert order == "newest" or sorted(seen[:3]) == every[:3]
        assert sorted(row.native_id for row in library.found_sessions("zebra", NOW)) == every
        first = library.search(Question("zebra", with_names=True), NOW).sessions[0]
        assert [hit.where[0] for hit in first.hits] == ["marks", "human"]
        hidden = Question("zebra before:2026-05-02", with_names=True)
        assert library.search(hidden, NOW).hidden == {"before:2026-05-02": 11}


def test_what_is_kept_out_or_elsewhere_is_not_found_by_a_name_or_a_title(library: Library) -> None:
    library.mark(CACHE, MarkChange(name="giraffe lion"))
    assert ids(found(library, "giraffe")) == [CACHE]
    assert ids(found(library, "giraff*")) == [CACHE]
    assert ids(found(library, "giraffe OR zebra")) == [CACHE]
    for words in (
        "giraffe -lion",
        "giraffe kubernetes -memcached",
        "in:output giraffe",
        "in:thoughts bucket",
    ):
        assert ids(found(library, words)) == [], words
    assert ids(found(library, "-lion project:shop notes")) == []


def test_a_group_with_a_negation_holds(library: Library) -> None:
    for words in ("listing qqqqwww (cherry OR -bucket)", "bucket qqqqwww (upload OR -notes)"):
        for native_id in ids(found(library, words)):
            text = " ".join(SESSIONS[native_id][1:]).lower()
            assert "bucket" not in text or "upload" in text, words


def test_a_page_is_never_longer_than_wanted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, UPLOAD, prompt="alpha beta gamma delta")
    for number in range(10):
        write_session(home, f"{number:08}-a", day=2 + number, slug=f"p{number}", prompt="alpha beta gamma")
    with Library([home], tmp_path / "data") as library:
        library.mark("00000003-a", MarkChange(name="alpha beta gamma delta"))
        for limit in (1, 2, 3, 5):
            question = Question("alpha beta gamma delta", limit=limit, forgiving=True, with_names=True)
            assert len(library.search(question, NOW).sessions) <= limit


@pytest.mark.parametrize("word", ["q" * 6_000, "ab" * 400, "caf\udce9", "x" * 41])
def test_a_long_or_odd_word_is_answered_at_once(library: Library, word: str) -> None:
    assert found(library, word).sessions == []
    assert ids(found(library, f"{word} bucket upload")) == [UPLOAD]


@pytest.mark.parametrize("name", ["tag", "agent", "tool", "model"])
def test_a_filter_without_a_value_is_refused(library: Library, name: str) -> None:
    with pytest.raises(QuerySyntaxError, match="needs a value"):
        found(library, f"alpha {name}:,")


def test_a_title_that_the_agent_made_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    lines = [user("a", None, "Do it again"), line("ai-title", "b", "a", aiTitle="Harvest of quinces")]
    write(home, *lines)
    with Library([home], tmp_path / "data") as library:
        answer = library.search("quinces", NOW)
        (hits,) = answer.sessions
        assert hits.hits[0].where[0] == "title"
        assert hits.hits[0].snippet is not None
        assert hits.hits[0].snippet.text == "Harvest of quinces"


@given(st.sampled_from(["upload", "cache", "try", "note", "migrate", "run", "Rechnung", "deploy"]))
def test_a_word_is_found_by_its_other_endings(word: str) -> None:
    small = word.lower()
    plural = f"{small[:-1]}ies" if small.endswith("y") and small != "deploy" else f"{small}s"
    for other in (
        plural,
        *(f"{small.removesuffix('e')}ing",) * (small != "run"),
        *("running",) * (small == "run"),
    ):
        if len(other) >= 4 and len(small) >= 4:
            assert other in forms(small) or small in forms(other), (small, other)


@pytest.mark.parametrize("word", ["s3", "the", "größe", "naïve", "x1y2", ""])
def test_what_is_no_plain_word_has_no_other_endings(word: str) -> None:
    assert forms(word) == ()


def test_a_short_word_that_means_something_else_is_no_form() -> None:
    assert "not" not in forms("notes")
    assert "note" in forms("notes")
    assert "add" in forms("added")


@pytest.mark.slow
def test_questions_that_others_wrote_are_answered(tmp_path: Path) -> None:
    write_home(tmp_path / "home")
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        successes, _ = measured(library, by_words)
    least = {"natural": 0.9, "misspelt": 0.9, "wrong-word": 0.9, "exact": 1.0}
    for kind, share in least.items():
        asked, first, among_five = successes[kind]
        assert among_five >= share * asked, kind
        assert first >= (1.0 if kind == "exact" else 0.8) * asked, kind


def test_the_document_tells_how_it_fits(library: Library, tmp_path: Path) -> None:
    from geminids.faces.documents.search import search_document

    document = search_document(found(library, "redis product lisitng"))
    assert document.words == 3
    assert document.respelt == {"lisitng": ("listing",)}
    assert {hit.session.missing for hit in document.hits} == {("redis",)}
    assert json.dumps(document.respelt)
