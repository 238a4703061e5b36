"""Where Gemini CLI is used, and what it leaves there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.agents.gemini.homes import DATA_FOLDER
from geminids.core.agents.plain import PlainProjects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from geminids.core.model import Session


class GeminiProjects(PlainProjects):
    """The folders of Gemini CLI; `--worktree` makes work trees in the one of a project."""

    marks = (DATA_FOLDER, "GEMINI.md")
    data_folders = (DATA_FOLDER,)
    tree_folders = (DATA_FOLDER,)

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way."""
        from geminids.agents.gemini.read.evidence import named_folders

        return named_folders(session.messages)
