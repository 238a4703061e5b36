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
def style_of(name: str, *, is_chosen: bool = False) -> Style:
    """A style by its name. A chosen line is reversed, and nothing in it dim: that can hardly be read."""
    if name.startswith("agent "):
        found = Style.parse(_colour_of(name.removeprefix("agent ")))
    else:
        found = Style.parse(_STYLES[name])
    if not is_chosen:
        return found
    return found + Style(reverse=True, dim=False)


def _colour_of(agent: str) -> str:
    agents = known_agents()
    return _AGENT_COLOURS[agents.index(agent) % len(_AGENT_COLOURS)] if agent in agents else ""
