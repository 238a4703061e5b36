"""Real shells on a terminal of their own, in which Tab is pressed."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest


SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
QUIET = 0.4
"""Seconds without output after which a shell has said all it has to say."""
PATIENCE = 30.0
PROMPT = "here> "
_PROMPTS = {
    "bash": f"PS1='{PROMPT}'",
    "zsh": f"PROMPT='{PROMPT}'; unsetopt prompt_sp; zmodload zsh/zle",
    "fish": f"function fish_prompt; echo -n '{PROMPT}'; end",
}
_ESCAPES = re.compile(r"\x1b\[[0-9;?>=<]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\x1b[=>78kM]|\x0f")


class Shell:
    """A shell that somebody sits at."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal

    def type(self, keys: str, until: str = "") -> str:
        """What appears after some keys: until there is this, if it is named, and then nothing more comes."""
        os.write(self._terminal, keys.encode())
        seen = b""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([self._terminal], [], [], QUIET)[0]:
                seen += os.read(self._terminal, 65536)
            elif not until or until in _text(seen):
                break
        else:
            raise AssertionError(f"{until!r} did not appear:\n{_text(seen)}")
        return _text(seen)

    def complete(self, line: str, until: str, tabs: int = 1) -> str:
        """What a line becomes, and what is offered beside it, when Tab is pressed; then all is taken back."""
        self.type(line)
        seen = self.type("\t" * tabs, until)
        self.type("\x03")
        return seen


@contextmanager
def shell(name: str, folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Shell]:
    """A shell that has loaded our completion; one that is not there skips the test and says so."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: its completion was not tested")
    script = folder / f"completion.{name}"
    script.write_bytes(subprocess.check_output([sys.executable, "-m", "geminids", "completion", name]))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    child = subprocess.Popen(
        SHELLS[name],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        start_new_session=True,
        env=os.environ | {"PATH": programs, "TERM": "xterm", "LANG": "C.UTF-8"} | dict(environment or {}),
    )
    os.close(theirs)
    try:
        begun = Shell(ours)
        begun.type("")
        begun.type(f" {_PROMPTS[name]}\r", PROMPT)
        begun.type(f" source {script}\r", PROMPT)
        yield begun
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def _text(seen: bytes) -> str:
    return _ESCAPES.sub("", seen.decode("utf-8", "replace"))
