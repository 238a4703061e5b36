"""The beginning of a session, read without the rest: always what reading all of it gives, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from geminids.core.model import Session
from geminids.faces.serving.opened_sessions import BegunSession, OpenedSession
from geminids.library import Library
from geminids.query.sessions.beginning import Beginning
from geminids.query.sessions.listing import Filter
from geminids.sharing.transcript.entries import LEVELS
from tests.conftest import FIXTURES
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import client_of

ID = f"gemini:{FIRST_ID}"
AGENTS = {"claude": 150, "codex": 60, "gemini": 80}
"""Of how many beginnings the fixtures of an agent tell at least."""
TURNS = 5_000
"""Messages of a session that is large."""


def beginnings_of(library: Library, session: Session) -> Iterator[Beginning]:
    total = len(session.messages)
    found = (library.beginning(session.id, most, large=0) for most in {3, total // 2} if most)
    return (one for one in found if one)


def sessions_of(library: Library) -> Iterator[Session]:
    ids = [row.id for row in library.listing(Filter()).sessions]
    return (library.session(one) for one in ids if ids.count(one) == 1)


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_a_beginning_is_what_all_of_the_session_begins_with(agent: str, tmp_path: Path) -> None:
    begun = 0
    for home in sorted(FIXTURES.glob(f"{agent}/*/home")):
        with Library([home], tmp_path / home.parent.name) as library:
            for whole in sessions_of(library):
                opened = OpenedSession(whole, whole.files)
                for found in beginnings_of(library, whole):
                    begun += 1
                    told = found.session.messages
                    assert told == whole.messages[: len(told)], whole.id
                    assert found.messages == len(whole.messages)
                    assert found.session.without_messages() == whole.without_messages()
                    for level in LEVELS:
                        story = BegunSession(found).story(level)
                        assert story == opened.story(level)[: len(story)], (whole.id, level)
    assert begun >= AGENTS[agent], "else this test proves nothing"


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


def test_a_session_that_has_grown_since_is_read_whole(tmp_path: Path) -> None:
    path = write_large(tmp_path / "home")
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        assert library.beginning(ID, 400) is not None
        with path.open("a") as log:
            log.write(json.dumps({"$rewindTo": "m0"}) + "\n")
        assert library.beginning(ID, 400) is None
