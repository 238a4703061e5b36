"""Words that were typed where the session's own file holds others, or none: they are told with the session.

The lines are those of recordings; what is made by hand is how they could be mistaken for one another.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companions import lost, typed_words
from geminids.core.agents.base import CompanionFile
from geminids.core.disk import REAL, Disk
from geminids.core.model import CompanionKind, Message, Origin, Session, SessionKind, State, Text
from geminids.library import Library, open_library
from geminids.query.search.found import Hit
from geminids.query.search.question import Question
from geminids.query.sessions.listing import Filter
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import CORPUS, FIXTURES, Rights
from tests.support.reading import readings, sessions
from tests.support.truth import differences

SOURCE = GeminiSource()
REWOUND = FIXTURES / "gemini" / "taken-back-json"
EXPANDED = FIXTURES / "gemini" / "typed-and-sent"
LINES = FIXTURES / "gemini" / "typed-lines"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
ID = "0a1b2c3d-0000-4000-8000-000000000001"
OTHER_ID = "0a1b2c3e-0000-4000-8000-000000000002"


def library_of(home: Path, data: Path) -> Library:
    return open_library([str(home)], str(data))


def found(library: Library, query: str, *, scan: bool = False) -> list[Hit]:
    """What a search finds, each with a piece of the words."""
    with library:
        sessions = library.search(Question(query, scan=scan)).sessions
    hits = [hit for one in sessions for hit in one.hits]
    assert all(hit.snippet for hit in hits)
    return hits


def the_session(home: Path) -> Session:
    (session,) = (one for one in sessions(SOURCE, home) if one.kind is SessionKind.MAIN)
    return session


def unrecorded(session: Session) -> list[Message]:
    return [message for message in session.messages if message.state is State.UNRECORDED]


def human(session: Session) -> list[str]:
    """All that the human typed, in order."""
    return [text for message in session.messages if (text := message.text(Origin.HUMAN))]


# Recorded


def test_prompts_that_a_document_lost_are_told_in_their_place() -> None:
    session = the_session(REWOUND / "home")
    truth = json.loads((REWOUND / "truth.json").read_bytes())
    assert human(session) == truth["per_run"][0]["human_prompts"]
    lines = unrecorded(session)
    assert [line.text(Origin.HUMAN) for line in lines] == [
        "Bison question two",
        "Camel question three",
        "Dingo question instead",
    ]
    assert {line.missing for line in lines} == {lost.TAKEN_BACK}
    assert session.counts.prompts == 6
    assert session.counts.dropped == 0


def test_what_was_typed_stands_beside_what_was_sent() -> None:
    session = the_session(EXPANDED / "home")
    review, standup, folder, file, again = (m for m in session.messages if m.text(Origin.HUMAN))
    assert review.origin is standup.origin is again.origin is Origin.COMMAND
    assert review.parts == (
        Text("/git:review error handling", Origin.HUMAN),
        Text("Review the staged change for error handling, strictly.", Origin.COMMAND),
    )
    assert standup.text(Origin.HUMAN) == "/standup"
    assert folder.origin is Origin.HUMAN
    assert folder.text(Origin.HUMAN) == "What lies in @two\\ words/ here"
    assert folder.text(Origin.INJECTED) == "What lies in @two words/** here"
    assert file.text(Origin.HUMAN) == "And in @notes.txt in one word"
    assert review.id != again.id
    assert not unrecorded(session)
    assert session.counts.prompts == 2
    assert session.title == "/git:review error handling"


def test_each_line_of_a_log_is_told_once_or_ignored_by_name() -> None:
    session = the_session(LINES / "home")
    told = [(line.origin, line.text(Origin.HUMAN)) for line in unrecorded(session)]
    assert told == [
        (Origin.SHELL, "echo pangolin in the shell"),
        (Origin.COMMAND, "/memory add Remember the quokka"),
        (Origin.COMMAND, "/nosuchcommand with rhino words"),
        (Origin.HUMAN, "/etc/hosts is what, a serval?"),
    ]
    assert human(session).count("Same words twice") == 2
    *_, beside = readings(SOURCE, LINES / "home")
    (account,) = (one for one in beside.accounts if one.format == "gemini-prompt-log")
    used = {kind: tally.records for kind, tally in account.used.items() if kind != "layout"}
    assert used == {lost.Whereabouts.HELD: 4, lost.Whereabouts.UNRECORDED: 4}
    assert {why: tally.records for why, tally in account.ignored.items()} == {
        lost.Whereabouts.BARE_COMMAND: 2
    }


@pytest.mark.parametrize("case", [REWOUND, EXPANDED, LINES], ids=lambda case: case.name)
def test_stats_and_sessions_count_the_same(case: Path, tmp_path: Path) -> None:
    with library_of(case / "home", tmp_path) as library:
        (summary,) = library.sessions()
        session = library.session(summary.id)
        total = library.stats(StatsQuestion()).total
    assert summary.counts == session.counts
    assert total.prompts == session.counts.prompts


def test_lost_and_changed_words_are_found_by_both_searches(tmp_path: Path) -> None:
    for case, query in (
        (REWOUND, "Camel"),
        (EXPANDED, '"git:review"'),
        (EXPANDED, "strictly"),
        (LINES, "quokka"),
        (LINES, "pangolin is:unrecorded"),
    ):
        for scan in (False, True):
            assert found(library_of(case / "home", tmp_path / case.name), query, scan=scan), query


# In step with the log


def test_the_index_follows_the_log_alone(tmp_path: Path) -> None:
    """Only the log changes: the sessions that it tells of are read again, and no other."""
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "First words")])
    home.session(OTHER_ID, [(9_000, "user", "Other words")], start=9_000)
    home.log([(ID, 0, "First words", 0)])
    assert not found(home.library(), "walrus")
    home.log([(ID, 0, "First words", 0), (ID, 1, "A walrus that was lost", 5)])
    with home.library() as library:
        assert library.sync().bundles == 1
    (hit,) = found(home.library(), "walrus")
    assert hit.message.state == "unrecorded"
    home.log([(ID, 0, "First words", 0)])
    assert not found(home.library(), "walrus")


def test_a_log_that_was_closed_forgets_nothing(
    tmp_path: Path, without_privileges: Rights, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "First words")])
    home.log([(ID, 0, "First words", 0), (ID, 1, "A walrus that was lost", 5)])
    assert found(home.library(), "walrus")
    for path in (tmp_path / "data", *(tmp_path / "data").rglob("*")):
        path.chmod(0o777)
    home.path("logs.json").chmod(0)
    monkeypatch.setattr(typed_words, "_logs_at_hand", typed_words._LogsAtHand())
    with without_privileges(), home.library() as library:
        assert not library.sync().bundles
        assert library.search("walrus").sessions


def test_logs_of_many_projects_are_read_once_and_large_ones_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[CompanionFile, ...]] = []

    def noted(logs: tuple[CompanionFile, ...], _: Disk) -> typed_words._Typed:
        read.append(logs)
        return typed_words._Typed({}, (), is_whole=True)

    def log(name: str, size: int) -> tuple[CompanionFile, ...]:
        return (CompanionFile(f"/logs/{name}", size, 0, 0, CompanionKind.PROMPT_LOG),)

    monkeypatch.setattr(typed_words, "_read", noted)
    at_hand = typed_words._LogsAtHand()
    small = [log(str(number), 1_000) for number in range(100)]
    for logs in (*small, *small):
        at_hand.read(logs, REAL)
    assert read == small
    large = log("large", 8_000_000)
    for logs in (large, large, small[0]):
        at_hand.read(logs, REAL)
    assert read == [*small, large, small[0]]


# Mistaken for one another


def test_the_same_words_typed_twice_and_recorded_once_are_lost_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "continue"), (1, "gemini", "On."), (90, "user", "continue")])
    home.log([(ID, 0, "continue", 0), (ID, 1, "continue", 30), (ID, 2, "continue", 90)])
    session = the_session(tmp_path / "home")
    assert human(session) == ["continue"] * 3
    (line,) = unrecorded(session)
    assert line.at == NOON + timedelta(seconds=30)
    assert session.messages.index(line) == 2


def test_words_that_are_broken_otherwise_are_the_same_words(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "one\n two\t three ")])
    home.log([(ID, 0, "one two three", 0)])
    assert not unrecorded(the_session(tmp_path / "home"))


def test_a_line_that_the_log_has_cut_off_is_the_message_it_begins(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "A long prompt about the narwhal")])
    home.log([(ID, 0, "A long prompt about the narwhal", 0)])
    log = home.path("logs.json")
    log.write_bytes(log.read_bytes().partition(b"narwhal")[0])
    assert human(the_session(tmp_path / "home")) == ["A long prompt about the narwhal"]


def test_a_command_of_the_program_is_not_what_the_next_prompt_was_made_of(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(1, "user", "Said without a screen")])
    home.log([(ID, 0, "/quit", 0)])
    session = the_session(tmp_path / "home")
    assert human(session) == ["Said without a screen"]
    assert session.messages[0].origin is Origin.HUMAN


def test_what_was_typed_after_clear_is_not_of_the_session_that_the_log_still_names(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "Before")])
    home.session(OTHER_ID, [(61, "user", "After")], start=60)
    home.log([(ID, 0, "Before", 0), (ID, 1, "/clear", 60), (ID, 2, "After", 61), (ID, 3, "Lost after", 70)])
    told = {session.native_id: session for session in sessions(SOURCE, tmp_path / "home")}
    assert human(told[ID]) == ["Before"]
    assert human(told[OTHER_ID]) == ["After", "Lost after"]


def test_lines_of_a_session_that_went_on_under_another_name_are_its_own(tmp_path: Path) -> None:
    """Who resumes may be logged under a name that no file has."""
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "One"), (500, "user", "Two"), (700, "user", "Four")])
    name = "99999999-0000-4000-8000-000000000009"
    home.log([(ID, 0, "One", 0), (name, 0, "Two", 500), (name, 1, "Three", 600), (name, 2, "Four", 700)])
    (session,) = sessions(SOURCE, tmp_path / "home")
    assert human(session) == ["One", "Two", "Three", "Four"]


def test_a_session_lasts_until_its_file_says_even_if_the_mtime_is_earlier(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "One"), (700, "user", "Three")])
    home.log([(ID, 0, "One", 0), (OTHER_ID, 0, "Two", 600), (OTHER_ID, 1, "Three", 700)])
    (file,) = home.path("chats").iterdir()
    os.utime(file, (NOON.timestamp() + 60,) * 2)
    (session,) = sessions(SOURCE, tmp_path / "home")
    assert human(session) == ["One", "Two", "Three"]


def test_two_sessions_of_one_project_do_not_take_each_others_lines(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "yes"), (20, "user", "more")])
    home.session(OTHER_ID, [(1, "user", "yes"), (21, "user", "more")])
    home.log(
        [
            (ID, 0, "yes", 0),
            (OTHER_ID, 0, "yes", 1),
            (ID, 1, "Mine was lost", 10),
            (OTHER_ID, 1, "Yours was lost", 11),
            (ID, 2, "more", 20),
            (OTHER_ID, 2, "more", 21),
        ]
    )
    told = {session.native_id: human(session) for session in sessions(SOURCE, tmp_path / "home")}
    assert told == {ID: ["yes", "Mine was lost", "more"], OTHER_ID: ["yes", "Yours was lost", "more"]}


def test_a_session_without_a_word_is_told_with_what_was_typed_in_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [])
    home.log([(ID, 0, "Typed and lost", 5), (ID, 1, "/quit", 9)])
    (session,) = sessions(SOURCE, tmp_path / "home")
    assert human(session) == ["Typed and lost"]
    assert session.title == "Typed and lost"


# Every line of every log


LOGS = sorted({log.parents[4] for log in FIXTURES.glob("gemini/*/home/.gemini/tmp/*/logs.json")}) + sorted(
    {log.parents[4] for log in CORPUS.glob("real/*/*/home/.gemini/tmp/*/logs.json")}
)


@pytest.mark.slow
def test_no_line_of_a_log_is_nowhere() -> None:
    """Whatever a plain look into a log finds is told in a session, or a bare command, or of no session."""
    looked_at = 0
    for scenario in LOGS:
        home = scenario / "home"
        read = sessions(SOURCE, home)
        told = {" ".join(text.split()) for session in read for text in human(session)}
        files = {session.native_id for session in read}
        for line in plain_lines(home):
            words = " ".join(line["message"].split())
            looked_at += 1
            is_bare = words.startswith(("/", "?")) and " " not in words
            assert words in told or is_bare or line["sessionId"] not in files, f"{scenario}: {words}"
    assert looked_at > 100


def plain_lines(home: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for log in home.glob(".gemini/tmp/*/logs.json"):
        try:
            lines += json.loads(log.read_bytes())
        except ValueError:
            continue
    return [line for line in lines if isinstance(line, dict) and str(line.get("message", "")).strip()]


@pytest.mark.parametrize("case", [REWOUND, EXPANDED, LINES], ids=lambda case: case.name)
def test_the_truth_of_the_recordings_is_told(case: Path) -> None:
    truth = json.loads((case / "truth.json").read_bytes())
    wrong = differences(sessions(SOURCE, case / "home"), truth)
    assert "prompts" not in wrong, wrong


class Home:
    """A home in which sessions and the log are written as the CLI lays them out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._project = folder / "home" / ".gemini" / "tmp" / "alpha"
        (self._project / "chats").mkdir(parents=True)
        self._project.joinpath(".project_root").write_text("/tmp/demo/alpha")

    def path(self, name: str) -> Path:
        return self._project / name

    def library(self) -> Library:
        return library_of(self._folder / "home", self._folder / "data")

    def session(self, native_id: str, messages: Sequence[tuple[int, str, str]], start: int = 0) -> None:
        written = [
            {"id": f"{native_id[7]}{n}", "timestamp": moment(at), "type": kind, "content": text}
            for n, (at, kind, text) in enumerate(messages)
        ]
        document = {
            "sessionId": native_id,
            "projectHash": "0" * 64,
            "startTime": moment(start),
            "lastUpdated": moment(1000),
            "messages": written,
        }
        began, ended = (NOON + timedelta(seconds=start + later) for later in (0, 1000))
        file = self.path(f"chats/session-{began:%Y-%m-%dT%H-%M}-{native_id[:8]}.json")
        file.write_text(json.dumps(document, indent=2))
        os.utime(file, (ended.timestamp(), ended.timestamp()))

    def log(self, lines: Sequence[tuple[str, int, str, int]]) -> None:
        written = [
            {"sessionId": i, "messageId": n, "type": "user", "message": text, "timestamp": moment(at)}
            for i, n, text, at in lines
        ]
        self.path("logs.json").write_text(json.dumps(written, indent=2))


def moment(seconds: int) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_a_kept_copy_of_the_log_still_tells(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "First words")])
    home.log([(ID, 0, "First words", 0), (ID, 1, "A walrus that was lost", 5)])
    assert found(home.library(), "walrus")
    shutil.rmtree(home.path("."))
    assert found(home.library(), "walrus")


def is_kept(library: Library) -> bool:
    with library:
        library.sync(full=True)
        (row,) = library.listing(Filter()).sessions
        return row.kept


@pytest.mark.parametrize("gone", ["logs.json", "chats"])
@pytest.mark.parametrize("lines", [[(ID, 0, "/greet the otter", 0)], [(ID, 0, "A walrus that was lost", 5)]])
def test_a_session_is_kept_if_its_own_file_is_gone_whatever_became_of_the_log(
    tmp_path: Path, gone: str, lines: list[tuple[str, int, str, int]]
) -> None:
    home = Home(tmp_path)
    home.session(ID, [(0, "user", "Say hello to the otter")])
    home.log(lines)
    assert not is_kept(home.library())
    if gone == "chats":
        shutil.rmtree(home.path(gone))
    else:
        home.path(gone).unlink()
    assert is_kept(home.library()) is (gone == "chats")
