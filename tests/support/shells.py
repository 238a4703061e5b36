"""Real shells in a real terminal (tmux), in which Tab is pressed and the screen is read."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.support.tmux import Tmux, terminal

SHELLS = {
    "bash": "bash --norc --noprofile -i",
    "zsh": "zsh -f -i",
    "fish": "fish --no-config -i",
}
READY = "ready-"
_OURS = ("HOME", "XDG_DATA_HOME", "GEMINIDS_HOMES", "GEMINIDS_DATA", "TZ")


class Shell:
    """A shell that somebody sits at."""

    def __init__(self, tmux: Tmux) -> None:
        self._tmux = tmux
        self._numbers = count(1)

    def type(self, *keys: str) -> None:
        """Press keys by their names; what is no name is typed as it stands."""
        self._tmux.press(*keys)

    def until(self, *awaited: str) -> str:
        """The screen, as soon as all of this stands on it."""
        return self._tmux.wait_for(*awaited)

    def completed(self, line: str, *awaited: str, tabs: int = 1) -> str:
        """The screen after Tab, as soon as all of this stands on it; then the line is given up."""
        self.type(line)
        self.until(line.rstrip())
        self.type(*["Tab"] * tabs)
        seen = self.until(*awaited)
        self.type("C-c")
        self.clear()
        return seen

    def clear(self) -> None:
        """Begin on an empty screen, when the shell is ready for the next line."""
        ready = f"{READY}{next(self._numbers)}"
        # What is typed is not what is answered.
        self.type(f"clear; echo {ready[:3]}''{ready[3:]}", "Enter")
        self.until(ready)


@contextmanager
def shell(name: str, folder: Path) -> Iterator[Shell]:
    """A shell that has loaded our completion; where it is not to be had, the test is skipped and says so."""
    for program in (name, "tmux"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: the completion of {name} was not tested")
    script = folder / f"completion.{name}"
    script.write_bytes(subprocess.check_output([sys.executable, "-m", "geminids", "completion", name]))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {variable: os.environ[variable] for variable in _OURS if variable in os.environ}
    given = kept | {"PATH": programs, "HISTFILE": "/dev/null"}
    with terminal(SHELLS[name].split(), folder, size=(160, 50), environment=given) as tmux:
        sat_at = Shell(tmux)
        sat_at.type(f"source {shlex.quote(str(script))}", "Enter")
        sat_at.clear()
        yield sat_at
