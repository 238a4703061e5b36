"""Which of several sessions with all the words comes first: what most people would take for the meant one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.query.search.found import Found
from geminids.query.search.question import Question
from geminids.storage.durable.values import MarkChange
from tests.conftest import NOW
from tests.support.claude_lines import line, reply, user, words, write
from tests.support.homes import tool_call, write_session

MEANT = "1a0c9a2b-0000-4000-8000-000000000001"
OTHER = "2b0c9a2b-0000-4000-8000-000000000002"
APART = "some more of what was said about it in between " * 5
"""Words between two that have nothing to do with each other."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Sessions about something else: words that stand in every second message would count for nothing."""
    for number in range(12):
        write_session(
            tmp_path / "home",
            f"9{number:07}-0000-4000-8000-000000000000",
            slug="shop",
            day=1 + number,
            prompt=f"Add number {number} to the invoice",
            answer=f"Added, and tested: {APART}",
        )
    return tmp_path / "home"


@pytest.fixture
def search(home: Path, tmp_path: Path) -> Iterator[Callable[..., Found]]:
    """Asks a library that is opened when the home is as it should be."""
    libraries: list[Library] = []

    def ask(typed: str, **more: object) -> Found:
        if not libraries:
            libraries.append(Library([home], tmp_path / "data"))
        return libraries[0].search(Question(typed, **more), NOW)  # type: ignore[arg-type]

    yield ask
    for library in libraries:
        library.close()


def ids(found: Found) -> list[str]:
    return [hits.session.native_id for hits in found.sessions]


def output(text: str) -> dict[str, object]:
    """A finished call that answered with a text."""
    response = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": text}}}
    return tool_call(id="c", result=[response])


def test_both_words_in_one_prompt_come_before_both_scattered_over_a_long_output(
    home: Path, search: Callable[..., Found]
) -> None:
    prompt = f"{APART * 2} the cors preflight fails {APART * 2}"
    write_session(home, MEANT, day=1, prompt=prompt)
    scattered = f"cors cors cors {APART[:100]} preflight preflight preflight"
    write_session(home, OTHER, day=20, prompt="Run it", calls=[output(scattered)] * 3)
    assert ids(search("cors preflight")) == [MEANT, OTHER]


def test_words_close_together_come_before_words_that_stand_more_often_but_apart(
    home: Path, search: Callable[..., Found]
) -> None:
    write_session(home, MEANT, day=1, prompt="What is it", answer=f"{APART} a stale redis cache {APART}")
    often = f"cache stale stale stale {APART} redis redis redis {APART} cache cache"
    write_session(home, OTHER, day=20, prompt="What is it", answer=often)
    assert ids(search("stale redis cache")) == [MEANT, OTHER]
    assert ids(search("stale redis cache in:model")) == [MEANT, OTHER]


def test_a_title_that_an_agent_made_comes_before_an_answer_that_has_the_words(
    home: Path, search: Callable[..., Found]
) -> None:
    title = line("ai-title", "b", "a", aiTitle="Harvest of quinces")
    write(home, user("a", None, "Do it again"), title, name="titled.jsonl")
    answer = f"After {APART} the quinces come in the harvest of quinces {APART}"
    write_session(home, OTHER, day=20, prompt="Tell me more", answer=answer)
    first, second = search("harvest quinces").sessions
    assert (first.session.title, second.session.native_id) == ("Harvest of quinces", OTHER)


def test_a_title_is_on_the_first_page_however_many_sessions_say_the_words(
    home: Path, search: Callable[..., Found]
) -> None:
    title = line("ai-title", "b", "a", aiTitle="Harvest of quinces")
    write(home, user("a", None, "Do it again"), title, name="titled.jsonl")
    for number in range(150):
        write_session(home, f"{number:08}-a", answer=f"quinces {APART} harvest", slug=f"p{number % 3}")
    titles = [hits.session.title for hits in search("harvest quinces").sessions]
    assert titles[0] == "Harvest of quinces"


@pytest.mark.parametrize("days", [(1, 2), (1, 28)])
def test_of_two_that_are_equal_the_newer_comes_first(
    home: Path, search: Callable[..., Found], days: tuple[int, int]
) -> None:
    older, newer = days
    write_session(home, MEANT, day=newer, prompt="the parser loops for ever")
    write_session(home, OTHER, day=older, prompt="the parser loops for ever")
    assert ids(search("parser loops")) == [MEANT, OTHER]
    assert ids(search('"parser loops"')) == [MEANT, OTHER]


def test_a_prompt_comes_before_an_answer_and_an_answer_before_an_output(
    home: Path, search: Callable[..., Found]
) -> None:
    third = "3c0c9a2b-0000-4000-8000-000000000003"
    said = "the webhook retries twice"
    write_session(home, MEANT, day=1, prompt=said)
    write_session(home, OTHER, day=10, prompt="Why", answer=said)
    write_session(home, third, day=20, prompt="Why", calls=[output(said)])
    assert ids(search("webhook retries")) == [MEANT, OTHER, third]


@pytest.mark.parametrize(
    ("typed", "whole", "in_two"),
    [("TODO", "a todo in the parser", "what to do in the parser"), ("setup", "its setup", "set up by hand")],
)
def test_a_whole_word_comes_before_the_same_letters_in_two_words(
    home: Path, search: Callable[..., Found], typed: str, whole: str, in_two: str
) -> None:
    for number in range(5):
        write_session(home, f"1{number:07}-a", day=1 + number, prompt="Which one", answer=whole)
    write_session(home, OTHER, day=20, prompt=in_two)
    found = ids(search(typed))
    assert (len(found), found[-1]) == (6, OTHER)
    assert ids(search(f"{typed} OR invoice -number"))[-1] == OTHER


def test_a_name_with_a_capital_inside_counts_in_either_spelling(
    home: Path, search: Callable[..., Found]
) -> None:
    write_session(home, OTHER, day=20, prompt="Which one", answer="a workflow of GitHub")
    write_session(home, MEANT, day=20, prompt="push the workflow to github")
    assert ids(search("GitHub")) == [MEANT, OTHER]


def test_pages_hold_each_session_once_whatever_brought_it_to_the_front(
    home: Path, search: Callable[..., Found]
) -> None:
    write(
        home, user("a", None, "Do it"), line("ai-title", "b", "a", aiTitle="quinces harvest"), name="t.jsonl"
    )
    for number in range(130):
        apart = f"quinces {APART if number % 2 else ''} harvest"
        slug = "quinces" if number % 5 == 0 else "p"
        prompt = "the harvest" if number % 5 == 0 else apart
        write_session(home, f"{number:08}-a", day=1 + number % 28, slug=slug, prompt=prompt)
    whole = ids(search("quinces harvest", limit=1_000, with_names=True))
    assert len(whole) == len(set(whole)) == 131
    for limit in (7, 40, 64):
        assert paged(search, "quinces harvest", limit) == whole


def paged(search: Callable[..., Found], typed: str, limit: int) -> list[str]:
    """All sessions of a search, page by page."""
    seen: list[str] = []
    after = None
    while True:
        page = search(typed, limit=limit, after=after, with_names=True)
        seen += ids(page)
        if (after := page.next) is None:
            return seen


def wheres(found: Found) -> list[Sequence[str]]:
    return [hits.hits[0].where for hits in found.sessions]


def test_the_name_of_a_project_counts_as_if_its_sessions_said_it(
    home: Path, search: Callable[..., Found]
) -> None:
    write_session(home, MEANT, day=1, slug="skycast", prompt="Design retries for a slow answer")
    write_session(home, OTHER, day=9, slug="elsewhere", prompt="Look", answer=f"skycast {APART} retries")
    assert ids(search("skycast retries")) == [OTHER]
    found = search("skycast retries", with_names=True)
    assert ids(found) == [MEANT, OTHER]
    first, second = found.sessions
    by_name, by_words = first.hits
    assert (by_name.where, by_words.where) == (("project",), ("human",))
    assert by_name.snippet is not None
    assert (by_name.snippet.text, by_name.snippet.spans) == ("skycast", ((0, 7),))
    assert [hit.where[0] for hit in second.hits] == ["model"]
    assert found.total.matches == 2
    assert ids(search("retries SkyCast -slow", with_names=True)) == [OTHER]
    assert ids(search('"skycast" "retries for"', with_names=True)) == [MEANT]


def test_what_is_only_called_so_stands_behind_what_says_it(home: Path, search: Callable[..., Found]) -> None:
    write_session(home, MEANT, day=1, slug="skycast", prompt="Why does skycast fail")
    write_session(home, OTHER, day=9, slug="skycast", prompt="Add a test")
    found = search("skycast", with_names=True)
    assert ids(found) == [MEANT, OTHER]
    assert wheres(found) == [("human",), ("project",)]
    assert (found.total.matches, found.total.sessions) == (1, 2)
    assert ids(search("skycast", with_names=True, order="newest")) == [OTHER, MEANT]
    assert ids(search("skycast role:assistant", with_names=True)) == [OTHER, MEANT]
    assert ids(search("skycast since:2026-05-05", with_names=True)) == [OTHER]


@pytest.mark.parametrize(
    "typed", ["in:human skycast", "-skycast", "skycast -test", "skycast project:shop", "*skycas*"]
)
def test_where_words_must_stand_elsewhere_a_name_does_not_count(
    home: Path, search: Callable[..., Found], typed: str
) -> None:
    write_session(home, MEANT, slug="skycast", prompt="Add a test")
    more = "" if typed != "-skycast" else " project:skycast invoice"
    assert ids(search(typed + more, with_names=True)) == []


def test_who_chooses_sessions_by_a_search_gets_those_that_say_it(home: Path, tmp_path: Path) -> None:
    write_session(home, MEANT, slug="skycast", prompt="Add a test")
    with Library([home], tmp_path / "data") as library:
        assert library.found_sessions("skycast", NOW) == []


def test_what_the_user_called_a_session_comes_before_the_name_of_its_project(
    home: Path, tmp_path: Path
) -> None:
    write_session(home, MEANT, day=1, slug="skycast", prompt="Add a test")
    write_session(home, OTHER, day=9, slug="skycast", prompt="Add another")
    with Library([home], tmp_path / "data") as library:
        library.mark(MEANT, MarkChange(name="skycast of old"))
        found = library.search(Question("skycast", with_names=True), NOW)
        assert (ids(found), wheres(found)) == ([MEANT, OTHER], [("marks",), ("project",)])


def test_a_title_of_the_agent_is_found_beside_the_one_that_the_user_gave(
    home: Path, search: Callable[..., Found]
) -> None:
    titles = [
        line("ai-title", "b", "a", aiTitle="Harvest of quinces"),
        line("custom-title", "c", "b", customTitle="Work for Bo"),
    ]
    write(home, user("a", None, "Do it again"), *titles, reply("d", "a", words("Done."), reply_id="r"))
    for typed in ("quinces", "work bo"):
        (hits,) = search(typed).sessions
        assert hits.session.title == "Work for Bo"
        assert hits.hits[0].where[0] == "title"


def test_a_title_stays_in_front_where_the_name_of_a_project_brings_more(
    home: Path, search: Callable[..., Found]
) -> None:
    for number in range(150):
        answer = f"payments {APART} ledger"
        write_session(home, f"3{number:07}-0000-4000-8000-000000000000", slug="shop", answer=answer)
    title = line("ai-title", "b", "a", aiTitle="Ledger payments")
    write(home, user("a", None, "Do it again"), title, name="titled.jsonl")
    write_session(home, OTHER, slug="ledger", prompt="How are payments rounded?")
    asked = {"limit": 5, "with_names": True}
    assert search("ledger payments", **asked).sessions[0].session.title == "Ledger payments"
