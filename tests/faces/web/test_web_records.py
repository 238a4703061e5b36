"""The records of messages as agents wrote them, every version of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geminids.library import open_library
from tests.conftest import FIXTURES
from tests.support.web_apps import client_of

WRITTEN_TWICE = FIXTURES / "gemini" / "tool-calls-jsonl-1" / "home"
HOMES = [*sorted(FIXTURES.glob("*/fork/home")), *sorted(FIXTURES.glob("*/upgrade/home")), WRITTEN_TWICE]


@pytest.mark.parametrize("home", HOMES, ids=lambda home: "-".join(home.parts[-3:-1]))
def test_every_version_of_a_record_can_be_opened(home: Path, tmp_path: Path) -> None:
    with open_library([str(home)], str(tmp_path / "other")) as library:
        sessions = [library.session(summary.id) for summary in library.sessions()]
    with client_of([home], tmp_path / "data") as client:
        for session in sessions:
            for number, message in enumerate(session.messages, 1):
                places = (message.source, *message.also_at)
                for version, place in enumerate(places):
                    asked: dict[str, Any] = {"id": session.id, "number": number, "version": version}
                    record = client.get("/api/session/raw", params=asked).json()
                    assert (record["version"], record["versions"]) == (version, len(places))
                    assert (record["file"], record["start"]) == (place.file, place.start)


def test_the_record_that_was_written_last_is_shown_first(tmp_path: Path) -> None:
    with client_of([WRITTEN_TWICE], tmp_path / "data") as client:
        (line,) = client.get("/api/sessions").json()["sessions"]
        asked: dict[str, Any] = {"id": line["id"], "number": 7}
        last = client.get("/api/session/raw", params=asked).json()
        first = client.get("/api/session/raw", params=asked | {"version": 0}).json()
        beyond = client.get("/api/session/raw", params=asked | {"version": last["versions"]})
    assert last["versions"] == last["version"] + 1 == 2
    assert "toolCalls" in json.loads(last["text"])
    assert "toolCalls" not in json.loads(first["text"])
    assert beyond.status_code == 404
    assert "version" in beyond.json()["detail"]
