"""Who is at the other end of a connection, and how long it may keep us waiting."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from tests.support.homes import write_session
from tests.support.web_apps import RUN, Served, served, serving, wait_until

SHORT = 1.5
"""Seconds that these servers wait for a request: they are the real command, only less patient."""
IN_A_HURRY = f"""
import sys
from geminids.faces.web import connections
from geminids.__main__ import main
connections.PATIENCE = {SHORT}
sys.argv = ["geminids", *sys.argv[1:]]
main()
"""
USUAL_DESCRIPTORS = 1_024
MANY = 1_200
HALVES = {
    "nothing": "",
    "half a line": "GET /heal",
    "half a header": "GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-More: ",
    "headers without an end": "GET /healthz HTTP/1.1\r\nHost: {host}\r\n",
    "half a body": "POST /api/sync HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100000\r\n\r\n{{",
    "half a piece": "POST /api/sync HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\nx",
    "a body of a question": "GET /healthz HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\nx",
    "a second half": "GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\nGET /healthz HTTP/1.1\r\nHo",
    "an idle line": "GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n",
}


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home, data = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("data")
    write_session(home)
    options = ["web", "--no-open", "--home", str(home), "--data", str(data)]
    with serving([sys.executable, "-c", IN_A_HURRY, *options]) as server:
        yield server


def host_of(server: Served) -> str:
    return server.base.removeprefix("http://")


@contextmanager
def connected(server: Served) -> Iterator[socket.socket]:
    address, _, port = host_of(server).rpartition(":")
    with socket.create_connection((address, int(port)), timeout=20) as connection:
        yield connection


def seconds_until_closed(connection: socket.socket, drip: bytes = b"") -> float:
    """How long the other end stays; a byte is sent now and then, which should not help."""
    began = time.monotonic()
    connection.settimeout(0.2)
    while time.monotonic() - began < 20:
        try:
            if drip:
                connection.sendall(drip)
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    return time.monotonic() - began


@pytest.mark.slow
def test_requests_that_do_not_end_are_let_go(hurried: Served) -> None:
    with ExitStack() as opened:
        began = time.monotonic()
        waiting = {what: opened.enter_context(connected(hurried)) for what in HALVES}
        for what, connection in waiting.items():
            connection.sendall(HALVES[what].format(host=host_of(hurried)).encode())
        with hurried.client() as client:
            assert client.get("/healthz").text == "ok\n"
        for what, connection in waiting.items():
            seconds_until_closed(connection)
            assert time.monotonic() - began < SHORT + 5, what


@pytest.mark.slow
@pytest.mark.parametrize("what", ["half a header", "half a body"])
def test_a_byte_now_and_then_gives_nobody_more_time(hurried: Served, what: str) -> None:
    with connected(hurried) as connection:
        connection.sendall(HALVES[what].format(host=host_of(hurried)).encode())
        assert SHORT / 2 < seconds_until_closed(connection, b"x") < SHORT + 5


@pytest.mark.slow
def test_a_line_of_events_stays_open_however_long(hurried: Served) -> None:
    with connected(hurried) as connection:
        request = "GET /api/events HTTP/1.1\r\nHost: {host}\r\nX-Geminids-Token: {token}\r\n\r\n"
        connection.sendall(request.format(host=host_of(hurried), token=hurried.token).encode())
        time.sleep(SHORT + 0.5)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):  # noqa: PT012 - it waits for more, until there is none for a while
            while piece := connection.recv(65536):
                assert piece


@contextmanager
def many_descriptors() -> Iterator[None]:
    """Let this process have enough for its side of the connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY * 2
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this process may have {hard} files open, and {wanted} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["half a header", "an idle line"])
def test_others_are_answered_while_too_many_requests_do_not_end(tmp_path: Path, what: str) -> None:
    write_session(tmp_path / "home")
    line = ["bash", "-c", f'ulimit -n {USUAL_DESCRIPTORS}; exec "$@"', "bash", *RUN]
    options = ["--no-open", "--home", str(tmp_path / "home"), "--data", str(tmp_path / "data")]
    with many_descriptors(), serving([*line, *options]) as server, ExitStack() as opened:
        limits = Path(f"/proc/{server.process.pid}/limits")
        if limits.exists():
            assert f"{USUAL_DESCRIPTORS}" in next(
                one for one in limits.read_text().splitlines() if "open files" in one
            )
        for _ in range(MANY):
            with suppress(ConnectionError):
                connection = opened.enter_context(connected(server))
                connection.sendall(HALVES[what].format(host=host_of(server)).encode())
        with server.client() as client:
            for _ in range(5):
                began = time.monotonic()
                assert client.get("/healthz", headers={"connection": "close"}).text == "ok\n"
                assert time.monotonic() - began < 3
            wait_until(lambda: client.get("/api/sessions").status_code == 200, "the index")
        server.process.terminate()
        _, said = server.process.communicate(timeout=20)
        assert said == ""


# Whose program it is

OTHER_USER = 65_534
OWNER = 12_345
AS_OWNER = (
    "setpriv",
    *(f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"),
    # Where this Python lies, another user often may not look.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
AS_ANOTHER = ("setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups", "sh", "-c")
SEEN = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -o 'http://127.0.0.1:{port}/[^ ]*'"
TRIED = "curl -s -D - -o /dev/null -w '%{{http_code}}' '{address}'"


def are_there_users() -> bool:
    """Whether programs of two other users can be started here."""
    if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("curl"):
        return False
    line = [*AS_OWNER, sys.executable, "-c", "import geminids"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


def command_lines() -> list[str]:
    """All that anybody on this machine can read of the programs that run."""
    read = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            read.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return read


class Opened:
    """A server that has opened a browser: a stand-in that stays, and tells what it was told to open."""

    def __init__(self, served: Served, told: Path) -> None:
        wait_until(told.exists, "the browser")
        self.served = served
        self.address = told.read_text().strip()

    def get(self, **options: str) -> httpx2.Response:
        """What whoever reads the address gets."""
        return httpx2.get(self.address, headers=options, follow_redirects=False, timeout=20)


@contextmanager
def opening(folder: Path, before: Sequence[str] = ()) -> Iterator[Opened]:
    told, runs, browser = folder / "told", folder / "runs", folder / "browser"
    browser.write_text(
        f'#!/bin/sh\nexec > {told}.part 2> /dev/null\necho "$1"\nmv {told}.part {told}\n'
        f"while [ -e {runs} ]; do sleep 0.1; done\n"
    )
    browser.chmod(0o755)
    runs.touch()
    write_session(folder / "home")
    if before:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, OWNER, OWNER)
    line = [*before, *RUN, "--home", str(folder / "home"), "--data", str(folder / "data")]
    environment = {**os.environ, "BROWSER": f"{browser} %s", "HOME": str(folder)}
    try:
        with serving(line, environment) as server:
            yield Opened(server, told)
    finally:
        runs.unlink()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no command lines are to be read here")
def test_what_stands_on_a_command_line_opens_nothing_afterwards(tmp_path: Path) -> None:
    with opening(tmp_path) as opened:
        read = command_lines()
        assert any(opened.address in line for line in read), "the browser is seen"
        assert not any(opened.served.token in line for line in read)
        first = opened.get()
        assert (first.status_code, first.headers["location"]) == (303, "/")
        cookie = first.headers["set-cookie"].partition(";")[0]
        assert httpx2.get(f"{opened.served.base}/api/about", headers={"cookie": cookie}).status_code == 200
        again = opened.get()
        assert (again.status_code, again.headers.get("set-cookie")) == (401, None)
        assert "works only once" in again.json()["detail"]
        assert opened.get(cookie=cookie).status_code == 303, "the same browser may go back to it"


@pytest.mark.slow
@pytest.mark.skipif(not are_there_users(), reason="only the superuser can be two other users, with curl")
def test_another_user_who_reads_it_first_gets_nothing_and_takes_nothing_away(tmp_path: Path) -> None:
    def as_another(line: str) -> str:
        ran = subprocess.run([*AS_ANOTHER, line], capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    with opening(tmp_path, AS_OWNER) as opened:
        seen = as_another(SEEN.format(port=opened.served.base.rpartition(":")[2]))
        assert opened.address in seen.splitlines(), "everybody can read it"
        for address in (opened.address, f"{opened.served.base}/?token={opened.served.token}"):
            answer = as_another(TRIED.format(address=address))
            assert answer.endswith("403")
            assert "set-cookie" not in answer
        key = f"-H 'x-geminids-token: {opened.served.token}'"
        assert "another user" in as_another(f"curl -s {key} {opened.served.base}/api/about")
        assert opened.get().status_code == 303, "the code still opens the door to the one whose it is"


@pytest.mark.slow
def test_no_code_is_there_where_no_browser_is_opened(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with served(tmp_path / "home", tmp_path / "data") as server:
        assert httpx2.get(f"{server.base}/?code=", follow_redirects=False).status_code == 401
        assert httpx2.get(f"{server.base}/?code=x", follow_redirects=False).status_code == 401
