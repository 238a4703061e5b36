"""What Codex CLI deletes by itself: nothing. It packs old rollouts, and deletes only what it is told to."""

from __future__ import annotations

from geminids.agents.codex.homes import AGENT
from geminids.core.agents.fates import Forecast, Retention
from geminids.core.agents.homes import Home


def forecast(home: Home) -> Forecast:
    """That nothing of a home is going to be deleted."""
    return Forecast((), (Retention(agent=AGENT, home=home.folder),))
