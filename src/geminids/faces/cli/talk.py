"""What we say beside the data: on stderr, one message at a time."""

from __future__ import annotations

import os
import sys


def say(message: str) -> None:
    """Tell the person something; if nobody can hear it, go on."""
    from geminids.faces.drawing.wrapping import wrapped
    from geminids.sharing.transcript import safe

    told = f"geminids: {safe.text(message)}"
    if width := stderr_width():
        told = wrapped(told, width)
    try:
        print(told, file=sys.stderr, flush=True)
    except OSError:
        # A closed or full stderr is no reason to stop giving out data.
        return


def stderr_width() -> int | None:
    """The columns of the terminal that stderr goes to; None if it goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return None


def cut(line: str, width: int) -> str:
    """As much of a line as fits."""
    return line if len(line) <= width else f"{line[: width - 1]}…"
