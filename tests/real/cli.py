"""The real Gemini CLI and the real Claude Code in homes of their own, to see what they delete by themselves.

The programs see nothing of this machine but the path to programs, and no connection leaves it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any

from geminids.core import agents
from geminids.core.agents.fates import Forecast
from geminids.core.agents.homes import Home
from geminids.core.agents.resume import Circumstances
from geminids.core.agents.source import Source
from tests.real import programs
from tests.real.ours import Ours
from tests.support.reading import custodian_of

RUN_SECONDS = 90
START_SECONDS = 3
MODEL = "gemini-2.5-flash"
DAY = timedelta(days=1)

_BLOCK = """
const net = require('node:net');
const connect = net.Socket.prototype.connect;
const here = new Set(['127.0.0.1', '::1', 'localhost']);
net.Socket.prototype.connect = function (...given) {
  const first = Array.isArray(given[0]) ? given[0][0] : given[0];
  const to = typeof first === 'object' ? first : { port: first, host: given[1] };
  if (to.path || here.has(to.host ?? 'localhost')) return connect.apply(this, given);
  process.nextTick(() => this.destroy(new Error('no connection leaves this machine')));
  return this;
};
"""
SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "disableAutoUpdate": True},
    "ide": {"enabled": False, "hasSeenNudge": True},
    "tools": {"useRipgrep": False},
}
"""Those of somebody who answered all questions of a first start."""


def forecast_of(agent: Source, home: Home, circumstances: Circumstances) -> Forecast:
    """What we say of a home as it is."""
    fates = [fate for bundle in agent.scan(home).bundles for fate in agent.read_with_fates(bundle).fates]
    return custodian_of(agent).forecast(home, fates, circumstances)


def due(forecast: Forecast, now: datetime) -> set[str]:
    """The files that a start would delete now."""
    return {one.file for one in forecast.deletions if one.at is None or one.at < now}


def files_below(folder: Path) -> set[str]:
    """All files that are there."""
    return {str(path) for path in folder.rglob("*") if path.is_file()}


class GeminiDesk:
    """A home of Gemini CLI with one project, and one release that uses it."""

    def __init__(self, folder: Path, version: str) -> None:
        self.version = version
        self._folder = folder
        self._program = programs.gemini(version)
        self.project = folder / "work" / "shop"
        self.project.mkdir(parents=True)
        self.data = folder / "home" / ".gemini"
        self.chats = self.data / "tmp" / "shop" / "chats"
        self.chats.mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "bin" / "gemini").symlink_to(self._program)
        (folder / "block.cjs").write_text(_BLOCK)
        self.settle(self.data, {})
        self.register("shop", self.project)
        (self.data / "trustedFolders.json").write_text(json.dumps({str(self.project): "TRUST_FOLDER"}))

    def register(self, slug: str, project: Path) -> None:
        """Let the CLI call a project so."""
        (self.data / "projects.json").write_text(json.dumps({"projects": {str(project): slug}}))
        for place in ("tmp", "history"):
            (self.data / place / slug).mkdir(parents=True, exist_ok=True)
            (self.data / place / slug / ".project_root").write_text(str(project))

    def settle(self, folder: Path, retention: object) -> None:
        """Write settings into a folder: those of a start on this machine, and how long to keep sessions."""
        folder.mkdir(parents=True, exist_ok=True)
        general = SETTINGS["general"] | ({} if retention == {} else {"sessionRetention": retention})
        (folder / "settings.json").write_text(json.dumps(SETTINGS | {"general": general}))

    @property
    def environment(self) -> dict[str, str]:
        """All that the CLI sees of the outside."""
        return {
            "PATH": f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self._folder / "home"),
            "GEMINI_CLI_HOME": str(self._folder / "home"),
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(self._folder / "system" / "settings.json"),
            "GEMINI_API_KEY": "no-key",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "NODE_OPTIONS": f"--require {self._folder / 'block.cjs'}",
            "NO_BROWSER": "1",
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }

    def forecast(self, now: datetime | None = None) -> Forecast:
        """What we say."""
        circumstances = Circumstances(
            environment=self.environment,
            user_home=str(self._folder / "home"),
            here=str(self.project),
            now=now or datetime.now(UTC),
        )
        return forecast_of(agents.load("gemini"), Home("gemini", str(self.data), "given"), circumstances)

    def told(self) -> set[str]:
        """The files that a start would delete now, as our command says."""
        ours = Ours(self._folder / "home", self.project, self.environment["PATH"], self.environment)
        now = datetime.now(UTC)
        forecast = ours.ask(now, "keep")["forecast"]
        return {
            one["file"]
            for one in forecast["endangered"]
            if one["at"] is None or datetime.fromisoformat(one["at"]) < now
        }

    def starts(self, project: Path | None = None) -> bool:
        """Whether a start works at all: one that lists sessions and ends, perhaps before all is deleted."""
        return self._run("--list-sessions", project=project, address="http://127.0.0.1:9").returncode == 0

    def deleted_by_start(self, project: Path | None = None) -> set[str]:
        """What a start deletes that lasts some seconds. What comes into being meanwhile does not count."""
        before = files_below(self.data / "tmp")
        with slow_service(START_SECONDS) as (address, asked):
            ran = self._run("--model", MODEL, "--prompt", "Hello", project=project, address=address)
            assert asked.is_set(), ran.stdout + ran.stderr
        return {file for file in before - files_below(self.data / "tmp") if "/chats/" in file}

    def _run(self, *arguments: str, project: Path | None, address: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["node", str(self._program), *arguments],
            cwd=project or self.project,
            env={**self.environment, "GOOGLE_GEMINI_BASE_URL": address},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )


class ClaudeDesk:
    """A home of Claude Code with one project."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = programs.claude()
        self.project = folder / "alpha"
        self.project.mkdir()
        self.data = folder / "home" / ".claude"
        (self.data / "projects").mkdir(parents=True)
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {"hasCompletedOnboarding": True, "projects": {str(self.project): trusted}}
        (folder / "home" / ".claude.json").write_text(json.dumps(known))

    def forecast(self) -> Forecast:
        """What we say."""
        circumstances = Circumstances(
            environment={"PATH": "", "HOME": str(self._folder / "home")},
            user_home=str(self._folder / "home"),
            here=str(self.project),
            now=datetime.now(UTC),
        )
        return forecast_of(agents.load("claude"), Home("claude", str(self.data), "given"), circumstances)

    def deleted_in_session(self, seconds: float) -> set[str]:
        """What Claude Code deletes in the background of a session that lasts so long."""
        before = files_below(self.data / "projects")
        with slow_service(seconds) as (address, asked):
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": str(self._folder / "home"),
                "USER": "demo",
                "ANTHROPIC_BASE_URL": address,
                "ANTHROPIC_API_KEY": "sk-ant-no-key",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "DISABLE_AUTOUPDATER": "1",
                "LANG": "C.UTF-8",
                "TZ": "UTC",
            }
            subprocess.run(
                [self._program, "-p", "hello", "--output-format", "json", "--tools", "Read"],
                cwd=self.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=RUN_SECONDS,
                check=False,
            )
            assert asked.is_set()
        return before - files_below(self.data / "projects")


@contextmanager
def slow_service(seconds: float) -> Iterator[tuple[str, Event]]:
    """Stands in for the service: it lets the first request wait, and from then on refuses all."""
    asked, over = Event(), Event()
    waiting = Timer(seconds, over.set)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if "/messages" in self.path or ":streamGenerateContent" in self.path:
                if not asked.is_set():
                    asked.set()
                    waiting.start()
                over.wait()
            complaint = {"type": "invalid_request_error", "code": 400, "message": "That is all."}
            error = {"type": "error", "error": {**complaint, "status": "INVALID_ARGUMENT"}}
            answer = json.dumps(error).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        thread = Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}", asked
        finally:
            waiting.cancel()
            over.set()
            listening.shutdown()
            thread.join()


def redated(content: str, used: datetime) -> str:
    """A recorded file as if it was last used then."""
    told = f"{used.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    return re.sub(r'("(?:lastUpdated|startTime)"\s*:\s*")[^"]*"', rf'\g<1>{told}"', content)


def as_json_lines(*records: Mapping[str, Any]) -> str:
    """Records as a log has them."""
    return "".join(json.dumps(record) + "\n" for record in records)
