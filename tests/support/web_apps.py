"""Web apps over small homes, and clients that hold the key."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx2
from starlette.testclient import TestClient

from geminids.faces.web.app import create_app
from geminids.faces.web.guard import HEADER, Key
from geminids.library import open_library

KEY = Key("a-token-of-the-tests", 8642)
BASE = f"http://127.0.0.1:{KEY.port}"
RUN = [sys.executable, "-m", "geminids", "web"]
PATIENCE = 30.0


@contextmanager
def client_of(
    homes: Sequence[Path], data: Path, *, headers: dict[str, str] | None = None, **options: Any
) -> Iterator[TestClient]:
    """A client of an app that has taken everything in."""
    opening = partial(open_library, [str(home) for home in homes], str(data))
    app = create_app(opening, KEY, **options)
    sent = {HEADER: KEY.token} if headers is None else headers
    with TestClient(app, base_url=BASE, headers=sent, follow_redirects=False) as client:
        wait_until(lambda: is_in_step(client), "the first sync")
        yield client


def is_in_step(client: TestClient) -> bool:
    answer = client.get("/api/about", headers={HEADER: KEY.token})
    return answer.status_code == 200 and answer.json()["syncing"]["at"] is not None


def wait_until(is_done: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait for something that another thread or process does."""
    end = time.monotonic() + patience
    while not is_done():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


class Served(NamedTuple):
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    base: str
    token: str

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.base, headers={HEADER: self.token}, timeout=PATIENCE)


@contextmanager
def served(home: Path, data: Path, *options: str) -> Iterator[Served]:
    """The real command; it is ended at the latest when the test is."""
    with serving([*RUN, "--no-open", "--home", str(home), "--data", str(data), *options]) as server:
        yield server


@contextmanager
def serving(line: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[Served]:
    """The same of any command line."""
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            split = urlsplit(address)
            assert split.scheme == "http", process.stderr and process.stderr.read()
            (token,) = parse_qs(split.query)["token"]
            yield Served(process, f"http://{split.netloc}", token)
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
