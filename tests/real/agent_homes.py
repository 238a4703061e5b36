"""Homes in which one agent is run, beside our own command: whole runs, and at a terminal that is left.

The agents talk to servers on this machine only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.real.deleting import Terminal

API_KEY = "no-key-of-anybody-at-all"
LONGEST_RUN = 90.0
LONGEST_SYNC = 20.0

WATCHED = """#!/bin/sh
began=$(date +%s%N)
'{command}' "$@" >'{told}/'$$.out 2>'{told}/'$$.err
code=$?
ended=$(date +%s%N)
echo "$code $(( (ended - began) / 1000000 )) $*" >>'{told}/calls'
cat '{told}/'$$.out
cat '{told}/'$$.err >&2
exit $code
"""
"""Stands before our own command and notes how it was called, how long it took and what it said."""


class Call(NamedTuple):
    """One call of the hook by an agent."""

    code: int
    milliseconds: int
    words: str


class Ended(NamedTuple):
    """A run of an agent."""

    out: str
    err: str
    seconds: float
    at: float
    """When it ended, by the clock."""


class AgentHome:
    """A home with one agent, which finds our command on its path."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "orchard"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self._told = folder / "told"
        self._told.mkdir()
        self.programs = folder / "bin"
        self.programs.mkdir()
        ours = Path(sys.executable).with_name("geminids")
        if not ours.exists():
            pytest.skip(f"no geminids beside {sys.executable}: no agent called it")
        (self.programs / "geminids").write_text(WATCHED.format(command=ours, told=self._told))
        (self.programs / "geminids").chmod(0o755)

    @property
    def path(self) -> str:
        """Where programs are looked for, ours first."""
        return f"{self.programs}{os.pathsep}{os.environ['PATH']}"

    @property
    def data(self) -> Path:
        """Our own folder in this home."""
        return self.home / ".local" / "share" / "geminids"

    def calls(self) -> list[Call]:
        """How the agent called our command."""
        path = self._told / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [Call(int(code), int(took), words) for code, took, words in (x.split(" ", 2) for x in lines)]

    def said(self) -> set[tuple[str, str]]:
        """What our command printed, and what it complained about, in all of its calls."""
        return {(out.read_text(), out.with_suffix(".err").read_text()) for out in self._told.glob("*.out")}

    def ended(self, *line: str | Path, **environment: str) -> Ended:
        """Run an agent to its end, with nothing of this machine's environment."""
        began = time.monotonic()
        ran = subprocess.run(
            list(map(str, line)),
            cwd=self.project,
            env={
                "PATH": self.path,
                "HOME": str(self.home),
                "LANG": "C.UTF-8",
                "TZ": "UTC",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_RUN,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return Ended(ran.stdout, ran.stderr, time.monotonic() - began, time.time())

    def wait_for_sync(self) -> float:
        """Wait until a sync has ended: when that was."""
        log = self.data / "hook.log"
        until = time.monotonic() + LONGEST_SYNC
        while not (log.exists() and log.stat().st_size):
            assert time.monotonic() < until, f"no sync; calls of the hook: {self.calls()}"
            time.sleep(0.05)
        return log.stat().st_mtime

    def sessions(self, *options: str) -> list[dict[str, Any]]:
        """What we list."""
        line = [sys.executable, "-m", "geminids", "list", "--json", *options]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TZ": "UTC"}
        ran = subprocess.run(line, env=environment, capture_output=True, check=True, timeout=60)
        sessions: list[dict[str, Any]] = json.loads(ran.stdout)["sessions"]
        return sessions


@contextmanager
def left_terminal(line: list[str | Path], agent_home: AgentHome, **environment: str) -> Iterator[Terminal]:
    """An agent at a terminal, which is gone when the block ends."""
    terminal = Terminal(
        list(map(str, line)),
        agent_home.project,
        {
            "PATH": agent_home.path,
            "HOME": str(agent_home.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **environment,
        },
    )
    try:
        yield terminal
    finally:
        terminal.close()


def claude_environment(address: str) -> dict[str, str]:
    """Claude Code talks to this address only."""
    return {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": API_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


CODEX_SETTINGS = """\
model = "gpt-5.5"
model_provider = "loopback"
approval_policy = "never"
{notify}
[model_providers.loopback]
name = "loopback"
base_url = "{address}"
wire_api = "responses"
request_max_retries = 1

[analytics]
enabled = false
"""
