"""Object storage on this machine: a server that speaks S3, and a way to it on which things go wrong.

The server is SeaweedFS, which the group `test` installs. Its data is in a folder that goes with it. The
server of moto is another one for those who install it (`pip install 'moto[server]'`).
"""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple
from urllib.request import Request, urlopen

WEED = Path(sys.executable).with_name("weed")
MOTO = Path(sys.executable).with_name("moto_server")
ADMIN, WRITER, READER = "admin", "writer", "reader"
SECRET = "not-a-secret"
_RIGHTS = {ADMIN: ["Admin"], WRITER: ["Read", "Write", "List"], READER: ["Read", "List"]}
_LONGEST_START = 60.0
_LISTENS = (
    *("master.port", "volume.port", "filer.port", "s3.port", "s3.port.iceberg", "s3.port.lance"),
    *("master.port.grpc", "volume.port.grpc", "filer.port.grpc", "s3.port.grpc"),
)


class Server(NamedTuple):
    """A server that runs."""

    host: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def variables(self, user: str = ADMIN, secret: str = SECRET, url: str | None = None) -> dict[str, str]:
        """What the environment of a user of it says."""
        return {
            "AWS_ENDPOINT_URL": url or self.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": user,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_REGION": "us-east-1",
        }


@contextmanager
def s3_server(folder: Path, *options: str) -> Iterator[Server]:
    """A while in which a server runs on loopback."""
    identities = [
        {"name": user, "credentials": [{"accessKey": user, "secretKey": SECRET}], "actions": rights}
        for user, rights in _RIGHTS.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s3.json").write_text(json.dumps({"identities": identities}))
    (folder / "data").mkdir()
    ports = dict(zip(_LISTENS, _free_ports(len(_LISTENS)), strict=True))
    line = [str(WEED), "server", f"-dir={folder / 'data'}", "-s3", f"-s3.config={folder / 's3.json'}"]
    line += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-volume.max=30"]
    line += [f"-{name}={port}" for name, port in ports.items()]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen([*line, *options], stdout=log, stderr=log, cwd=folder)
        try:
            server = Server("127.0.0.1", ports["s3.port"])
            _wait_for(server, running, folder / "log")
            yield server
        finally:
            running.kill()
            running.wait()
            shutil.rmtree(folder / "data", ignore_errors=True)


@contextmanager
def moto_server(folder: Path) -> Iterator[Server]:
    """Run the server of moto on loopback, with a bucket `team`."""
    (port,) = _free_ports(1)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("wb") as log:
        line = [str(MOTO), "-H", "127.0.0.1", "-p", str(port)]
        running = subprocess.Popen(line, stdout=log, stderr=log, cwd=folder)
        try:
            server = Server("127.0.0.1", port)
            _wait_for(server, running, folder / "log")
            urlopen(Request(f"{server.url}/team", method="PUT")).close()
            yield server
        finally:
            running.kill()
            running.wait()


def _free_ports(number: int) -> list[int]:
    opened = [socket.socket() for _ in range(number)]
    for one in opened:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in opened]
    for one in opened:
        one.close()
    return ports


def _wait_for(server: Server, running: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server takes something in."""
    until = time.monotonic() + _LONGEST_START
    while not _answers(server):
        if running.poll() is not None or time.monotonic() > until:
            raise RuntimeError(log.read_text(errors="replace")[-2000:])
        time.sleep(0.1)


def _answers(server: Server) -> bool:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except OSError:
        return False
    finally:
        connection.close()


class Fault(NamedTuple):
    """What goes wrong with a request."""

    status: int = 0
    """The answer that is given in place of the server's."""
    code: str = "SlowDown"
    wait: float = 0.0
    """Seconds before anything happens."""
    cut: bool = False
    """Whether half of the answer is given, if there is any, and the connection closed."""


Choose = Callable[[str, str, int], Fault | None]
"""What goes wrong with a request, by its method, its path, and how many there were before it."""


class Proxy:
    """A way to a server on which things go wrong."""

    def __init__(self, server: Server) -> None:
        self.choose: Choose = lambda method, path, number: None
        self.requests = 0
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def _pass_on(self) -> None:
                number = proxy.requests
                proxy.requests += 1
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fault = proxy.choose(self.command, self.path, number) or Fault()
                time.sleep(fault.wait)
                if fault.status:
                    self._answer(fault.status, [], f"<Error><Code>{fault.code}</Code></Error>".encode())
                    return
                connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    connection.putheader(name, value)
                connection.endheaders(body)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                if fault.cut:
                    self._cut(answer, content)
                else:
                    self._answer(answer.status, answer.getheaders(), content)

            def _cut(self, answer: http.client.HTTPResponse, content: bytes) -> None:
                if content:
                    self.send_response(answer.status)
                    self._send_headers(answer.getheaders(), len(content))
                    self.wfile.write(content[: len(content) // 2])
                    self.wfile.flush()
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
                self.send_response(status)
                size = dict(headers).get("Content-Length", len(content))
                self._send_headers(headers, int(size) if self.command == "HEAD" else len(content))
                if self.command != "HEAD":
                    self.wfile.write(content)

            def _send_headers(self, headers: list[tuple[str, str]], size: int) -> None:
                kept = {"content-length", "transfer-encoding", "connection", "date", "server"}
                for name, value in headers:
                    if name.lower() not in kept:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(size))
                self.end_headers()

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass_on  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
