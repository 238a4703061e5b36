"""What Gemini CLI used and did not write down: never more is said to be missing than was really asked for."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companions.captures import read_copy
from geminids.agents.gemini.read.unrecorded import (
    COMPRESSION,
    NEXT_SPEAKER,
    TITLE,
    TOOL_TURNS,
    WEB_PAGE,
    WEB_SEARCH,
)
from geminids.core.model import Session, SessionKind, Usage
from geminids.query.usage.explanation import AGREES, EXPLAINED, check_of
from tests.conftest import CORPUS, FIXTURES, RecordProperty
from tests.support.reading import sessions
from tests.support.truth import once


def release(folder: Path) -> tuple[int, ...]:
    """The release that wrote a fixture."""
    return numbers_of(tomllib.loads((folder / "about.toml").read_text("utf-8"))["agent_version"])


def numbers_of(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


SOURCE = GeminiSource()
FIRST_WITH_CALLS, FIRST_WITHOUT = (0, 11), (0, 32)
"""Releases: calls are recorded since the one, and turns of tools only by themselves since the other."""
FIXTURE_CASES = sorted(path.parent for path in FIXTURES.glob("gemini/*/truth.json"))
WITH_TOOL_TURNS = [folder for folder in FIXTURE_CASES if FIRST_WITH_CALLS <= release(folder) < FIRST_WITHOUT]
SCENARIOS = sorted(path.parent for path in (CORPUS / "real").glob("*/*/manifest.json"))
PRINTED = FIXTURES / "gemini" / "printed"

BILLED_AS = {
    COMPRESSION: "aux:compress",
    TITLE: "aux:session_summary",
    NEXT_SPEAKER: "aux:next_speaker",
    WEB_SEARCH: "aux:web_search",
    WEB_PAGE: "aux:web_fetch",
}
UNTRACED = {
    "lost-session": "the session with the title is gone",
    "compress-split": "a file of 0.20 does not say how many requests a compression took",
}
"""Fixtures of which the files cannot tell all compressions and titles."""
LOST_OTHERWISE = {
    "agent-asked-twice": "the replies of subagents, whose calls are not recorded before 0.37",
    "agent-beside-unmarked": "the same",
    "subagent-in-parent-file": "the same",
    "killed-midstream": "replies that were cut short",
    "torn-json": "what was not yet written when the process was killed",
}
"""Fixtures up to 0.31 that lost replies in other ways than by turns of tools only."""


class Case(NamedTuple):
    """What a scenario left, and what really happened."""

    name: str
    version: tuple[int, ...]
    sessions: list[Session]
    tokens: dict[str, dict[str, int]]

    def billed(self, *kinds: str) -> int:
        return sum(self.tokens.get(kind, {}).get("replies", 0) for kind in kinds)

    def missing(self) -> Counter[str]:
        """How many requests are said to be missing; those of unknown number are not in it."""
        found: Counter[str] = Counter()
        for session in self.sessions:
            found.update({part.what: part.requests for part in session.unrecorded if part.requests})
        return found

    def recorded(self) -> int:
        talks = (SessionKind.MAIN, SessionKind.SUBAGENT)
        messages = once(session for session in self.sessions if session.kind in talks)
        return sum(message.usage is not None for message in messages)


def fixture(folder: Path) -> Case:
    truth = json.loads((folder / "truth.json").read_bytes())
    return case(folder.name, release(folder), [folder / "home"], truth)


def scenario(folder: Path) -> Case:
    truth = json.loads((folder / "manifest.json").read_bytes())["truth"]
    homes = [*sorted(folder.glob("snap-*")), folder / "home"]
    return case(folder.name, numbers_of(folder.parent.name), homes, truth)


def case(name: str, version: tuple[int, ...], homes: list[Path], truth: dict[str, Any]) -> Case:
    # A later home holds the same session again, with more in it.
    found = {session.id: session for home in homes for session in sessions(SOURCE, home)}
    return Case(name, version, list(found.values()), truth["tokens"])


@pytest.mark.parametrize("folder", FIXTURE_CASES, ids=lambda folder: folder.name)
def test_no_more_is_missing_than_was_asked_for(folder: Path) -> None:
    assert_possible(fixture(folder))


@pytest.mark.slow
def test_no_more_is_missing_than_was_asked_for_in_the_corpus(
    corpus: Path, record_property: RecordProperty
) -> None:
    told: Counter[str] = Counter()
    billed: Counter[str] = Counter()
    for folder in SCENARIOS:
        found = scenario(folder)
        assert_possible(found)
        told += found.missing()
        billed.update({what: found.billed(kind) for what, kind in BILLED_AS.items()})
    record_property("counts", f"missing requests told {dict(told)} of {dict(billed)} in {corpus.name}")
    assert told[TITLE] == billed[TITLE]
    assert told[COMPRESSION] > billed[COMPRESSION] / 2
    assert told[TOOL_TURNS] > 80


def assert_possible(found: Case) -> None:
    missing = found.missing()
    assert missing.keys() <= {*BILLED_AS, TOOL_TURNS}, found.name
    for what, kind in BILLED_AS.items():
        assert missing[what] <= found.billed(kind), (found.name, found.version, what)
    assert found.recorded() + missing[TOOL_TURNS] <= found.billed("main", "subagent"), found.name
    assert not missing[TOOL_TURNS] or found.version < FIRST_WITHOUT, found.name


@pytest.mark.parametrize("folder", FIXTURE_CASES, ids=lambda folder: folder.name)
def test_summaries_and_titles_are_all_told_of(folder: Path) -> None:
    found = fixture(folder)
    missing = found.missing()
    is_all = all(missing[what] == found.billed(BILLED_AS[what]) for what in (COMPRESSION, TITLE))
    assert is_all == (folder.name not in UNTRACED)


@pytest.mark.parametrize("folder", WITH_TOOL_TURNS, ids=lambda folder: folder.name)
def test_turns_of_tools_only_and_what_is_recorded_are_all_replies(folder: Path) -> None:
    found = fixture(folder)
    replies = found.recorded() + found.missing()[TOOL_TURNS]
    assert (replies == found.billed("main", "subagent")) == (folder.name not in LOST_OTHERWISE)


def test_a_compression_of_unknown_size_is_told_of() -> None:
    found = fixture(FIXTURES / "gemini" / "compress-split")
    assert [(part.what, part.requests) for part in told_of(found)] == [(COMPRESSION, None)]


def told_of(found: Case) -> Iterator[Any]:
    for session in found.sessions:
        yield from session.unrecorded


# Files of which only this matters


def message(kind: str, content: object, **others: Any) -> dict[str, Any]:
    return {"type": kind, "content": content, **others}


def prompt(text: str, *, in_parts: bool = True) -> dict[str, Any]:
    return message("user", [{"text": text}] if in_parts else text)


def call(call_id: str, milliseconds: int, name: str = "read_file", **others: Any) -> dict[str, Any]:
    at = f"2026-01-05T10:00:{milliseconds / 1000:06.3f}Z"
    return {"id": call_id, "name": name, "args": {}, "status": "success", "timestamp": at, **others}


def missing_from(
    home: Path, *messages: dict[str, Any], suffix: str = "json", **header: Any
) -> dict[str, int | None]:
    """What is missing from a session of these messages."""
    folder = home / ".gemini" / "tmp" / ("0" * 64) / "chats"
    folder.mkdir(parents=True)
    about = {
        "sessionId": "5f0c9a2b-0000",
        "projectHash": "0" * 64,
        "startTime": "2026-01-05T10:00:00Z",
    } | header
    numbered = [{**told, "id": f"m{number}"} for number, told in enumerate(messages)]
    lines = [about, *numbered] if suffix == "jsonl" else [{**about, "messages": numbered}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"session-2026-01-05T10-00-5f0c9a2b.{suffix}").write_text(text)
    (session,) = sessions(SOURCE, home)
    return {part.what: part.requests for part in session.unrecorded}


def test_calls_of_one_reply_are_no_turns_of_their_own(tmp_path: Path) -> None:
    together = [call("read_file-1794728061356-eb44c6", 10), call("read_file-1794728061399-0a", 11)]
    assert missing_from(tmp_path, prompt("Go"), message("gemini", "", toolCalls=together)) == {}


def test_each_time_that_calls_were_added_is_a_turn(tmp_path: Path) -> None:
    times = (10, 11, 60, 60, 5000)
    calls = [call(f"read_file-{1794728061356 + at}-eb44c{at}", at) for at in times]
    assert missing_from(tmp_path, prompt("Go"), message("gemini", "Look.", toolCalls=calls)) == {
        TOOL_TURNS: 2
    }


def test_an_editor_adds_the_calls_of_one_reply_one_by_one(tmp_path: Path) -> None:
    calls = [call(f"read_file-{1794728061356 + at}", at) for at in (10, 500, 2000)]
    assert missing_from(tmp_path, prompt("Go"), message("gemini", "", toolCalls=calls)) == {}


def test_since_031_calls_are_numbered_in_their_reply(tmp_path: Path) -> None:
    written = [("read_file_1794728061356_0", 10), ("ls_1794728061356_1", 500), ("ls_1794728062356_0", 2000)]
    calls = [call(call_id, at) for call_id, at in written]
    assert missing_from(tmp_path, prompt("Go"), message("gemini", "", toolCalls=calls)) == {TOOL_TURNS: 1}


def test_in_a_log_every_turn_is_recorded(tmp_path: Path) -> None:
    calls = [call(f"read_file-{1794728061356 + at}-eb44c{at}", at) for at in (10, 500)]
    told = missing_from(tmp_path, prompt("Go"), message("gemini", "", toolCalls=calls), suffix="jsonl")
    assert told == {}


def test_calls_that_are_no_list_are_no_turns(tmp_path: Path) -> None:
    assert missing_from(tmp_path, prompt("Go"), message("gemini", "", toolCalls=7)) == {}


@pytest.mark.parametrize(("in_parts", "requests"), [(True, 2), (False, None)])
def test_compress_asks_for_a_summary(tmp_path: Path, in_parts: bool, requests: int | None) -> None:
    talk = (prompt("Go", in_parts=in_parts), message("gemini", "Done."), message("info", ""))
    assert missing_from(tmp_path, *talk) == {COMPRESSION: requests}


@pytest.mark.parametrize("before", [(), (prompt("Go"),), (message("error", "No."),)], ids=len)
def test_compress_may_have_nothing_to_do(tmp_path: Path, before: tuple[dict[str, Any], ...]) -> None:
    assert missing_from(tmp_path, *before, message("info", "")) == {}


def test_what_was_rewound_is_not_summed_up(tmp_path: Path) -> None:
    talk = [prompt("Go"), message("gemini", "Done.")]
    folder = tmp_path / "one"
    assert missing_from(folder, *talk, message("info", ""), suffix="jsonl") == {COMPRESSION: 2}
    (file,) = folder.rglob("*.jsonl")
    *lines, marker = file.read_text().splitlines()
    file.write_text("\n".join([*lines, json.dumps({"$rewindTo": "m0"}), marker, ""]))
    (session,) = sessions(SOURCE, folder)
    assert session.unrecorded == ()


def test_a_conversation_compressed_by_itself(tmp_path: Path) -> None:
    notice = message("info", "Context compressed from 94% to 0%.")
    other = message("info", "Request cancelled.")
    assert missing_from(tmp_path, prompt("Go"), other, notice, notice) == {COMPRESSION: 4}


def test_a_title_takes_a_request_and_the_answer_of_a_subagent_none(tmp_path: Path) -> None:
    assert missing_from(tmp_path / "main", prompt("Go"), summary="Going") == {TITLE: 1}
    assert missing_from(tmp_path / "agent", prompt("Go"), summary="Gone", kind="subagent") == {}
    assert missing_from(tmp_path / "blank", prompt("Go"), summary=" ") == {}


def test_tools_of_the_web_ask_a_model(tmp_path: Path) -> None:
    calls = [
        call("call_1", 10, "google_web_search"),
        call("call_2", 11, "google_web_search", status="error"),
        call("call_3", 12, "web_fetch", resultDisplay="Content processed from prompt."),
        # How often a model was asked before it came to that is not known, nor that it was.
        call("call_4", 13, "web_fetch", resultDisplay="Content processed using fallback fetch."),
    ]
    told = missing_from(tmp_path, prompt("Go"), message("gemini", "", toolCalls=calls))
    assert told == {WEB_SEARCH: 1, WEB_PAGE: 1}


# What runs printed of themselves


@pytest.mark.parametrize("name", ["cut.json", "toolerror.json"])
def test_what_a_run_counted_is_what_is_recorded_and_what_is_not(name: str) -> None:
    printed, recorded = printed_and_recorded(name)
    assert printed.reported == printed.usage
    assert [part.what for part in printed.unrecorded] == ["choosing the model"]
    changes = {"reported": printed.reported, "unrecorded": printed.unrecorded}
    check = check_of(msgspec.structs.replace(recorded, **changes))
    assert check is not None
    assert check.verdict == EXPLAINED
    beside = Usage.sum(part.usage for part in printed.unrecorded if part.usage)
    assert check.ours.total is not None
    assert check.reported.total == check.ours.total + (beside.total or 0)


def test_runs_that_went_on_count_themselves_alone() -> None:
    first, recorded = printed_and_recorded("talk.json")
    second, _ = printed_and_recorded("talk-resumed.json")
    counted = [run.reported for run in (first, second) if run.reported]
    beside = [part.usage for run in (first, second) for part in run.unrecorded if part.usage]
    assert Usage.sum(counted).total == Usage.sum([recorded.usage, *beside]).total


def test_events_count_what_the_run_asked_for() -> None:
    printed, recorded = printed_and_recorded("toolerror.jsonl")
    assert printed.reported == printed.usage
    assert printed.reported is not None
    assert (printed.reported.total or 0) > (recorded.usage.total or 0)
    check = check_of(printed)
    assert check is not None
    assert check.verdict == AGREES


def test_a_run_that_counted_nothing_reports_nothing() -> None:
    printed, _ = printed_and_recorded("lateerror.json.stderr.txt")
    assert printed.reported is None
    assert printed.unrecorded == ()


@pytest.mark.parametrize(
    "roles",
    [7, {"utility_router": 7}, {"utility_router": {}}, {"utility_router": {"tokens": {"prompt": "x"}}}],
)
def test_roles_of_another_shape_tell_nothing(roles: object) -> None:
    models = {"gemini-3-pro": {"tokens": {"prompt": 5}, "roles": roles}}
    answer = {"session_id": "s", "response": "Yes.", "stats": {"models": models}}
    reading = read_copy(Path("answer.json"), json.dumps(answer).encode())
    assert reading is not None
    (session,) = reading.sessions
    assert session.unrecorded == ()
    assert session.reported is not None
    assert session.reported.input == 5


def printed_and_recorded(name: str) -> tuple[Session, Session]:
    """What a run printed, and the session that it recorded."""
    file = PRINTED / "beside" / name
    reading = read_copy(file, file.read_bytes())
    assert reading is not None
    (printed,) = reading.sessions
    (recorded,) = [session for session in sessions(SOURCE, PRINTED / "home") if session.id == printed.id]
    return printed, recorded
