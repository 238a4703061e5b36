"""Sentences in lines of a width, in which commands stay whole."""

from __future__ import annotations

_CONTINUED = "  "
"""How a line begins that goes on with the one before."""


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
