"""Where Codex CLI is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.agents.codex.homes import DATA_FOLDER
from geminids.core.agents.plain import PlainProjects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class CodexProjects(PlainProjects):
    """The folders of Codex CLI."""

    data_folders = (DATA_FOLDER,)

    def known_folders(
        self, user_home: Path, environment: Mapping[str, str], deadline: float
    ) -> Iterator[str]:
        """The folders that its settings trust, and those that its sessions were worked in."""
        from geminids.agents.codex.known_folders import known_folders

        return known_folders(user_home, environment, deadline)
