"""How words look, as textual wants it."""

from __future__ import annotations

from functools import cache

from rich.style import Style

from geminids.core.agents import available as known_agents
from geminids.faces.drawing.styles import STYLES, agent_colours


@cache
def style_of(name: str) -> Style:
    """A style by its name."""
    if name.startswith("agent "):
        return Style.parse(agent_colours(known_agents()).get(name.removeprefix("agent "), ""))
    return Style.parse(STYLES[name])
