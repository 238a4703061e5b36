"""Gemini CLI as a client of MCP: it names no session, and its folders are what MCP calls roots.

Seen with releases 0.45.2 and 0.61.0.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from geminids.core.agents.clients import Told


class GeminiClient:
    """Keeps the first 8,000 and the last 32,000 characters of what is longer than 40,000."""

    characters = 40_000

    def is_called(self, name: str) -> bool:
        """Whether the name is its own, which ends with the name of the server."""
        return name.startswith("gemini-cli-mcp-client")

    def session(self, told: Told) -> str | None:
        """None: it does not say."""
        return None

    def folders(self, told: Told) -> Sequence[str]:
        """None besides the roots."""
        return ()
