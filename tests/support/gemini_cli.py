"""The real Gemini CLI in tests: installed once, in a home of its own, talking to this machine only.

The environment variable GEMINIDS_TEST_CLI names a folder that has it installed; else npm installs it into the
cache of the tests. A module that is loaded before the CLI refuses every connection that leaves the machine.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

VERSION = "0.61.0"
PACKAGE = "@google/gemini-cli"
INSTALL_SECONDS = 180
RUN_SECONDS = 60
MODEL = "gemini-2.5-flash"
REPLY = "The server on this machine has heard it."

_BLOCK = """
const net = require('node:net');
const connect = net.Socket.prototype.connect;
const here = new Set(['127.0.0.1', '::1', 'localhost']);
net.Socket.prototype.connect = function (...args) {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0];
  const to = typeof first === 'object' ? first : { port: first, host: args[1] };
  if (to.path || here.has(to.host ?? 'localhost')) return connect.apply(this, args);
  process.stderr.write(`REFUSED ${to.host}\\n`);
  process.nextTick(() => this.destroy(new Error('no connection leaves this machine')));
  return this;
};
"""
_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "ide": {"enabled": False, "hasSeenNudge": True},
    "tools": {"useRipgrep": False},
}


class NoCliError(Exception):
    """Gemini CLI cannot be had here, and why."""


class Ran(NamedTuple):
    """What a run of the CLI gave back."""

    code: int
    out: str
    err: str


def installed_cli(cache: Path) -> Path:
    """The program of Gemini CLI, installed if need be. Raises NoCliError."""
    if not shutil.which("node"):
        raise NoCliError("there is no node on this machine")
    given = os.environ.get("GEMINIDS_TEST_CLI")
    folder = Path(given) if given else cache / f"gemini-cli-{VERSION}"
    if not given:
        _install(folder)
    package = folder / "node_modules" / PACKAGE
    try:
        about = json.loads((package / "package.json").read_bytes())
    except OSError as error:
        raise NoCliError(f"{PACKAGE} is not in {folder}: {error.strerror}") from error
    if about["version"] != VERSION:
        raise NoCliError(f"{folder} has {about['version']}, not {VERSION}")
    return package / str(about["bin"]["gemini"])


def _install(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "gemini-cli.lock").open("w") as lock:
        # Tests run in several processes; one installs, the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            installed_by_npm(folder, f"{PACKAGE}@{VERSION}")


def installed_by_npm(folder: Path, package: str, optional: str = "--omit=optional") -> None:
    """Install a package into a folder, which is there once all is in it. Raises NoCliError."""
    npm = shutil.which("npm")
    if not npm:
        raise NoCliError("there is no npm on this machine")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    line = [npm, "install", "--prefix", str(part), "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        ran = subprocess.run(
            [*line, optional, package],
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NoCliError(f"npm did not install it within {INSTALL_SECONDS} seconds") from error
    if ran.returncode:
        raise NoCliError(f"npm could not install it: {ran.stderr.strip()[-300:]}")
    part.rename(folder)


class Server:
    """Stands in for the API: answers everything with one reply and keeps what was asked."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        """What the model asks for first: the end of a tool's name, and its arguments."""

    def conversations(self) -> list[list[dict[str, Any]]]:
        """The contents of all requests that continue a conversation: those that offer tools."""
        return [
            body["contents"]
            for path, body in self.requests
            if path.endswith(":streamGenerateContent") and body.get("tools")
        ]


@contextmanager
def loopback_server() -> Iterator[Server]:
    """A server on this machine, for as long as it is needed."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            path = self.path.partition("?")[0]
            server.requests.append((path, body))
            streamed = path.endswith(":streamGenerateContent")
            answer = json.dumps(_answer(path, body, server.calls)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
            self.end_headers()
            self.wfile.write(b"data: " + answer + b"\r\n\r\n" if streamed else answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server = Server(f"http://127.0.0.1:{listening.server_address[1]}")
        thread = Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def _answer(path: str, body: Mapping[str, Any], calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    if path.endswith(":countTokens"):
        return {"totalTokens": 1}
    if calls and (name := _offered_tool(body, calls[0][0])):
        _, arguments = calls.pop(0)
        return _answered({"functionCall": {"name": name, "args": arguments}})
    wants_json = "responseJsonSchema" in (body.get("generationConfig") or {})
    # Which model to take, and who speaks next: a reply that is no JSON is asked for again and again.
    chosen = {"reasoning": "", "model_choice": "flash", "next_speaker": "user"}
    return _answered({"text": json.dumps(chosen) if wants_json else REPLY})


def _offered_tool(body: Mapping[str, Any], ending: str) -> str | None:
    """The tool of a request whose name ends so."""
    offered = (
        one["name"] for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ())
    )
    return next((name for name in offered if name.endswith(ending)), None)


def _answered(part: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": MODEL,
    }


class ScratchHome:
    """A home with one project, in which the CLI is run."""

    def __init__(self, folder: Path, program: Path, server: Server) -> None:
        self._program = program
        self._server = server
        self._folder = folder
        self.project = folder / "work" / "shop"
        self.project.mkdir(parents=True)
        self._agent_home = folder / "home" / ".gemini"
        self.chats = self._agent_home / "tmp" / "shop" / "chats"
        self.chats.mkdir(parents=True)
        (folder / "block.cjs").write_text(_BLOCK)
        (self._agent_home / "settings.json").write_text(json.dumps(_SETTINGS))
        (self._agent_home / "projects.json").write_text(json.dumps({"projects": {str(self.project): "shop"}}))
        for place in ("tmp", "history"):
            (self._agent_home / place / "shop").mkdir(parents=True, exist_ok=True)
            (self._agent_home / place / "shop" / ".project_root").write_text(str(self.project))

    def run(self, *arguments: str) -> Ran:
        """Run the CLI with nothing of this machine's environment but the path to programs."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder / "home"),
            "GEMINI_CLI_HOME": str(self._folder / "home"),
            "GEMINI_API_KEY": "no-key",
            "GOOGLE_GEMINI_BASE_URL": self._server.address,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "NODE_OPTIONS": f"--require {self._folder / 'block.cjs'}",
            "NO_BROWSER": "1",
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        ran = subprocess.run(
            ["node", str(self._program), *arguments],
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert not re.search(r"^REFUSED", ran.stderr, re.MULTILINE), ran.stderr
        return Ran(ran.returncode, ran.stdout, ran.stderr)
