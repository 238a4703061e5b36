"""Running the command on a real terminal of any width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

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
PICTURE = re.compile(r"\x1b\[H(.*?)\x1b\[J", re.DOTALL)
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
CLEARED = re.compile(r"\r[^\n]*\r\x1b\[2K")
"""How far a slow work was, which nobody sees any more when it is done."""


def on_terminal(
    *arguments: object, columns: int = 80, now: str = NOW.isoformat(), code: int = 0, **environment: str
) -> str:
    """Run the command on a terminal of its own, which ends with a code; returns what appeared there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, now, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | environment,
    )
    os.close(theirs)
    seen = bytearray()
    while piece := _read(ours):
        seen += piece
    os.close(ours)
    assert child.wait(30) == code, seen
    return CLEARED.sub("", seen.decode().replace("\r\n", "\n"))


class Terminal:
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

    def __enter__(self) -> Terminal:
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

    def ended(self, longest: float = 30) -> int:
        """The exit code, once it has ended."""
        until = time.monotonic() + longest
        while self.child.poll() is None:
            assert time.monotonic() < until, self.seen[-3000:]
            self._look()
        self._look()
        return self.child.returncode

    def picture(self) -> str:
        """What was drawn last from the top to the end."""
        pictures = PICTURE.findall(self.seen)
        return ESCAPES.sub("", pictures[-1]) if pictures else ""

    def _look(self) -> None:
        if select.select([self._ours], [], [], 0.05)[0]:
            self.seen += os.read(self._ours, 65536).decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux reports the end of a terminal's other side as an error.
        return b""
