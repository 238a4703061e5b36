"""An agent as the one that asks: what it tells a server that it has started, and how much it passes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Told(NamedTuple):
    """What an agent tells besides its question."""

    environment: Mapping[str, str]
    """Of the server that it has started."""
    meta: Mapping[str, Any]
    """What it sends beside the question (`_meta`)."""


class Client(Protocol):
    """How an agent is known as a client of MCP. Anybody may send anything: no answer is an exception."""

    characters: int
    """Of an answer, that reach its model; what is longer is cut."""

    def is_called(self, name: str) -> bool:
        """Whether a client that calls itself so is this agent."""
        ...

    def session(self, told: Told) -> str | None:
        """The agent's id of the session that asks; None if it does not say."""
        ...

    def folders(self, told: Told) -> Sequence[str]:
        """The folders that the session works in, as far as the agent says so."""
        ...
