"""Running the command on a real terminal of any width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from tests.conftest import NOW

RUN = """
import sys
from datetime import datetime
from geminids.faces.cli.main import run
sys.exit(run(sys.argv[2:], now=datetime.fromisoformat(sys.argv[1])))
"""


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


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux reports the end of a terminal's other side as an error.
        return b""
