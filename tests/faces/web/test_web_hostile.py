"""Sessions that nobody would write, and files that are lost while they are served."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.homes import tool_call, write_session
from tests.support.web_apps import Served, client_of, served, wait_until

ID = "1f0c9a2b"
PATIENCE = 10.0
"""Seconds for what takes a small part of one, and would take minutes if it were done for each with each."""


def record(number: int, **fields: Any) -> str:
    return json.dumps({"id": f"m{number}", "timestamp": "2026-05-01T11:00:00.000Z", **fields}) + "\n"


def seconds_of(client: Any, path: str, **asked: str) -> float:
    begin = time.monotonic()
    answer = client.get(path, params={"id": ID, **asked})
    assert answer.status_code == 200, answer.text
    return time.monotonic() - begin


# Much of something


@pytest.mark.slow
def test_thousands_of_dropped_branches_are_told_at_once(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home")
    with path.open("a") as file:
        for number in range(0, 24_000, 2):
            file.write(record(number, type="user", content=[{"text": "No"}]))
            file.write(record(number + 1, type="gemini", content="Yes", tokens={"input": 5, "total": 5}))
            file.write(json.dumps({"$rewindTo": f"m{number}"}) + "\n")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        seconds_of(client, "/api/session")
        assert seconds_of(client, "/api/session/branches") < PATIENCE
        assert seconds_of(client, "/api/session/context") < PATIENCE
        branches = client.get("/api/session/branches", params={"id": ID}).json()["branches"]
    assert len(branches) == 12_000
    assert {branch["forked_after"] for branch in branches} == {2}


@pytest.mark.slow
def test_a_long_line_of_one_letter_is_looked_through_at_once(tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt="a" * 3_000_000)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        seconds_of(client, "/api/session")
        assert seconds_of(client, "/api/session/find", words="a" * 499 + "b") < PATIENCE
        assert seconds_of(client, "/api/session/find", words="A") < PATIENCE
        found = client.get("/api/session/find", params={"id": ID, "words": "A", "start": 2_999_999}).json()
    assert found["total"] == 3_000_000
    assert [place["nth"] for place in found["places"]] == [2_999_999]


@pytest.mark.slow
def test_a_message_of_countless_calls_is_shown_in_part(tmp_path: Path) -> None:
    calls = [tool_call(id=f"c{number}") for number in range(10_000)]
    write_session(tmp_path / "home", calls=calls)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get("/api/session/message", params={"id": ID, "number": 2, "detail": "everything"})
    parts = answer.json()["parts"]
    assert len(parts) == 2_001
    assert "8,001 more parts" in parts[-1]["html"]
    assert parts[-1]["index"] == 2_000


# Files that are lost


def is_in_step(server: Served) -> bool:
    with server.client() as client:
        about = client.get("/api/about")
    return about.status_code == 200 and about.json()["syncing"]["at"] is not None


@pytest.mark.slow
def test_an_index_that_is_damaged_is_made_anew_by_itself(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with served(tmp_path / "home", tmp_path / "data") as server, server.client() as client:
        wait_until(lambda: is_in_step(server), "the first sync")
        for path in (tmp_path / "data" / "index").glob("*.db"):
            path.write_bytes(os.urandom(path.stat().st_size))
        answer = client.get("/api/sessions")
        assert answer.status_code in {200, 503}, answer.text
        wait_until(lambda: client.get("/api/sessions", params={"q": "login"}).status_code == 200, "another")
        assert client.get("/api/sessions").json()["total"] == 1


@pytest.mark.slow
def test_a_home_that_is_gone_for_a_while_is_told_and_comes_back(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    write_session(home)
    with served(home, tmp_path / "data") as server, server.client() as client:
        wait_until(lambda: is_in_step(server), "the first sync")
        home.rename(away)
        wait_until(lambda: client.get("/api/sessions").status_code == 503, "word of it")
        assert "no longer exists" in client.get("/api/sessions").json()["detail"]
        away.rename(home)
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the home")


@pytest.mark.slow
def test_a_head_of_the_events_ends(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with served(tmp_path / "home", tmp_path / "data") as server, server.client() as client:
        answer = client.head("/api/events", timeout=5)
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert client.get("/healthz", timeout=5).status_code == 200
