"""Who asks: which agent, in which session, where it works, and how much of an answer reaches its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from geminids.core import agents
from geminids.core.agents.clients import Client, Told
from geminids.faces.mcp.room import most_for


class Call(NamedTuple):
    """What comes with a question, whoever sends it."""

    client: str | None
    """What the client calls itself."""
    meta: Mapping[str, Any]
    roots: Sequence[str]
    """Folders that the client works in, as MCP tells them."""


class Caller(NamedTuple):
    """An agent that asks."""

    agent: str | None
    """None if nobody knows it."""
    session: str | None
    """The agent's id of the session that asks; None if it does not say."""
    folders: Sequence[str]
    """Where it works, the best guess first."""
    most: int
    """Bytes that an answer may have."""


def caller_of(call: Call, environment: Mapping[str, str], here: str | None) -> Caller:
    """Who makes a call; `here` is the folder that the server was started in."""
    told = Told(environment, call.meta)
    name, client = _client(call.client or "")
    # A server may be started by a program inside of another agent's shell, whose variables it inherits.
    own = [client] if client else [one for _, one in _known() if one.session(told)][:1]
    folders = [folder for one in own for folder in one.folders(told)]
    return Caller(
        agent=name,
        session=next((one.session(told) for one in own), None),
        folders=tuple(dict.fromkeys(filter(None, (*folders, *call.roots, here)))),
        most=most_for(client.characters if client else None),
    )


def _client(called: str) -> tuple[str | None, Client | None]:
    return next(((name, one) for name, one in _known() if one.is_called(called)), (None, None))


def _known() -> list[tuple[str, Client]]:
    offered = ((source.name, source.client()) for source in agents.every())
    return [(name, client) for name, client in offered if client is not None]
