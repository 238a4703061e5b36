"""Where Claude Code is used, and what it leaves there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.agents.claude.homes import DATA_FOLDER, slug_of
from geminids.core.agents.plain import PlainProjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from geminids.core.model import Session


class ClaudeProjects(PlainProjects):
    """The folders of Claude Code, which makes work trees in the one of a project."""

    data_folders = (DATA_FOLDER,)
    tree_folders = (DATA_FOLDER,)

    def known_folders(
        self, user_home: Path, environment: Mapping[str, str], deadline: float
    ) -> Iterator[str]:
        """The folders that its sessions were worked in."""
        from geminids.agents.claude.known_folders import known_folders

        return known_folders(user_home, environment, deadline)

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way."""
        from geminids.agents.claude.read.evidence import named_folders

        return named_folders(session)

    def slug_of(self, path: str) -> str:
        """Return the name of the folder in which the sessions of a project are."""
        return slug_of(path)
