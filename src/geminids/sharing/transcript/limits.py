"""How much is shown of what may be long. All limits stand here, side by side.

Where something is cut, the whole stands below or behind it, or it is said how to ask for more.
"""

from __future__ import annotations

from geminids.sharing.transcript import words

COMMAND_LINES = 3
"""Lines of what a command of the human printed, where outputs are not told whole."""
UNFOLDED_LINES = 12
"""The same on a page, which folds more than that and cuts nothing."""
UNFOLDED_LETTERS = 1200
"""Characters of it: one line may be longer than many."""
DIFF_LINES = 12
"""Lines of a change in a terminal, where changes are not told whole."""
UNFOLDED_DIFF_LINES = 24
"""Lines of a change that a page shows without being asked."""
LONGEST_ARGUMENT = 200
"""Characters of an argument in the line of a call, where the whole stands below it."""
LONGEST_ERROR = 300
"""Characters of the first line of an error on a page; the whole is behind it."""
LONGEST_PROMPT = 120
"""Characters of a prompt in an outline."""


def cut(line: str, most: int) -> str:
    """The beginning of what may be very long."""
    return line if len(line) <= most else line[: most - 1] + "…"


def first_lines(text: str, most: int, hint: str = "") -> str:
    """The first lines of a text, and how many there are besides; the hint says how to see them."""
    lines = text.strip().split("\n")
    more = len(lines) - most
    return "\n".join([*lines[:most], more_lines(more, hint)] if more > 0 else lines)


def more_lines(number: int, hint: str = "") -> str:
    """How many lines there are besides those that are shown."""
    return f"… {words.count(number, 'more line')}{f' ({hint})' if hint else ''}"
