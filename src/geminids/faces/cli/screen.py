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
