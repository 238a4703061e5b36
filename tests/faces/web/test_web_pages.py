"""The page itself: which addresses it has, and which are files of it that are or are not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from geminids.faces.web.pages import is_built
from tests.support.homes import write_session
from tests.support.web_apps import client_of


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home: Path = tmp_path_factory.mktemp("home")
    write_session(home)
    with client_of([home], tmp_path_factory.mktemp("data")) as opened:
        yield opened


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/sessions",
        "/sessions/gemini%3A1f0c9a2b",
        "/sessions/gemini%3Asaved%40my.chat.json",
        "/sessions/claude%3Aa%2Fb.jsonl%23agent.1",
        "/sessions/codex:rollout-2026.05.01",
        "/projects/home.example/x.y",
        "/search",
        "/usage",
        "/health",
        "/no-such-view",
    ],
)
def test_an_address_of_a_view_gives_the_page_also_on_reload(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.content == client.get("/").content


@pytest.mark.parametrize(
    "path",
    [
        "/missing.js",
        "/assets/missing.css",
        "/favicon.missing",
        "/api/nothing",
        "/api/a.b",
        "/api",
        "/index.php",
    ],
)
def test_what_is_not_there_is_not_answered_with_the_page(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_installation_without_the_page_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.faces.web.pages.FOLDER", "nowhere")
    assert not is_built()
    with client_of([tmp_path], tmp_path / "data") as client:
        assert "Install Node 20.19 or newer" in client.get("/").text
