"""Running the command on real terminals: once on one of any width, or from a shell on one that stays open."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from typing import Self

from tests.conftest import NOW

RUN = """
import sys
from datetime import datetime
from geminids.faces.cli.main import run
sys.exit(run(sys.argv[2:], now=datetime.fromisoformat(sys.argv[1])))
"""


CLEARED = re.compile(r"\r[^\n]*\r\x1b\[2K")
"""How far a slow work was, which nobody sees any more when it is done."""


LESS_WAITS = re.compile(rb":(\x1b\[K)?$")
"""How a screen of less ends while there is more."""


def on_terminal(
    *arguments: object, columns: int = 80, now: str = NOW.isoformat(), keys: str = "", **environment: str
) -> str:
    """Run the command on a terminal of its own; returns what appeared there.

    Nobody sits there who could leave a pager, so there is none unless the environment names one; what less
    waits for, if it does, are `keys`.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, now, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"PAGER": ""} | environment,
    )
    os.close(theirs)
    seen = bytearray()
    while piece := _read(ours):
        seen += piece
        if keys and LESS_WAITS.search(seen):
            os.write(ours, keys.encode())
            keys = ""
    os.close(ours)
    assert child.wait(30) == 0, seen
    return CLEARED.sub("", seen.decode().replace("\r\n", "\n"))


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux reports the end of a terminal's other side as an error.
        return b""


class Terminal:
    """A shell on a terminal of its own, as somebody has it open beside others."""

    def __init__(self, columns: int = 80) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        settings = termios.tcgetattr(theirs)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
        # Who leads a session takes the first terminal that he opens, and with it Ctrl-C.
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", 'exec /bin/sh -i <>"$0" >&0 2>&1', os.ttyname(theirs)],
            env=os.environ | {"PS1": "", "PS2": "", "ENV": ""},
            start_new_session=True,
        )
        self._theirs = theirs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shell.kill()
        self.shell.wait()
        os.close(self._theirs)
        os.close(self._ours)

    def type(self, text: str) -> None:
        """Press keys: a line ends with a line feed, Ctrl-C is `\\x03`."""
        os.write(self._ours, text.encode())

    def until(self, pattern: str, seconds: float = 30.0) -> str:
        """Wait until a pattern appears; all that appeared since the last time."""
        seen, deadline = bytearray(), time.monotonic() + seconds
        while not re.search(pattern, seen.decode(errors="replace")):
            left = deadline - time.monotonic()
            assert select.select([self._ours], [], [], max(left, 0))[0], f"{pattern}: {seen.decode()!r}"
            seen += _read(self._ours)
        return seen.decode(errors="replace").replace("\r\n", "\n")

    def run(self, *arguments: object) -> tuple[int, str]:
        """Run the command to its end; its exit code, and what appeared."""
        self.start(*arguments)
        return self.finish()

    def start(self, *arguments: object, python: Sequence[str] = ("-m", "geminids")) -> None:
        """Run the command, and do not wait for it."""
        self.type(shlex.join([sys.executable, *python, *map(str, arguments)]) + "; echo ended $?\n")

    def finish(self) -> tuple[int, str]:
        """Wait for the command; its exit code, and what appeared."""
        seen, _, code = self.until(r"ended \d+\r\n").rpartition("ended ")
        return int(code), CLEARED.sub("", seen)
