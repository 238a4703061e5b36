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
from pathlib import Path
from typing import Self

from tests.conftest import NOW

RUN = """
import sys
from datetime import datetime
from geminids.faces.cli.main import run
sys.exit(run(sys.argv[2:], now=datetime.fromisoformat(sys.argv[1])))
"""


RUN_BY_KEYS = f"""
import fcntl, termios
from geminids.core.signals import end_like_interrupt
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
end_like_interrupt()
{RUN}
"""
DRAWN_LINE = re.compile(r"\x1b\[(\d+);1H\x1b\[2K((?:[^\x1b]|\x1b\[[0-9;]*m)*)")
CLEARED_ALL = "\x1b[2J"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
CLEARED = re.compile(r"\r[^\n]*\r\x1b\[2K")
"""How far a slow work was, which nobody sees any more when it is done."""


SILENT = 120
"""Seconds after which nobody expects a command to say anything more."""
LESS_WAITS = re.compile(rb":(\x1b\[K)?$")
"""How a screen of less ends while there is more."""


def on_terminal(
    *arguments: object,
    columns: int = 80,
    now: str = NOW.isoformat(),
    keys: str = "",
    code: int = 0,
    **environment: str,
) -> str:
    """Run the command on a terminal of its own, which ends with a code; returns what appeared there.

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
    while piece := _read_soon(ours, child):
        seen += piece
        if keys and LESS_WAITS.search(seen):
            os.write(ours, keys.encode())
            keys = ""
    os.close(ours)
    assert child.wait(30) == code, seen
    return CLEARED.sub("", seen.decode().replace("\r\n", "\n"))


class LiveScreen:
    """A terminal on which a command runs that draws over it again and again, and takes keys."""

    def __init__(self, *arguments: object, columns: int = 80, now: str = NOW.isoformat()) -> None:
        """Start it."""
        self._ours, theirs = pty.openpty()
        self._theirs = theirs
        self.resize(columns)
        self.child = subprocess.Popen(
            [sys.executable, "-c", RUN_BY_KEYS, now, *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # As Python knows it: C code of others may have set COLUMNS behind its back.
            env=dict(os.environ),
        )
        self.seen = ""

    def __enter__(self) -> LiveScreen:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def resize(self, columns: int, lines: int = 24) -> None:
        """Make it as large."""
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys: str) -> None:
        """Type something."""
        os.write(self._ours, keys.encode())

    def echoes(self) -> bool:
        """Whether what is typed is shown, as on any terminal that nobody changed."""
        return bool(termios.tcgetattr(self._theirs)[3] & termios.ECHO)

    def wait_for(self, *words: str, longest: float = 30) -> str:
        """The last picture, once it has all these words."""
        until = time.monotonic() + longest
        while not all(word in self.picture() for word in words):
            assert time.monotonic() < until, (words, self.seen[-3000:])
            self._look()
        return self.picture()

    def wait_for_quiet(self, seconds: float = 2, longest: float = 30) -> str:
        """All that was seen, once something was and nothing more comes for a while."""
        until = time.monotonic() + longest
        before, since = "", time.monotonic()
        while not before or time.monotonic() < since + seconds:
            assert time.monotonic() < until, self.seen[-3000:]
            self._look()
            if self.seen != before:
                before, since = self.seen, time.monotonic()
        return self.seen

    def ended(self, longest: float = 30) -> int:
        """The exit code, once it has ended."""
        until = time.monotonic() + longest
        while self.child.poll() is None:
            assert time.monotonic() < until, self.seen[-3000:]
            self._look()
        self._look()
        return self.child.returncode

    def picture(self) -> str:
        """What is seen now: each line as it was drawn last."""
        lines = {
            int(number): line for number, line in DRAWN_LINE.findall(self.seen.rpartition(CLEARED_ALL)[2])
        }
        return ESCAPES.sub("", "\n".join(line for _, line in sorted(lines.items())))

    def _look(self) -> None:
        if select.select([self._ours], [], [], 0.05)[0]:
            self.seen += os.read(self._ours, 65536).decode("utf-8", "replace")


def _read_soon(descriptor: int, child: subprocess.Popen[bytes]) -> bytes:
    """What appears next; a command that says nothing for so long waits for keys, and is ended."""
    if not select.select([descriptor], [], [], SILENT)[0]:
        child.kill()
    return _read(descriptor)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux reports the end of a terminal's other side as an error.
        return b""


class Terminal:
    """A shell on a terminal of its own, as somebody has it open beside others."""

    def __init__(self, columns: int = 80, folder: Path | None = None) -> None:
        """Start it in a folder, else in the one that is current."""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        settings = termios.tcgetattr(theirs)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
        # Who leads a session takes the first terminal that he opens, and with it Ctrl-C.
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", 'exec /bin/sh -i <>"$0" >&0 2>&1', os.ttyname(theirs)],
            env=os.environ | {"PS1": "", "PS2": "", "ENV": ""},
            cwd=folder,
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
