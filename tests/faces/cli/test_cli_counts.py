"""What is counted is said in the same words everywhere, and the numbers fit together."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.sharing.transcript import words
from tests.conftest import FIXTURES, Run
from tests.support.documents import check_printed
from tests.support.terminal import on_terminal

HOMES = [
    FIXTURES / "gemini" / "saved-chats" / "home",
    FIXTURES / "gemini" / "chat-resume" / "home",
    FIXTURES / "gemini" / "lost-session" / "home",
    FIXTURES / "gemini" / "subagents-nested-jsonl" / "home",
    FIXTURES / "claude" / "subagent" / "home",
    FIXTURES / "claude" / "plain" / "home",
]
NOUNS = {noun: kind for kind, nouns in words.KIND_NOUNS.items() for noun in nouns}
TOLD = re.compile(rf"(\d[\d,]*) ({'|'.join(sorted(NOUNS, key=len, reverse=True))})\b")


def counted(text: str) -> Counter[str]:
    """The numbers in a sentence, by kind."""
    return Counter({NOUNS[noun]: int(number.replace(",", "")) for number, noun in TOLD.findall(text)})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def options(data: Path) -> list[str]:
    return [*(word for home in HOMES for word in ("--home", str(home))), "--data", str(data)]


@pytest.fixture
def every(options: list[str], data: Path) -> Counter[str]:
    """How many sessions of each kind there are."""
    with Library(HOMES, data) as library:
        kinds = Counter(str(summary.kind) for summary in library.sessions())
    assert set(kinds) == {"main", "checkpoint", "subagent", "lost"}
    return kinds


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({}, "0 sessions"),
        ({"main": 1}, "1 session"),
        ({"main": 1495, "subagent": 85, "checkpoint": 19}, "1,495 sessions, 19 checkpoints, 85 subagents"),
        ({"lost": 1, "copy": 2}, "1 lost session, 2 copies"),
        ({"main": 0, "subagent": 1}, "1 subagent"),
    ],
)
def test_sessions_are_counted_in_the_same_words_and_order(kinds: dict[str, int], told: str) -> None:
    assert words.sessions(kinds) == told


def test_the_overview_counts_each_agent_and_all_together(
    geminids: Run, options: list[str], every: Counter[str]
) -> None:
    lines = geminids(*options).out.splitlines()
    by_agent = [line for line in lines if " projects, " in line or " project, " in line]
    assert len(by_agent) == 2
    assert sum(map(counted, by_agent), Counter[str]()) == every
    (together,) = [line for line in lines if " in " in line and TOLD.match(line)]
    assert counted(together) == every


def test_a_list_counts_what_it_shows_and_what_it_does_not(
    geminids: Run, options: list[str], every: Counter[str]
) -> None:
    said = geminids("list", "-n", "1", *options).err
    shown = re.search(r"Showing 1 of (.*?);", said)
    others = re.search(r"Not listed: (.*?);", said)
    assert shown
    assert others
    assert counted(shown[1]) + counted(others[1]) == every
    assert counted(others[1]) == Counter(subagent=every["subagent"])
    listed = geminids("list", *options).out.splitlines()
    assert len(listed) == counted(shown[1]).total()
    only = geminids("list", "--kind", "checkpoint", "--json", *options)
    assert len(json.loads(only.out)["sessions"]) == every["checkpoint"]
    assert counted(only.err.split("Not listed: ")[1]) == every - Counter(checkpoint=every["checkpoint"])


def test_a_list_of_a_project_counts_within_it(geminids: Run, options: list[str]) -> None:
    said = geminids("list", "-n", "1", "--project", "alpha", *options).err
    all_kinds = geminids("list", "--kind", "all", "--project", "alpha", *options).out.splitlines()
    within = ", ".join(re.findall(r"(?:Showing 1 of|Not listed:) (.*?);", said))
    assert counted(within).total() == len(all_kinds)


def test_a_search_says_among_what_it_searched(geminids: Run, options: list[str], every: Counter[str]) -> None:
    assert counted(geminids("search", "zeppelinitis", *options).err.split(".\n")[0]) == every
    seen = " ".join(on_terminal("search", "the", *options, columns=2_000).split())
    searched = re.search(r"searched: (.*?)[;.]", seen)
    assert searched
    assert counted(searched[1]) == every
    printed = geminids("search", "the", "--json", *options).out
    document = check_printed(printed, "geminids/search/1")
    assert Counter(document["searched"]["kinds"]) == every
    assert document["searched"]["sessions"] == every.total()


def test_figures_name_those_that_have_nothing_to_count(
    geminids: Run, options: list[str], every: Counter[str]
) -> None:
    shown = geminids("stats", *options).out
    heading = shown.splitlines()[1].partition(" · ")[0]
    note = next(line for line in shown.splitlines() if line.startswith("Not counted: "))
    assert counted(heading) + counted(note) == every
    document = check_printed(geminids("stats", "--json", *options).out, "geminids/stats/2")
    assert Counter(document["kinds"]) == counted(heading)
    assert Counter(document["uncounted"]) == counted(note)
    led = Counter(document["kinds"]) - Counter(subagent=every["subagent"])
    assert document["total"]["sessions"] == led.total()
    assert document["total"]["subagents"] == document["kinds"]["subagent"]


def test_figures_of_a_time_name_only_what_is_in_it(geminids: Run, options: list[str]) -> None:
    document = json.loads(geminids("stats", "--since", "2026-11-15", "--json", *options).out)
    assert document["uncounted"] == {}
    assert sum(document["kinds"].values()) == document["total"]["sessions"] + document["total"]["subagents"]


def test_the_index_is_counted_in_the_same_words(
    geminids: Run, options: list[str], every: Counter[str]
) -> None:
    figures = geminids("sync", "--stats", *options).out
    assert counted(next(line for line in figures.splitlines() if line.startswith("sessions"))) == every
