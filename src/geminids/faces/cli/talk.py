"""What we say beside the data: on stderr, one message at a time."""

from __future__ import annotations

import os
import sys

_CONTINUED = "  "
"""How a line begins that goes on with the one before."""


def say(message: str) -> None:
    """Tell the person something; if nobody can hear it, go on."""
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


def wrapped(message: str, width: int, continued: str = _CONTINUED) -> str:
    """A message in lines of a width, broken between words and never in a command that may be copied.

    What stands below others, as `^` below a letter, stays as it is. `continued` begins a line that goes on.
    """
    if width <= len(continued) or max(map(len, message.split("\n"))) <= width:
        return message
    lines = message.split("\n")
    return "\n".join(line if line.startswith(" ") else _filled(line, width, continued) for line in lines)


def _filled(line: str, width: int, continued: str) -> str:
    filled = [""]
    for word in _words(line):
        if not filled[-1].strip():
            filled[-1] += word
        elif len(filled[-1]) + 1 + len(word) <= width:
            filled[-1] += f" {word}"
        else:
            filled.append(continued + word)
    return "\n".join(filled)


def _words(line: str) -> list[str]:
    """The words between blanks; what stands in backticks is one."""
    words: list[str] = []
    for word in line.split(" "):
        if words and words[-1].count("`") % 2:
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words
