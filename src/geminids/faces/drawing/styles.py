"""How words look, by the name of their style. Colours are those of the user's theme: they fit its ground."""

from __future__ import annotations

from collections.abc import Sequence

STYLES = {
    "": "",
    "title": "bold",
    "quiet": "dim",
    "human": "bold cyan",
    "model": "bold magenta",
    "agent": "bold yellow",
    "parent": "bold yellow",
    "tool": "blue",
    "good": "green",
    "bad": "red",
    "warning": "yellow",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
    "thought": "dim italic",
    "match": "bold yellow",
    "found": "bold yellow reverse",
    "name": "cyan",
    "tag": "blue",
    "key": "bold",
    "cursor": "reverse",
    "chosen": "reverse",
    "bar": "blue",
    "frame": "blue",
}
"""In the words of rich."""
_CODES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "reverse": "7",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_AGENT_COLOURS = ("cyan", "magenta", "yellow", "green", "blue")


def agent_colours(agents: Sequence[str]) -> dict[str, str]:
    """The colour of each of these agents."""
    return {name: _AGENT_COLOURS[at % len(_AGENT_COLOURS)] for at, name in enumerate(agents)}


def escape_codes(style: str) -> str:
    """A style as the numbers that a terminal takes for it."""
    return ";".join(_CODES[word] for word in style.split())


def without_colour(name: str, style: str) -> str:
    """What is left of a style where no colour is wished: what is bright, underlined or reversed is none."""
    kept = [word for word in style.split() if int(_CODES[word]) < 30]
    return " ".join([*kept, "underline"] if name == "match" else kept)
