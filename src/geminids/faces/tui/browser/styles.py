"""How words look: the styles of the picker, as textual wants them. Colours are those of the user's theme."""

from __future__ import annotations

from functools import cache

from rich.style import Style

from geminids.core.agents import available as known_agents

_STYLES = {
    "": "",
    "quiet": "dim",
    "title": "bold",
    "match": "bold yellow",
    "found": "bold yellow reverse",
    "warning": "yellow",
    "bad": "red",
    "good": "green",
    "name": "cyan",
    "tag": "blue",
    "key": "bold",
    "cursor": "reverse",
    "bar": "blue",
    "frame": "blue",
}
_AGENT_COLOURS = ("cyan", "magenta", "yellow", "green", "blue")


@cache
def style_of(name: str) -> Style:
    """A style by its name."""
    if name.startswith("agent "):
        return Style.parse(_colour_of(name.removeprefix("agent ")))
    return Style.parse(_STYLES[name])


def _colour_of(agent: str) -> str:
    agents = known_agents()
    return _AGENT_COLOURS[agents.index(agent) % len(_AGENT_COLOURS)] if agent in agents else ""
