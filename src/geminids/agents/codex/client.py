"""Codex CLI as a client of MCP: it tells thread and folders with each call, and has no roots.

Seen with releases 0.140.0 and 0.166.0.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from geminids.core.agents.clients import Told

_TURN = "x-codex-turn-metadata"


class CodexClient:
    """Cuts the middle out of what is longer than 12,000 characters, unless it knows its model better."""

    characters = 12_000

    def is_called(self, name: str) -> bool:
        """Whether the name is its own."""
        return name == "codex-mcp-client"

    def session(self, told: Told) -> str | None:
        """The thread that calls."""
        match told.meta:
            case {"threadId": str(thread)}:
                return thread
            case _:
                return None

    def folders(self, told: Told) -> Sequence[str]:
        """The workspaces of the turn: a list of paths, or an object with the paths as keys."""
        match told.meta.get(_TURN):
            case {"workspaces": list(named) | dict(named)}:
                return tuple(_paths(named))
            case _:
                return ()


def _paths(named: list[object] | dict[str, object]) -> Iterator[str]:
    for one in named:
        match one:
            case str(path) | {"path": str(path)} | {"root": str(path)}:
                yield path
