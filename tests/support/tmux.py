"""A real terminal that a test types into and looks at: a session of tmux."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 30.0
"""Seconds until something must be seen."""
_BETWEEN = 0.03
_ENVIRONMENT = {"LC_ALL": "C.UTF-8"}
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """One terminal, on a server of its own."""

    def __init__(self, socket: Path) -> None:
        self._server = ["tmux", "-S", str(socket), "-f", "/dev/null", "-u"]

    def begin(self, command: Sequence[str], folder: Path, size: tuple[int, int]) -> None:
        """Run a command on the terminal, and tell how it ended."""
        columns, lines = size
        where = ["-x", str(columns), "-y", str(lines), "-c", str(folder)]
        self._run("new-session", "-d", *where, "sh", "-c", f"{shlex.join(command)}; echo ended $?; exec cat")

    def press(self, *keys: str) -> None:
        """Press keys by the names that tmux has for them; what is no name is typed as it stands."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type some letters."""
        self._run("send-keys", "-l", text)

    def resize(self, columns: int, lines: int) -> None:
        """Make the terminal larger or smaller."""
        self._run("resize-window", "-x", str(columns), "-y", str(lines))

    def screen(self) -> str:
        """What is seen now."""
        return self._run("capture-pane", "-p")

    def wait_for(self, *texts: str) -> str:
        """What is seen as soon as all these texts are."""
        until = time.monotonic() + PATIENCE
        while not all(text in (seen := self.screen()) for text in texts):
            assert time.monotonic() < until, f"{texts} are not seen:\n{seen}"
            time.sleep(_BETWEEN)
        return seen

    def end(self) -> None:
        """End the server and all that it runs."""
        subprocess.run([*self._server, "kill-server"], check=False, capture_output=True)

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._server, *words], check=True, capture_output=True, text=True, timeout=30)
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
    variables = {**_ENVIRONMENT, **(environment or {})}
    tmux = Tmux(folder / "tmux.socket")
    tmux.begin(["env", *(f"{name}={value}" for name, value in variables.items()), *command], folder, size)
    try:
        yield tmux
    finally:
        tmux.end()
