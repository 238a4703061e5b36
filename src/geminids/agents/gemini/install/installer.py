"""geminids as an extension of Gemini CLI: a folder of its own, so the user's settings stay as they are.

    ~/.gemini/extensions/geminids/    server, context file, commands, hooks

A folder with a manifest is all that the CLI needs: what its own `extensions install` writes beside is for
updates. Seen with 0.45.2 and 0.61.0. In a folder that is not trusted the CLI starts no server at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geminids.agents.gemini.custody.installed import find_installed
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.settings import Desk
from geminids.agents.gemini.homes import SESSIONS_VARIABLE
from geminids.core.agents.homes import Home, below
from geminids.core.agents.install import (
    PROGRAM,
    Installing,
    Launch,
    Package,
    calls_hook_by_hand,
    filled,
    read_package,
    read_settings,
)
from geminids.core.agents.resume import Circumstances

PACKAGE = Path(__file__).parent / "package"
_SANDBOX = ".cache"


class GeminiInstaller:
    """Writes an extension."""

    def installing(self, home: Home, launch: Launch, circumstances: Circumstances) -> Installing | None:
        """The extension, and what keeps Gemini CLI from using it."""
        if home.known_by == SESSIONS_VARIABLE or Path(home.folder).parent.name == _SANDBOX:
            return None
        places = self.places(home, launch)
        return Installing(packages=places.packages, notes=tuple(_notes(home, circumstances)))

    def places(self, home: Home, launch: Launch) -> Installing:
        """The extension."""
        folder = below(home.folder, "extensions", PROGRAM)
        return Installing(packages=(Package(folder, filled(read_package(PACKAGE), launch)),))


def _notes(home: Home, circumstances: Circumstances) -> Iterator[str]:
    program = Program(find_installed(circumstances.environment))
    desk = Desk(home.path, circumstances.environment, program)
    if desk.settings().broken is None and not desk.trusts(Path(circumstances.here)):
        yield (
            f"Gemini CLI does not trust {circumstances.here!r}: it starts no MCP server in folders that are "
            "not trusted. To trust a folder, type `/permissions` in Gemini CLI there."
        )
    if calls_hook_by_hand(read_settings(str(desk.user_file))):
        yield (
            f"{str(desk.user_file)!r} starts `geminids keep hook` too. The extension does the same, so that "
            "hook can be removed."
        )
