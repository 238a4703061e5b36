"""The web app in a process of its own, and one who asks it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from ours import Place

PATIENCE = 120.0
_TOKEN = "X-Geminids-Token"


class Answer(NamedTuple):
    """An answer, and what it took in milliseconds."""

    status: int
    document: Any
    wall: float
    cpu: float
    """Of the server; where the system does not tell, that of the clock."""


class Asking:
    """A connection that stays."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = HTTPConnection(server.host, server.port, timeout=PATIENCE)

    def ask(self, path: str, **asked: object) -> Answer:
        """Ask, and wait for all of the answer."""
        return self._wait_for("GET", path, asked)

    def order(self, path: str) -> Answer:
        """Have something done."""
        return self._wait_for("POST", path, {})

    def _wait_for(self, method: str, path: str, asked: Mapping[str, object]) -> Answer:
        query = f"?{urlencode(asked)}" if asked else ""
        cpu, began = self._server.cpu(), time.perf_counter()
        self._connection.request(method, path + query, headers={_TOKEN: self._server.token})
        response = self._connection.getresponse()
        body = response.read()
        taken, spent = time.perf_counter() - began, self._server.cpu() - cpu
        is_json = "json" in (response.getheader("content-type") or "")
        return Answer(response.status, json.loads(body) if is_json else body, taken * 1e3, spent * 1e3)


class Server:
    """The server of a place."""

    def __init__(self, process: subprocess.Popen[str], address: str, began: float) -> None:
        split = urlsplit(address)
        assert split.hostname, "it prints its address first"
        assert split.port
        self.host, self.port = split.hostname, split.port
        (self.token,) = parse_qs(split.query)["token"]
        self.began = began
        self._process = process

    def asking(self) -> Asking:
        """Somebody who asks."""
        return Asking(self)

    def cpu(self) -> float:
        """Seconds that it has worked; where the system does not tell, the time of the clock."""
        try:
            # The clock of another process, as Linux numbers them.
            return time.clock_gettime(~self._process.pid << 3 | 2)
        except OSError:
            return time.perf_counter()

    def in_step(self) -> None:
        """Wait until it has looked at all files once."""
        asking = self.asking()
        while not asking.ask("/api/about").document.get("syncing", {}).get("at"):
            time.sleep(0.05)


@contextmanager
def serving(place: Place, *options: str) -> Iterator[Server]:
    """The command as people start it, without a browser."""
    began = time.perf_counter()
    command = place.command("web", "--no-open", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place.environment) as process:
        try:
            assert process.stdout is not None
            yield Server(process, process.stdout.readline().strip(), began)
        finally:
            process.terminate()
            process.wait(PATIENCE)
