"""Claude Code as a client of MCP: its session and its project stand in the environment of the server.

Seen with 2.1.325; 2.0.60 sets neither.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from geminids.core.agents.clients import Told


class ClaudeClient:
    """Puts what is longer than 50,000 characters into a file."""

    characters = 50_000

    def is_called(self, name: str) -> bool:
        """Whether the name is its own."""
        return name == "claude-code"

    def session(self, told: Told) -> str | None:
        """The session that has started the server."""
        return told.environment.get("CLAUDE_CODE_SESSION_ID") or None

    def folders(self, told: Told) -> Sequence[str]:
        """The folder that it was started in."""
        folder = told.environment.get("CLAUDE_PROJECT_DIR")
        return (folder,) if folder else ()
