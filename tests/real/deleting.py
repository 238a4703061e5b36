"""The real Gemini CLI of any release, in a home of its own, on a clock that can be set: it loses sessions.

Beside it our own command is run, in the same home and by the same clock. No connection leaves the machine.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.real import programs
from tests.real.ours import Document, Ours
from tests.support.gemini_cli import MODEL, RUN_SECONDS, Ran, Server

READY = re.compile(r"Type your message")
WAIT_SECONDS = 60
COLUMNS, LINES = 150, 50
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)

_LOADED_FIRST = """
const net = require('node:net');
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const first = Array.isArray(given[0]) ? given[0][0] : given[0];
  const to = typeof first === 'object' ? first : { host: given[1] };
  if (to.path || ['127.0.0.1', '::1', 'localhost'].includes(to.host ?? 'localhost')) {
    return connect.apply(this, given);
  }
  process.nextTick(() => this.destroy(new Error('no connection leaves this machine')));
  return this;
};
const shift = Number(process.env.CLOCK_SHIFT_MS);
const TrueDate = Date;
globalThis.Date = class extends TrueDate {
  constructor(...given) { if (given.length) super(...given); else super(TrueDate.now() + shift); }
  static now() { return TrueDate.now() + shift; }
};
"""
"""The clock is that of the CLI, not that of the disk: sessions are dated by what is written in them."""
_SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {
        "disableAutoUpdate": True,
        "disableUpdateNag": True,
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
    },
    "ui": {"theme": "Default", "hideTips": True, "hideBanner": True, "showHomeDirectoryWarning": False},
    "ide": {"enabled": False, "hasSeenNudge": True},
    "tools": {"useRipgrep": False},
}
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_=>78])")


class Machine:
    """A home with one project, some release of the CLI, and a clock."""

    def __init__(
        self, folder: Path, version: str, server: Server, general: dict[str, Any] | None = None
    ) -> None:
        """With what its user has settled in general, if anything."""
        self._folder = folder
        self._server = server
        self._ahead = timedelta()
        self.project = folder / "work" / "shop"
        self.project.mkdir(parents=True)
        self.data = folder / "home" / ".gemini"
        self.data.mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "loaded-first.cjs").write_text(_LOADED_FIRST)
        settings = _SETTINGS | {"general": _SETTINGS["general"] | (general or {})}
        (self.data / "settings.json").write_text(json.dumps(settings))
        self.use(version)

    def use(self, version: str) -> None:
        """Install a release, instead of the one before."""
        self.version = version
        program = self._folder / "bin" / "gemini"
        program.unlink(missing_ok=True)
        program.symlink_to(programs.gemini(version))

    def later(self, by: timedelta) -> None:
        """Let time go by."""
        self._ahead += by

    def geminids(self, *words: str, codes: Collection[int] = (0,)) -> Document:
        """What our command answers somebody who sits at this machine."""
        return self._ours.ask(self._now, *words, codes=codes)

    def sessions(self, *words: str) -> list[Document]:
        """What our command lists."""
        return self._ours.sessions(self._now, *words)

    def kept(self, title: str) -> str:
        """Keep copies of all that is there; the id of the session that is called so."""
        self.geminids("sync")
        (session,) = (one for one in self.sessions() if one["title"] == title)
        assert not session["kept"], "it is gone already"
        return str(session["native_id"])

    def restored(self, native_id: str) -> Document:
        """Put a session back that the CLI deleted; what was written."""
        return self._ours.restored(self._now, f"gemini:{native_id}")

    @property
    def _now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    @property
    def _ours(self) -> Ours:
        return Ours(self._folder / "home", self.project, str(self._folder / "bin"))

    def session_files(self) -> list[Path]:
        """The files of sessions in all folders of projects."""
        return sorted(file for file in self.data.glob("tmp/*/chats/*") if file.suffix in (".json", ".jsonl"))

    def run(self, *arguments: str, project: Path | None = None) -> Ran:
        """Run the CLI without a terminal."""
        ran = subprocess.run(
            self._words(arguments),
            cwd=project or self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def say(self, prompt: str, *arguments: str, project: Path | None = None) -> list[dict[str, Any]]:
        """Ask something; what the CLI then sent to the model."""
        before = len(self._server.conversations())
        ran = self.run(*arguments, "--model", MODEL, "--prompt", prompt, project=project)
        assert ran.code == 0, ran.err
        return self._server.conversations()[before]

    def listed(self) -> str:
        """What the CLI lists, by which it also cleans up."""
        ran = self.run("--list-sessions")
        # Older releases write the list where others write what is wrong.
        return ran.out + ran.err

    @contextmanager
    def terminal(self, *arguments: str) -> Iterator[Terminal]:
        """The CLI in a terminal, ready to be typed to; ended with the block."""
        terminal = Terminal(self._words(arguments), self.project, self._environment())
        try:
            terminal.wait_for(READY)
            yield terminal
        finally:
            terminal.close()

    def _words(self, arguments: tuple[str, ...]) -> list[str]:
        return ["node", str(self._folder / "bin" / "gemini"), *arguments]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder / "home"),
            "GEMINI_CLI_HOME": str(self._folder / "home"),
            "GEMINI_API_KEY": "no-key",
            "GOOGLE_GEMINI_BASE_URL": self._server.address,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "NODE_OPTIONS": f"--require {self._folder / 'loaded-first.cjs'}",
            "CLOCK_SHIFT_MS": str(int(self._ahead / timedelta(milliseconds=1))),
            "NO_BROWSER": "1",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TZ": "UTC",
        }


class Terminal:
    """One run of the CLI in a terminal of its own."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._child = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._seen = ""

    def wait_for(self, what: re.Pattern[str]) -> None:
        """Read until this appears that was not there before."""
        end = time.monotonic() + WAIT_SECONDS
        while not what.search(self._seen):
            assert time.monotonic() < end, self._seen[-2000:]
            assert self._read(0.5), f"the CLI has ended: {self._seen[-2000:]}"
        self._seen = ""

    def rest(self, seconds: float) -> None:
        """Let the CLI do what it does by itself."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._read(left):
            pass

    def say(self, prompt: str, answer: str) -> None:
        """Type a prompt, and wait for the answer."""
        self.type(prompt)
        self.wait_for(re.compile(re.escape(answer)))
        self.rest(2)

    def type(self, text: str) -> None:
        """Type a line. Its end comes late enough not to be taken for that of something pasted."""
        for piece in text:
            os.write(self._ours, piece.encode())
            self.rest(0.05)
        self.rest(0.7)
        os.write(self._ours, b"\r")

    def leave(self) -> None:
        """Go as people do, and wait until all is done that is done then."""
        self.type("/quit")
        end = time.monotonic() + WAIT_SECONDS
        while self._child.poll() is None and time.monotonic() < end:
            self.rest(0.2)
        assert self._child.poll() is not None, self._seen[-2000:]

    def close(self) -> None:
        """End the CLI if it has not ended."""
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait(10)
        os.close(self._ours)

    def _read(self, seconds: float) -> bool:
        """Read what there is, within some time; False if nothing comes any more."""
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if not ready:
            return self._child.poll() is None
        try:
            piece = os.read(self._ours, 65536)
        except OSError:
            # Linux reports the end of a terminal's other side as an error.
            return False
        self._seen += _ESCAPE.sub("", piece.decode(errors="replace"))
        return True
