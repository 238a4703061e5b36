"""What the output goes to: a terminal or a pipe, with colour or without, how wide."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import os
import sys
from collections.abc import Mapping

from geminids.core.values import Value

MOST_READABLE = 100
"""Longer lines of prose are hard to read."""


class Screen(Value):
    """Where and how to draw."""

    is_terminal: bool
    has_colour: bool
    width: int | None
    """In columns; None means that lines are not broken."""

    @property
    def is_drawn(self) -> bool:
        """Whether there is anything to lay out; otherwise lines go out as they are."""
        return self.width is not None or self.has_colour


def terminal() -> str | None:
    """A name for the terminal that somebody sits at; None where there is none.

    The number of a terminal is given away again when it is closed: the session of processes in it, and when
    the shell that leads it was started, tell it from those before.
    """
    for stream in (0, 2, 1):
        if os.isatty(stream):
            # Windows has neither; there all terminals are one.
            number = getattr(os.fstat(stream), "st_rdev", 0)
            session = os.getsid(0) if hasattr(os, "getsid") else 0
            return f"{number:x}-{session}-{_start_of(session)}"
    return None


def _start_of(process: int) -> str:
    """When a process was started, as far as the system shows that in a file."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - pathlib takes longer than the rest
            # The name of the program comes before it, and may hold anything.
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def find_screen(
    *, no_color: bool = False, width: int | None = None, environment: Mapping[str, str] = os.environ
) -> Screen:
    """Look at stdout and at the variables that people set for it."""
    is_terminal = sys.stdout.isatty()
    if width is None and is_terminal:
        from shutil import get_terminal_size

        width = get_terminal_size().columns
    return Screen(is_terminal, not no_color and _has_colour(is_terminal, environment), width)


def _has_colour(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    if environment.get("NO_COLOR") or environment.get("CLICOLOR") == "0":
        return False
    if any(environment.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return is_terminal and environment.get("TERM") != "dumb"
