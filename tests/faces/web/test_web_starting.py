"""The first start, an empty machine, and how the command ends: what a person meets before any session."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest

from geminids.core.errors import INTERRUPTED, WRONG_USAGE
from geminids.faces.serving.errors import EndingError
from geminids.faces.serving.libraries import Libraries
from geminids.library import Library, open_library
from geminids.library.current_index import Progress
from geminids.query.sessions.listing import Filter
from tests.conftest import FIXTURES
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import RUN, Served, served, serving, wait_until

MANY = 400


def about(server: Served) -> Any:
    with server.client() as client:
        return client.get("/api/about").json()


def write_many(home: Path, number: int = MANY) -> None:
    for at in range(number):
        native_id = f"{at:08x}-0000-4000-8000-00000000{at:04x}"
        write_session(home, native_id, slug=f"p{at % 7}", day=1 + at % 28, answer="word " * 2_000)


# The first index


class Held:
    """Opens libraries whose first sync waits after some groups of files until it is let go."""

    def __init__(self, home: Path, data: Path, after: int = 1) -> None:
        self._opening = partial(open_library, [str(home)], str(data))
        self._left = after
        self.has_begun, self.may_go_on = Event(), Event()

    def __call__(self, *, sync: bool, progress: Progress | None = None) -> Library:
        def hear(read: int, total: int) -> None:
            assert progress is not None
            progress(read, total)
            self._left -= 1
            if self._left <= 0:
                self.has_begun.set()
                self.may_go_on.wait(20)

        return self._opening(sync=sync, progress=hear if progress else None)


def test_a_first_sync_says_that_it_is_and_how_much_is_read(tmp_path: Path) -> None:
    from threading import Thread

    write_many(tmp_path / "home", 5)
    held = Held(tmp_path / "home", tmp_path / "data")
    libraries = to_be_closed(Libraries(held, syncs=True))
    before = libraries.state()
    assert (before.is_first, before.is_running, before.is_empty) == (True, False, None)
    thread = Thread(target=libraries.sync)
    thread.start()
    held.has_begun.wait(20)
    during = libraries.state()
    held.may_go_on.set()
    thread.join()
    after = libraries.state()
    libraries.close()
    assert (during.is_first, during.is_running) == (True, True)
    assert during.read
    assert during.total
    assert during.read < during.total
    assert (after.is_first, after.is_running, after.is_empty, after.read) == (False, False, False, None)


def test_the_newest_are_there_while_the_rest_is_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threading import Thread

    for name in ("intake.STEP", "FIRST_STEP"):
        monkeypatch.setattr(f"geminids.sync.{name}", 1)
    monkeypatch.setattr("geminids.faces.serving.libraries.OFTEN", 0.0)
    write_many(tmp_path / "home", 5)
    # One of the first step, its end, one of the second step that counts by then, and one of the third.
    held = Held(tmp_path / "home", tmp_path / "data", after=4)
    libraries = to_be_closed(Libraries(held, syncs=True))
    generation = libraries.generation
    thread = Thread(target=libraries.sync)
    thread.start()
    held.has_begun.wait(20)
    during = libraries.state()
    with libraries.borrow() as library:
        total = library.listing(Filter()).total
    is_another = libraries.generation != generation
    held.may_go_on.set()
    thread.join()
    after = libraries.state()
    libraries.close()
    assert (during.is_first, during.is_running, during.to_come, total) == (False, True, 3, 2)
    assert is_another, "an answer from before must not be given again"
    assert (after.is_running, after.to_come) == (False, 0)


def test_a_later_start_is_no_first_one(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    opening = partial(open_library, [str(tmp_path / "home")], str(tmp_path / "data"))
    with opening(sync=True) as library:
        library.sync()
    libraries = to_be_closed(Libraries(opening, syncs=True))
    assert not libraries.state().is_first
    assert libraries.have_sessions()
    libraries.close()


# An empty machine


@pytest.fixture
def empty_machine(tmp_path: Path) -> Iterator[tuple[Served, Path]]:
    home = tmp_path / "user"
    home.mkdir()
    bare = {name: value for name, value in os.environ.items() if "GEMINI" not in name and "HOME" not in name}
    environment = {**bare, "HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    line = [*RUN, "--no-open", "--data", str(tmp_path / "data")]
    with serving(line, environment) as server:
        wait_until(lambda: about(server)["syncing"]["at"] is not None, "the first look")
        yield server, home


def test_where_there_is_no_session_the_sample_is_shown_until_there_is_one(
    empty_machine: tuple[Served, Path],
) -> None:
    pytest.importorskip("watchfiles")
    server, home = empty_machine
    told = about(server)
    assert told["is_sample"]
    assert told["is_sample_instead"]
    assert told["syncing"]["is_empty"]
    with server.client() as client:
        assert client.get("/api/sessions").json()["total"] > 1
        write_session(home)
        wait_until(lambda: client.get("/api/sessions").json()["total"] == 1, "the first session")
        assert client.get("/api/sessions").json()["sessions"][0]["id"] == f"gemini:{FIRST_ID}"
    told = about(server)
    assert not told["is_sample"]
    assert not told["is_sample_instead"]
    assert not told["syncing"]["is_empty"]


@pytest.mark.slow
def test_a_home_that_was_chosen_and_is_empty_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with served(tmp_path / "home", tmp_path / "data") as server, server.client() as client:
        wait_until(lambda: about(server)["syncing"]["at"] is not None, "the first look")
        told = about(server)
        assert (told["is_sample"], told["is_sample_instead"]) == (False, False)
        assert told["syncing"]["is_empty"]
        assert client.get("/api/sessions").json()["total"] == 0


@pytest.mark.slow
def test_sessions_that_somebody_copies_to_an_empty_home_appear(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with served(home, tmp_path / "data") as server, server.client() as client:
        wait_until(lambda: bool(about(server)["syncing"]["is_empty"]), "the first look")
        # They keep their times, so nobody is heard writing them.
        shutil.copytree(FIXTURES / "gemini" / "images" / "home", home, dirs_exist_ok=True)
        wait_until(lambda: client.get("/api/sessions").json().get("total") == 1, "the copied session")


@pytest.mark.slow
def test_an_agent_that_comes_later_is_read_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home)

    def agents(client: httpx2.Client) -> set[str]:
        answer = client.get("/api/sessions")
        assert answer.status_code in {200, 503}, "with a further home there is another index"
        return {session["agent"] for session in answer.json().get("sessions", ())}

    with served(home, tmp_path / "data") as server, server.client() as client:
        wait_until(lambda: agents(client) == {"gemini"}, "the first session")
        shutil.copytree(FIXTURES / "claude" / "compact" / "home", home, dirs_exist_ok=True)
        newest = max((home / ".claude").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
        newest.touch()
        wait_until(lambda: agents(client) == {"gemini", "claude"}, "the sessions of the other agent")


# The end


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 0)])
def test_a_signal_during_the_first_sync_ends_it_at_once(
    tmp_path: Path, how: signal.Signals, code: int
) -> None:
    write_many(tmp_path / "home")
    with served(tmp_path / "home", tmp_path / "data") as server:
        wait_until(lambda: about(server)["syncing"]["is_running"], "the first sync")
        assert about(server)["syncing"]["is_first"]
        began = time.monotonic()
        server.process.send_signal(how)
        _, said = server.process.communicate(timeout=30)
        seconds = time.monotonic() - began
    assert server.process.returncode == code
    assert "Traceback" not in said
    assert seconds < 4, "it takes less than two seconds where nobody else is at work"


@pytest.mark.slow
def test_two_servers_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = []
        for name in ("one", "two"):
            write_session(tmp_path / name, prompt=f"About {name}")
            servers.append(stack.enter_context(served(tmp_path / name, tmp_path / "data")))
        client = stack.enter_context(servers[0].client())
        del client.headers["x-geminids-token"]
        for server in servers:
            # One browser has the cookies of both: to it they are one machine.
            answer = client.get(f"{server.base}/", params={"token": server.token})
            assert answer.status_code == 303
        for server, name in zip(servers, ("one", "two"), strict=True):
            wait_until(lambda: client.get(f"{server.base}/api/sessions").status_code == 200, "an index")  # noqa: B023
            (session,) = client.get(f"{server.base}/api/sessions").json()["sessions"]
            assert session["title"] == f"About {name}"


# Wrong usage


def ended(tmp_path: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    line = [*RUN, "--no-open", "--data", str(tmp_path / "data"), *options]
    inherited = {**os.environ, **environment}
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, env=inherited)


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = ended(tmp_path, "--port", str(port), "--sample")
    assert done.returncode == WRONG_USAGE
    assert done.stdout == ""
    assert done.stderr.startswith(f"geminids: Cannot listen on port {port} (")


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_what_is_no_port_is_refused(tmp_path: Path, port: str) -> None:
    done = ended(tmp_path, "--port", port)
    assert done.returncode == WRONG_USAGE
    assert "--port" in done.stderr


def test_a_home_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = ended(tmp_path, "--home", str(tmp_path / "nowhere"))
    assert done.returncode == WRONG_USAGE
    assert "nowhere" in done.stderr
    assert done.stdout == "", "no address of a server that cannot answer"


def test_without_the_extra_its_name_is_told(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "uvicorn.py").write_text("raise ModuleNotFoundError('No module', name='uvicorn')\n")
    path = os.pathsep.join([str(hidden), *filter(None, sys.path)])
    done = ended(tmp_path, "--sample", PYTHONPATH=path)
    assert done.returncode == WRONG_USAGE
    assert "'uvicorn>=0.40'` adds it." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_without_a_browser_it_serves_all_the_same(tmp_path: Path) -> None:
    line = [*RUN, "--sample", "--data", str(tmp_path / "data")]
    nothing = {**os.environ, "BROWSER": str(tmp_path / "no-browser"), "PATH": str(tmp_path), "DISPLAY": ""}
    with serving(line, nothing) as server, server.client() as client:
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        server.process.send_signal(signal.SIGTERM)
        out, said = server.process.communicate(timeout=30)
    assert (server.process.returncode, out) == (0, "")
    assert "Traceback" not in said


def test_no_sync_begins_after_all_libraries_are_closed(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    opening = partial(open_library, [str(tmp_path / "home")], str(tmp_path / "data"))
    libraries = Libraries(opening, syncs=True)
    libraries.sync()
    libraries.close()
    with pytest.raises(EndingError):
        libraries.sync()
