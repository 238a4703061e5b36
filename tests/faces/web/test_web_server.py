"""The real server: how it starts and ends, what it tells while agents write, many who ask at once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import httpx2
import pytest

from geminids.core.errors import INTERRUPTED
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.outgoing import JsonWriter
from geminids.faces.serving.redaction import Redaction
from geminids.faces.web import events
from geminids.faces.web.events import Live
from geminids.library import open_library
from tests.conftest import RecordProperty
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import RUN, Served, client_of, served, wait_until

ID = f"gemini:{FIRST_ID}"
CLIENTS = 20
REQUESTS = 50
QUESTIONS = (
    "/api/overview",
    "/api/sessions?limit=20",
    "/api/sessions?q=login",
    "/api/search?q=redirect",
    f"/api/session/messages?id={ID}&detail=everything",
    f"/api/session?id={ID}",
    "/api/usage?by=model",
    "/api/facets",
    "/api/projects",
    "/api/health",
)


def prompt(name: str, words: str) -> str:
    at = "2026-05-01T11:00:00.000Z"
    return json.dumps({"id": name, "timestamp": at, "type": "user", "content": [{"text": words}]}) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.slow
def test_it_starts_quickly_and_answers(home: Path, tmp_path: Path, record_property: RecordProperty) -> None:
    began = time.monotonic()
    with served(home, tmp_path / "data") as server, server.client() as client:
        assert client.get("/healthz").text == "ok\n"
        seconds = time.monotonic() - began
        record_property("counts", f"web: answers {seconds:.2f} s after its start")
        assert seconds < 3, "it takes a third of a second where nobody else is at work"
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        assert client.get("/api/sessions").json()["total"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_also_while_a_browser_listens(
    home: Path, tmp_path: Path, how: signal.Signals
) -> None:
    with served(home, tmp_path / "data") as server, server.client() as client:
        with client.stream("GET", "/api/events") as stream:
            assert next(stream.iter_lines()) == "retry: 1000"
            server.process.send_signal(how)
            out, err = server.process.communicate(timeout=10)
        assert server.process.returncode == (INTERRUPTED if how is signal.SIGINT else 0)
        assert out == "", "the address is printed once"
        assert err == ""


@pytest.mark.slow
def test_a_browser_is_opened_at_the_place_that_is_printed(home: Path, tmp_path: Path) -> None:
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o700)
    line = [*RUN, "--home", str(home), "--data", str(tmp_path / "data")]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline()
            wait_until(opened.exists, "the browser")
            assert opened.read_text().partition("?")[0] == address.partition("?")[0]
        finally:
            process.terminate()


@pytest.mark.slow
def test_it_listens_on_this_machine_alone_at_the_port_that_was_chosen(home: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with served(home, tmp_path / "data", "--port", str(port)) as server:
        assert server.base == f"http://127.0.0.1:{port}"


# What agents write


class Heard:
    """The events that a browser hears, in a thread of its own."""

    def __init__(self, server: Served, last_id: str | None = None) -> None:
        self._events: Queue[dict[str, Any]] = Queue()
        self.ids: list[str] = []
        self._client = server.client()
        headers = {"last-event-id": last_id} if last_id else {}
        self._stream = self._client.stream("GET", "/api/events", headers=headers)
        self._response = self._stream.__enter__()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for line in self._response.iter_lines():
                if line.startswith("id: "):
                    self.ids.append(line[4:])
                if line.startswith("data: "):
                    self._events.put(json.loads(line[6:]))
        except (httpx2.HTTPError, httpx2.StreamError):
            # The server has ended it, or we have closed it, perhaps before this thread began.
            return

    def until(self, name: str, patience: float = 20.0) -> dict[str, Any]:
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                event = self._events.get(timeout=0.1)
            except Empty:
                continue
            if event["event"] == name:
                return event
        raise AssertionError(f"no event {name!r} came")

    def close(self) -> None:
        self._response.close()
        self._client.close()


@pytest.fixture
def live(home: Path, tmp_path: Path) -> Iterator[tuple[Served, Path]]:
    pytest.importorskip("watchfiles")
    (path,) = home.rglob("*.jsonl")
    with served(home, tmp_path / "data") as server:
        heard = Heard(server)
        wait_until(lambda: is_told(heard, path), "the watch")
        heard.close()
        yield server, path


def is_told(heard: Heard, path: Path) -> bool:
    """Whether what is written now is told: the watch begins a moment after the first sync."""
    with path.open("a") as file:
        file.write(prompt(f"at {time.monotonic()}", "Does anybody hear this?"))
    try:
        heard.until("news", patience=0.5)
    except AssertionError:
        return False
    return True


@pytest.mark.slow
def test_a_file_that_grows_is_told_and_then_found(live: tuple[Served, Path]) -> None:
    server, path = live
    heard = Heard(server)
    with path.open("a") as file:
        file.write(prompt("u2", "And the zebra crossing?"))
    news = heard.until("news")
    assert (news["session_id"], news["added"]) == (ID, 1)
    heard.until("synced")
    with server.client() as client:
        wait_until(
            lambda: client.get("/api/search", params={"q": "zebra"}).json()["total"] == 1, "what was told"
        )
    heard.close()


def test_a_browser_that_comes_back_hears_what_it_missed(live: tuple[Served, Path]) -> None:
    server, path = live
    first, other = Heard(server), Heard(server)
    with path.open("a") as file:
        file.write(prompt("u2", "One"))
    first.until("news")
    other.until("news")
    last_id = first.ids[-1]
    first.close()
    with path.open("a") as file:
        file.write(prompt("u3", "Two"))
    other.until("news")
    other.close()
    again = Heard(server, last_id)
    assert again.until("news")["added"] == 1
    again.close()
    stranger = Heard(server, "another-7")
    stranger.until("reset")
    stranger.close()


@pytest.mark.slow
def test_a_browser_that_goes_is_forgotten(home: Path, tmp_path: Path) -> None:
    with served(home, tmp_path / "data") as server:
        for _ in range(30):
            heard = Heard(server)
            heard.close()
        with server.client() as client:
            assert client.get("/healthz").status_code == 200


def test_a_silent_line_is_shown_to_be_alive(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", 0.05)

    async def heard() -> list[bytes]:
        opening = partial(open_library, [str(home)], str(tmp_path / "data"))
        following = Live(to_be_closed(Libraries(opening, syncs=False)), JsonWriter(Redaction()))
        lines = following.listen(None)
        told = [await anext(lines), await anext(lines), await anext(lines)]
        following.end_listening()
        return [*told, *[line async for line in lines]]

    assert asyncio.run(heard()) == [b"retry: 1000\n\n", *[b": nothing new\n\n"] * 2]


def test_a_browser_that_takes_nothing_is_let_go_and_comes_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_WAITING", 3)

    async def heard() -> list[bytes]:
        opening = partial(open_library, [str(home)], str(tmp_path / "data"))
        following = Live(to_be_closed(Libraries(opening, syncs=True)), JsonWriter(Redaction()))
        following.start()
        lines = following.listen(None)
        told = [await anext(lines)]
        for number in range(5):
            # Each one is an event of a sync.
            write_session(home, f"{number:08x}-0000-4000-8000-00000000000{number}", slug=f"p{number}")
            await asyncio.to_thread(following.sync)
            await asyncio.sleep(0)
        rest = [line async for line in lines]
        await following.end()
        return told + rest

    assert asyncio.run(asyncio.wait_for(heard(), 20)) == [b"retry: 1000\n\n"]


@pytest.mark.slow
def test_an_odd_number_of_the_last_event_begins_anew(live: tuple[Served, Path]) -> None:
    server, path = live
    known = Heard(server)
    wait_until(lambda: is_told(known, path), "an event with a number")
    run = known.ids[-1].partition("-")[0]
    known.close()
    for number in ("9" * 5000, "-1", "1e5", "", "9999"):
        asked = Heard(server, f"{run}-{number}")
        asked.until("reset", patience=20)
        asked.close()


# Many at once


@pytest.mark.slow
def test_many_who_ask_while_a_sync_runs_are_all_answered(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for number in range(120):
        native_id = f"{number:08x}-0000-4000-8000-00000000{number:04x}"
        write_session(home, native_id, slug=f"p{number % 7}", day=1 + number % 28)
    write_session(home)
    with served(home, tmp_path / "data") as server, server.client() as first:
        wait_until(lambda: first.get("/api/sessions").status_code == 200, "the first index")

        def ask(_: int) -> list[tuple[str, int, str]]:
            with server.client() as client:
                answers = [(path, client.get(path)) for path in (QUESTIONS * REQUESTS)[:REQUESTS]]
            return [(path, one.status_code, one.text) for path, one in answers if one.status_code != 200]

        def write() -> None:
            for number in range(40):
                native_id = f"f{number:07x}-0000-4000-8000-00000000{number:04x}"
                write_session(home, native_id, slug=f"p{number % 7}", day=1 + number % 28)
                assert first.post("/api/sync").status_code == 200

        with ThreadPoolExecutor(CLIENTS + 1) as pool:
            writing = pool.submit(write)
            failed = [one for answers in pool.map(ask, range(CLIENTS)) for one in answers]
            writing.result()
        assert failed == []
        assert first.get("/api/sessions").json()["total"] == 161


def test_an_index_that_can_be_kept_nowhere_is_served_all_the_same(home: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    with client_of([home], blocked / "data") as client:
        assert client.get("/api/sessions").json()["total"] == 1
        assert client.get("/api/session", params={"id": ID}).status_code == 200
        assert client.post("/api/sync").status_code == 200
