"""A real terminal that a test types into and looks at: a session of tmux."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 20.0
"""Seconds until something must be seen."""
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """One terminal, on a server of its own."""

    def __init__(self, socket: Path) -> None:
        self._server = ["tmux", "-S", str(socket), "-f", "/dev/null"]

    def begin(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, size: tuple[int, int]
    ) -> None:
        """Run a command in a shell on the terminal."""
        columns, lines = size
        variables = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        shell = ["sh", "-c", f"{shlex.join(command)}; echo ended $?; exec cat"]
        self._run(
            "new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(folder), *variables, *shell
        )

    def press(self, *keys: str) -> None:
        """Press keys by the names that tmux has for them."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type some letters."""
        self._run("send-keys", "-l", text)

    def resize(self, columns: int, lines: int) -> None:
        """Make the terminal larger or smaller."""
        self._run("resize-window", "-x", str(columns), "-y", str(lines))

    def screen(self, *, with_escapes: bool = False) -> str:
        """What is seen now."""
        return self._run("capture-pane", "-p", *(["-e"] if with_escapes else []))

    def wait_for(self, text: str) -> str:
        """What is seen as soon as some text is."""
        until = time.monotonic() + PATIENCE
        while text not in (seen := self.screen()):
            assert time.monotonic() < until, f"{text!r} is not seen:\n{seen}"
            time.sleep(0.02)
        return seen

    def end(self) -> None:
        """End the server and all that it runs."""
        subprocess.run([*self._server, "kill-server"], check=False, capture_output=True)

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._server, *words], check=True, capture_output=True, text=True)
        return done.stdout


@contextmanager
def terminal(
    command: Sequence[str],
    folder: Path,
    *,
    size: tuple[int, int] = (80, 24),
    environment: Mapping[str, str] | None = None,
) -> Iterator[Tmux]:
    """A terminal on which a command runs, in a folder."""
    passed = {name: os.environ[name] for name in ("PATH", "GEMINIDS_DATA", "HOME") if name in os.environ}
    tmux = Tmux(folder / "tmux.socket")
    tmux.begin(command, {**passed, "LC_ALL": "C.UTF-8", **(environment or {})}, folder, size)
    try:
        yield tmux
    finally:
        tmux.end()
