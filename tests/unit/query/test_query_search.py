"""Search finds what a scan of all texts finds, whatever is asked and however it is asked."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.core import agents
from geminids.core.agents.base import Reading, Scan
from geminids.core.agents.source import Source
from geminids.core.agents.traces import trace
from geminids.core.model import Message, Session
from geminids.library import Library
from geminids.query.search.cursors import BadCursorError
from geminids.query.search.engine import search
from geminids.query.search.found import Found
from geminids.query.search.language import Query, parse
from geminids.query.search.question import Question
from geminids.reading.bundles import shelves
from geminids.storage.codec.rows import own_titles
from geminids.storage.codec.texts import words
from geminids.storage.index.database import in_memory
from geminids.storage.index.schema import COLUMNS
from tests.conftest import FIXTURES, NOW, ROOT
from tests.support.connections import to_be_closed
from tests.support.examples import examples
from tests.support.homes import write_session
from tests.support.reading import scans

HOMES = sorted(FIXTURES.glob("gemini/*/home"))
SAMPLE = ROOT / "src" / "geminids" / "sample" / "home"
ALL = (SAMPLE, *HOMES)
FEW = (SAMPLE, *(home for home in HOMES if home.parent.name in {"rewind-jsonl-1", "mcp", "hooks", "plan"}))
"""Searches that read texts look for sessions home by home, and nobody has eighty."""
EVERYTHING = 10_000
_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*")
_CJK = re.compile("[\u3041-\u30ff\u4e00-\u9fff]{2,}")

Place = tuple[str, str | None, int]
"""A session, its file, and the place of a message in it."""
Fits = Callable[["Text"], bool]


class Text(NamedTuple):
    """A message as a scan sees it."""

    session: Session
    place: int
    message: Message
    columns: Mapping[str, str]
    """Its words, and those of the title that the first one stands for."""
    own: Mapping[str, str]
    """Its words alone: titles are not looked through for substrings."""


def opened(homes: Sequence[Path], data: Path) -> Iterator[Library]:
    """Cases in one index, with every word of them."""
    environment = {"GEMINIDS_EVERY_WORD": "1", "HOME": str(data)}
    with Library(homes, data, environment=environment) as library:
        library.sync()
        yield library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    yield from opened(ALL, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    yield from opened(FEW, tmp_path_factory.mktemp("few"))


@cache
def texts(homes: tuple[Path, ...] = ALL) -> tuple[Text, ...]:
    """Every message of some cases, read by the readers alone."""
    source = agents.load("gemini")
    every = [scan for home in homes for scan in scans(source, home)]
    return tuple(
        Text(session, place, message, _columns(session, place, message), _columns(session, 1, message))
        for reading in readings_of(source, every)
        for session in reading.sessions
        for place, message in enumerate(session.messages)
    )


def readings_of(source: Source, every: Sequence[Scan]) -> Iterator[Reading]:
    """What all homes hold together: some cases are different ends of the same session."""
    for shelf in shelves(every):
        read = [source.read(bundle) for bundle in shelf.bundles]
        yield from read
        traces = [trace(session) for reading in read for session in reading.sessions]
        yield source.companions().read_beside(shelf.companions, traces, None)


def found_by(library: Library, typed: str, **more: object) -> set[Place]:
    question = Question(typed, limit=EVERYTHING, per_session=None, **more)  # type: ignore[arg-type]
    return places(library.search(question, NOW))


def places(found: Found) -> set[Place]:
    if found.is_spread:
        return set()
    return {
        (group.session.id, group.session.file, hit.message.place)
        for group in found.sessions
        for hit in group.hits
    }


def scanned(query: Query, fits: Fits, homes: tuple[Path, ...]) -> set[Place]:
    return {
        (text.session.id, text.session.file, text.place)
        for text in texts(homes)
        if any(text.columns.values())
        and fits(text)
        and query.matches(text.own if query.must_verify else text.columns)
    }


@cache
def vocabulary() -> tuple[str, ...]:
    """Words of the texts as they stand there, odd ones and frequent ones."""
    every = {word for text in texts() for column in text.columns.values() for word in _WORD.findall(column)}
    return tuple(sorted(word for word in every if len(word) < 40))


@cache
def sentences() -> tuple[str, ...]:
    every = {line for text in texts() for column in text.columns.values() for line in column.split("\n")}
    return tuple(sorted(line for line in every if 3 < len(line) < 200))


def _columns(session: Session, place: int, message: Message) -> dict[str, str]:
    """The words of a message by column; the first one has those of a title that nobody typed."""
    title = "" if place else own_titles(session, session.messages)
    return dict(zip(COLUMNS, words(message, title, everything=True), strict=True))


def any_words(least: int = 1, most: int = 3) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(vocabulary()), min_size=least, max_size=most)


def anything(_: Text) -> bool:
    return True


def check(library: Library, typed: str, fits: Fits = anything, homes: tuple[Path, ...] = ALL) -> int:
    """The index and a scan must agree; how much both have found."""
    expected = scanned(parse(typed, NOW), fits, homes)
    assert found_by(library, typed) == expected, typed
    return len(expected)


RANDOM = settings(max_examples=examples(25), deadline=None)


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
def test_words(library: Library, asked: st.DataObject) -> None:
    check(library, " ".join(f'"{word}"' for word in asked.draw(any_words())))


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
def test_words_without_quotes(library: Library, asked: st.DataObject) -> None:
    plain = [word for word in asked.draw(any_words()) if word.isalnum() and not word.isupper()]
    if plain:
        check(library, " ".join(plain))


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
def test_phrases(library: Library, asked: st.DataObject) -> None:
    line = asked.draw(st.sampled_from(sentences())).replace('"', " ")
    spoken = line.split()
    start = asked.draw(st.integers(0, max(len(spoken) - 1, 0)))
    phrase = " ".join(spoken[start : start + 3])
    if any(character.isalnum() for character in phrase):
        check(library, f'"{phrase}"')


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
def test_beginnings_of_words(library: Library, asked: st.DataObject) -> None:
    word = asked.draw(st.sampled_from(vocabulary()))
    check(library, f"{re.split('[._/-]', word)[0][:4]}*")


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
def test_either_and_without(library: Library, asked: st.DataObject) -> None:
    one, two, three = (f'"{word}"' for word in asked.draw(any_words(3, 3)))
    check(library, f"{one} OR {two}")
    check(library, f"{one} -{two}")
    check(library, f"({one} OR {two}) -{three}")


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
def test_substrings_and_regular_expressions(library: Library, asked: st.DataObject) -> None:
    line = asked.draw(st.sampled_from([line for line in sentences() if '"' not in line]))
    start = asked.draw(st.integers(0, len(line) - 3))
    piece = line[start : start + asked.draw(st.integers(3, 12))].strip()
    if piece and any(character.isalnum() for character in piece):
        assert check(library, f'*"{piece}"*')
        assert check(library, "/" + re.escape(piece[:3]).replace("/", r"\/") + "[a-z]?/")


@pytest.mark.slow
@RANDOM
@given(asked=st.data())
@pytest.mark.parametrize("length", [1, 2, 4])
def test_chinese_and_japanese_of_any_length(library: Library, length: int, asked: st.DataObject) -> None:
    runs = sorted({run for line in sentences() for run in _CJK.findall(line) if len(run) >= length})
    run = asked.draw(st.sampled_from(runs))
    start = asked.draw(st.integers(0, len(run) - length))
    assert check(library, run[start : start + length]), "what was taken from a text is in it"


FILTERS: dict[str, Callable[[Text], bool]] = {
    "role:user": lambda text: text.message.role == "user",
    "-role:user": lambda text: text.message.role != "user",
    "role:user,system": lambda text: text.message.role in {"user", "system"},
    "agent:gemini": lambda _: True,
    "status:success": lambda text: text.session.status == "success",
    "is:rewound": lambda text: text.message.state == "rewound",
    "is:unrecorded": lambda text: text.message.state == "unrecorded",
    "is:dropped": lambda text: text.message.state not in ("current", "unrecorded"),
    "is:subagent": lambda text: text.session.kind == "subagent",
    "-is:main": lambda text: text.session.kind != "main",
    "is:error": lambda text: any(call.status == "error" for call in text.message.tool_calls),
    "tool:shell": lambda text: any("shell" in call.name for call in text.message.tool_calls),
    "model:flash": lambda text: "flash" in (text.message.model or ""),
    "-model:flash": lambda text: "flash" not in (text.message.model or ""),
    "hour:10": lambda text: text.message.at is not None and text.message.at.hour == 10,
    "-hour:10": lambda text: text.message.at is None or text.message.at.hour != 10,
    "hour:sun": lambda text: text.message.at is not None and text.message.at.weekday() == 6,
    'model:"=gemini-3.8-flash"': lambda text: text.message.model == "gemini-3.8-flash",
    'tool:"=read_file"': lambda text: any(call.name == "read_file" for call in text.message.tool_calls),
    "in:human": lambda _: True,
    "in:output,paths": lambda _: True,
}


@pytest.mark.slow
@pytest.mark.parametrize("typed", FILTERS)
def test_filters(library: Library, typed: str) -> None:
    drawn = random.Random(typed)
    for word in [*drawn.sample(vocabulary(), 5), "the", "a", "file"]:
        check(library, f'"{word}" {typed}', FILTERS[typed])


@pytest.mark.parametrize("typed", ["is:rewound", "tool:shell", "is:error", "status:failure role:assistant"])
def test_filters_alone_find_messages_by_time(library: Library, typed: str) -> None:
    found = library.search(Question(typed, limit=EVERYTHING), NOW)
    last = [group.session.last_at for group in found.sessions if group.session.last_at]
    assert last
    assert last == sorted(last, reverse=True)
    assert all(hit.snippet is None or not hit.snippet.spans for g in found.sessions for hit in g.hits)


def test_since_and_before_divide_what_there_is(library: Library) -> None:
    everything = found_by(library, "the")
    since, before = found_by(library, "the since:2026-05-01"), found_by(library, "the before:2026-05-01")
    assert since | before == everything
    assert not since & before
    assert since
    assert before
    assert found_by(library, "the", since="2026-05-01") == since
    assert found_by(library, "the", until="2026-04-30") == before


def test_code_like_words_are_found_whole_and_by_their_parts(library: Library) -> None:
    whole = found_by(library, "run_shell_command")
    assert whole
    assert whole <= found_by(library, "shell")
    assert whole == found_by(library, '"run shell command"')


def test_accents_and_case_do_not_matter() -> None:
    assert parse("CAFÉ").matches({"human": "un cafe\u0301"})


def test_pages_together_are_the_whole(library: Library) -> None:
    whole = library.search(Question("the", limit=EVERYTHING, per_session=1), NOW)
    for order in ("best", "newest"):
        seen: list[str] = []
        after = None
        while True:
            page = library.search(Question("the", limit=7, per_session=1, after=after, order=order), NOW)
            seen += [group.session.id for group in page.sessions]
            assert not page.has_changed
            if page.next is None:
                break
            after = page.next
        assert len(seen) == len(whole.sessions)
        assert sorted(seen) == sorted(group.session.id for group in whole.sessions)


def test_pages_of_a_search_that_reads_are_the_whole(few: Library) -> None:
    whole = few.search(Question("/th[ei]/", limit=EVERYTHING), NOW)
    first = few.search(Question("/th[ei]/", limit=5), NOW)
    assert first.next
    second = few.search(Question("/th[ei]/", limit=EVERYTHING, after=first.next), NOW)
    together = [group.session.id for page in (first, second) for group in page.sessions]
    assert together == [group.session.id for group in whole.sessions]


@pytest.mark.parametrize("after", ["x", "1-2-3", "1-2-3-4", "ffffffffffffffff-1-1-1", "-", "1-2-3-4-5"])
def test_a_page_of_another_search_is_refused(library: Library, after: str) -> None:
    with pytest.raises(BadCursorError):
        library.search(Question("the", after=after), NOW)


def test_what_must_be_read_says_where_it_stopped(few: Library) -> None:
    asked = Question("/(?=q)[^q]/", patience=0.0)
    found = few.search(asked, NOW)
    assert not found.sessions
    assert found.stopped
    assert found.stopped.read == 1
    assert found.next
    going_on = few.search(asked._replace(after=found.next), NOW)
    assert going_on.stopped
    assert going_on.stopped.left == found.stopped.left - 1 > 3
    assert few.search(asked._replace(patience=None), NOW).stopped is None


def test_a_scan_finds_what_the_index_does(few: Library) -> None:
    drawn = random.Random(4)
    for word in drawn.sample(vocabulary(), 3):
        # It may find more: outputs that were moved to files of their own are read too.
        assert found_by(few, f'"{word}"', scan=True) >= found_by(few, f'"{word}"')


def test_words_in_several_messages_of_a_session_are_found_as_such(library: Library) -> None:
    found = library.search(Question("is:main Fahrenheit changelog"), NOW)
    assert found.is_spread or found.sessions
    spread = library.search(Question("Boston Bengaluru"), NOW)
    assert not spread.sessions or spread.is_spread


def test_a_word_that_does_not_occur_is_answered_with_like_ones(library: Library) -> None:
    found = library.search(Question("wether"), NOW)
    assert "weather" in found.near["wether"]
    joined = library.search(Question('"runshellcommand"'), NOW)
    assert joined.near["runshellcommand"] == ["run shell command"]


def test_what_a_filter_hides_is_counted(library: Library) -> None:
    found = library.search(Question("the before:2001-01-01"), NOW)
    assert not found.sessions
    assert found.hidden["before:2001-01-01"] == library.search(Question("the"), NOW).total.matches


def test_values_that_nothing_has_are_answered_with_those_there_are(library: Library) -> None:
    found = library.search(Question("the agent:emacs tool:shel1"), NOW)
    assert found.near["agent:emacs"] == ("gemini",)
    assert found.near["tool:shel1"]


def test_totals_and_scores_agree_with_what_is_shown(library: Library) -> None:
    found = library.search(Question("the", limit=EVERYTHING, per_session=None), NOW)
    assert found.total.is_exact
    assert found.total.sessions == len(found.sessions)
    assert found.total.matches == sum(len(group.hits) for group in found.sessions)
    assert all(group.matches == len(group.hits) for group in found.sessions)


def test_snippets_hold_what_was_looked_for(library: Library) -> None:
    found = library.search(Question("weather", limit=EVERYTHING, per_session=None), NOW)
    hits = [hit for group in found.sessions for hit in group.hits]
    assert hits
    for hit in hits:
        assert hit.where
        assert hit.snippet
        assert {hit.snippet.text[start:end].lower() for start, end in hit.snippet.spans} == {"weather"}


def test_an_index_without_sessions_answers(library: Library) -> None:
    found = search(to_be_closed(in_memory()), parse("the"), Question("the"), NOW)
    assert found.searched.sessions == 0
    assert not found.sessions
    assert not any(found.near.values())


def test_a_file_that_is_gone_or_changed_costs_the_snippet_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    home = tmp_path / "home"
    shutil.copytree(SAMPLE, home)
    with Library([home], tmp_path / "data") as library:
        before = library.search(Question("weather", limit=EVERYTHING), NOW)
    for number, path in enumerate(path for path in home.rglob("*") if path.is_file()):
        if number % 2:
            path.unlink()
        else:
            path.write_bytes(b"\xff\x00{" * 5)
    with Library([home], tmp_path / "data", sync=False) as library:
        after = library.search(Question("weather", limit=EVERYTHING), NOW)
    assert [group.session.id for group in after.sessions] == [group.session.id for group in before.sessions]
    assert all(hit.snippet is None for group in after.sessions for hit in group.hits)


def test_snippets_of_files_that_are_gone_are_cut_from_their_copies(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(SAMPLE, home)
    with Library([home], tmp_path / "data") as library:
        before = library.search(Question("weather", limit=EVERYTHING), NOW)
    for path in (path for path in home.rglob("*") if path.is_file()):
        path.unlink()
    with Library([home], tmp_path / "data", sync=False) as library:
        after = library.search(Question("weather", limit=EVERYTHING), NOW)
    assert after.sessions == before.sessions
    assert any(hit.snippet for group in after.sessions for hit in group.hits)


def test_pages_say_that_the_index_has_changed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(SAMPLE, home)
    with Library([home], tmp_path / "data") as library:
        first = library.search(Question("the", limit=1), NOW)
    (log,) = (path for path in home.rglob("session-*.jsonl") if "d43a9578" in path.name)
    with log.open("a") as file:
        file.write('{"id":"new","timestamp":"2026-11-10T00:00:00Z","type":"user","content":"the end"}\n')
    with Library([home], tmp_path / "data") as library:
        second = library.search(Question("the", limit=1, after=first.next), NOW)
    assert second.has_changed


@pytest.mark.parametrize("keep", [False, True], ids=["not kept", "kept"])
def test_gone_messages_are_found_if_they_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, keep: bool
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", str(int(keep)))
    home = tmp_path / "home"
    shutil.copytree(SAMPLE, home)
    with Library([home], tmp_path / "data") as library:
        before = library.search(Question("weather", limit=EVERYTHING), NOW)
    gone = before.sessions[0].session
    assert gone.file
    Path(gone.file).unlink()
    with Library([home], tmp_path / "data") as library:
        after = library.search(Question("weather", limit=EVERYTHING), NOW)
    still_there = {group.session.id for group in after.sessions if group.session.kind != "lost"}
    assert still_there == {group.session.id for group in before.sessions} - (set() if keep else {gone.id})
    assert {group.session.id for group in after.sessions if group.session.kept} == (
        {gone.id} if keep else set()
    )


def test_a_piece_of_an_id_narrows_a_search_and_is_enough_alone(tmp_path: Path) -> None:
    for number in (1, 2):
        write_session(tmp_path / "home", f"{number}f0c9a2b-0000-4000-8000-00000000000{number}", day=number)
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        for words in ("id:2F0C", "id:000000002", "login id:gemini:2f0c", "-id:1f0c login"):
            found = library.search(words)
            assert [hits.session.native_id[:4] for hits in found.sessions] == ["2f0c"], words
        assert not library.search("id:zzzz").sessions
