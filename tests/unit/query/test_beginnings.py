"""The beginning of a session, read without the rest: always what reading all of it gives, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from geminids.core.model import Message, Session
from geminids.faces.serving.opened_sessions import BegunSession, OpenedSession
from geminids.library import Library
from geminids.query.sessions.beginning import Beginning
from geminids.query.sessions.listing import Filter
from geminids.sharing.transcript.entries import LEVELS
from tests.conftest import FIXTURES
from tests.support.codex_homes import (
    OTHER,
    THREAD,
    event,
    line,
    meta,
    name_of,
    numbered,
    said,
    write_rollout,
)
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import client_of

ID = f"gemini:{FIRST_ID}"
AGENTS = {"claude": (150, 150), "codex": (60, 9), "gemini": (80, 6)}
"""Of how many beginnings the fixtures of an agent tell at least, and how often of messages in the midst."""
TURNS = 5_000
"""Messages of a session that is large."""


def beginnings_of(library: Library, session: Session) -> Iterator[Beginning]:
    total = len(session.messages)
    found = (library.beginning(session.id, most, large=0) for most in {3, total // 2} if most)
    return (one for one in found if one)


def without_lines(messages: Sequence[Message]) -> Any:
    """All of messages but the numbers of lines in their places."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name != "line"}
        return [without(one) for one in value] if isinstance(value, list | tuple) else value

    return without(msgspec.to_builtins(messages))


def read_in_midst(library: Library, whole: Session) -> int:
    """How many times messages in the midst are read, which are those of the whole."""
    read = 0
    for first in {2, len(whole.messages) // 2} - {0, 1}:
        if found := library.in_midst(whole.id, first, 5, large=0):
            told = found.session.messages
            there = whole.messages[first - 1 : first - 1 + len(told)]
            assert without_lines(told) == without_lines(there), (whole.id, first)
            read += 1
    return read


def sessions_of(library: Library) -> Iterator[Session]:
    ids = [row.id for row in library.listing(Filter()).sessions]
    return (library.session(one) for one in ids if ids.count(one) == 1)


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_a_beginning_or_a_part_in_the_midst_is_what_all_of_the_session_has(
    agent: str, tmp_path: Path
) -> None:
    begun = in_midst = 0
    for home in sorted(FIXTURES.glob(f"{agent}/*/home")):
        with Library([home], tmp_path / home.parent.name) as library:
            for whole in sessions_of(library):
                opened = OpenedSession(whole, whole.files)
                in_midst += read_in_midst(library, whole)
                for found in beginnings_of(library, whole):
                    begun += 1
                    told = found.session.messages
                    assert told == whole.messages[: len(told)], whole.id
                    assert found.messages == len(whole.messages)
                    assert found.session.without_messages() == whole.without_messages()
                    for level in LEVELS:
                        story = BegunSession(found).story(level)
                        assert story == opened.story(level)[: len(story)], (whole.id, level)
    least, least_in_midst = AGENTS[agent]
    assert begun >= least, "else this test proves nothing"
    assert in_midst >= least_in_midst, "the same"


# Large sessions


def message(number: int) -> dict[str, Any]:
    at = f"2026-05-01T{10 + number // 3600 % 12}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    text = f"Message {number}: " + "all work and no play " * 30
    told = {"type": "gemini", "content": text, "model": "gemini-3-pro"}
    return {"id": f"m{number}", "timestamp": at} | (
        told if number % 2 else {"type": "user", "content": [{"text": text}]}
    )


def write_large(home: Path, *last: dict[str, Any]) -> Path:
    path = write_session(home)
    header = path.read_text().split("\n")[0]
    records = [json.dumps(record) for record in (*map(message, range(TURNS)), *last)]
    path.write_text("\n".join([header, *records, ""]))
    return path


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [part["text"] for entry in entries for part in entry.get("parts", ()) if "text" in part]


@pytest.fixture
def large(tmp_path: Path) -> Iterator[TestClient]:
    write_large(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        yield client


@pytest.mark.slow
def test_a_large_session_opens_with_its_beginning_and_then_whole(large: TestClient) -> None:
    begun = large.get("/api/session/opening", params={"id": ID}).json()
    assert not begun["is_whole"]
    assert begun["messages"] == TURNS
    assert begun["facts"] is begun["outline"] is begun["branches"] is None
    whole = large.get("/api/session/opening", params={"id": ID, "whole": True}).json()
    assert whole["is_whole"]
    assert whole["facts"]["messages"] == whole["messages"] == TURNS
    assert whole["outline"]["total"] == TURNS // 2
    assert begun["line"] == whole["line"]
    assert len(begun["story"]["entries"]) == 50
    assert begun["story"]["entries"] == whole["story"]["entries"]
    assert begun["story"]["total"] == pytest.approx(whole["story"]["total"], rel=0.05)
    assert large.get("/api/session/opening", params={"id": ID}).json() == whole, "it is read now"


def test_a_small_session_opens_whole_at_once(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        opening = client.get("/api/session/opening", params={"id": ID, "detail": "tools"}).json()
        asked = {"id": ID, "detail": "tools"}
        assert opening["is_whole"]
        assert opening["facts"] == client.get("/api/session", params=asked).json()
        assert opening["story"] == client.get("/api/session/messages", params=asked).json()
        assert opening["outline"] == client.get("/api/session/outline", params=asked).json()
        assert (
            opening["branches"] == client.get("/api/session/branches", params={"id": ID}).json()["branches"]
        )


def test_a_window_around_a_message_waits_for_all_of_the_session(large: TestClient) -> None:
    opening = large.get("/api/session/opening", params={"id": ID, "around": TURNS - 10}).json()
    assert opening["is_whole"]
    assert any(entry.get("number") == TURNS - 10 for entry in opening["story"]["entries"])


def test_what_was_taken_back_at_the_end_is_not_in_the_beginning(tmp_path: Path) -> None:
    write_large(tmp_path / "home", {"$rewindTo": "m6"})
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        found = library.beginning(ID, 400)
        assert found is not None
        assert [one.id for one in found.session.messages] == [f"m{number}" for number in range(6)]


def test_a_message_that_was_written_anew_at_the_end_ends_the_beginning(tmp_path: Path) -> None:
    write_large(tmp_path / "home", message(9) | {"content": "On second thought: no."})
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        found = library.beginning(ID, 400)
        assert found is not None
        assert found.session.messages == library.session(ID).messages[:9]


def test_a_command_that_ends_behind_the_beginning_is_not_in_it(tmp_path: Path) -> None:
    asked = {"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": "{}"}
    came = {"type": "function_call_output", "call_id": "c1", "output": "Process running with session ID 7\n"}
    ended = event("exec_command_end", call_id="c1", exit_code=0, status="completed")
    lines = [line("response_item", asked), line("response_item", came), said("Work. " * 500), ended]
    write_rollout(tmp_path, [meta(), said("Hello?"), *lines])
    with Library([tmp_path], tmp_path / "data") as library:
        whole = library.session(f"codex:{THREAD}").messages
        assert [(call.native_status, call.exit_code) for call in whole[1].tool_calls] == [("completed", 0)]
        found = library.beginning(f"codex:{THREAD}", 2, large=0)
        assert found is not None
        assert found.session.messages == whole[:1]


def test_a_message_that_a_later_file_drops_again_ends_the_beginning(tmp_path: Path) -> None:
    compaction = line("compacted", {"message": "", "replacement_history": [said("Good day.")["payload"]]})
    head = [meta(), said("Good day."), said("Hello?")]
    write_rollout(tmp_path, numbered([*head, compaction, said("Go on.")]))
    base = {"thread_id": THREAD, "end_ordinal_exclusive": len(head)}
    later = [meta(history_base=base), said("Work. " * 500), compaction]
    write_rollout(tmp_path, numbered(later, len(head)), name_of(rollout=OTHER))
    with Library([tmp_path], tmp_path / "data") as library:
        whole = library.session(f"codex:{THREAD}")
        assert [one.dropped_by and one.dropped_by.file for one in whole.messages[:2]] == [
            None,
            whole.files[1].path,
        ]
        found = library.beginning(whole.id, 3, large=0)
        assert found is not None
        assert found.session.messages == whole.messages[:1]


def test_a_session_that_has_grown_since_is_read_whole(tmp_path: Path) -> None:
    path = write_large(tmp_path / "home")
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        assert library.beginning(ID, 400) is not None
        with path.open("a") as log:
            log.write(json.dumps({"$rewindTo": "m0"}) + "\n")
        assert library.beginning(ID, 400) is None


# Messages in the midst of a session


@pytest.mark.slow
def test_a_message_far_down_is_read_without_the_rest(tmp_path: Path) -> None:
    write_large(tmp_path / "home", {"$rewindTo": f"m{TURNS - 3}"})
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        whole = library.session(ID).messages
        found = library.in_midst(ID, 4_000, 40)
        assert found is not None
        assert without_lines(found.session.messages) == without_lines(whole[3_999:4_039])
        assert found.messages == len(whole)
        end = library.in_midst(ID, TURNS - 10, 40)
        assert end is not None
        assert [one.id for one in end.session.messages] == [f"m{TURNS - at}" for at in range(11, 3, -1)]
        assert library.in_midst(ID, TURNS - 1, 40) is None, "it was taken back"
        assert library.in_midst(ID, TURNS + 1, 40) is None, "it is not there"
        assert library.in_midst(ID, 4_000, 40, large=1 << 30) is None
