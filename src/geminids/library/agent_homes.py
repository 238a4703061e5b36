"""Which homes of agents a library looks at: those that were chosen, else those of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from geminids.core import config
from geminids.core.agents import load as load_agent
from geminids.core.agents.homes import IMPORTED, Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.archive.archive import Archive


def chosen_folders(homes: Sequence[str | os.PathLike[str]], environment: Mapping[str, str]) -> list[str]:
    """The folders that stand for a user's home, by hand or by the environment; none means this machine."""
    return config.home_folders([os.fspath(home) for home in homes], environment)


class AgentHomes:
    """Finds the homes of some agents."""

    def __init__(self, agents: Sequence[str], chosen: Sequence[str], environment: Mapping[str, str]) -> None:
        """`chosen` are folders that stand for a user's home; without any, this machine is meant."""
        self._agents = agents
        self._chosen = chosen
        self._environment = environment

    def found(self) -> list[Home]:
        """The homes that were chosen, else those of this machine; one may appear while somebody watches."""
        if not self._chosen:
            return self.usual()
        unique = list({os.path.realpath(folder): folder for folder in self._chosen}.values())
        every = ((folder, load_agent(name)) for folder in unique for name in self._agents)
        return [home for folder, agent in every for home in agent.homes_below(folder)]

    def usual(self) -> list[Home]:
        """The homes that agents use on this machine."""
        user_home = config.expanded("~")
        return [
            home for name in self._agents for home in load_agent(name).homes(self._environment, user_home)
        ]

    def gone(self, found: Sequence[Home], archive: Archive | None) -> list[Home]:
        """Homes that are known by copies alone: deleted, or of another machine."""
        if archive is None:
            return []
        there = {home.folder for home in found}
        return [
            Home(agent, folder, IMPORTED if is_imported else "kept copies")
            for agent, folder, is_imported in archive.folders()
            if folder not in there
            and agent in self._agents
            and self.looks_at(folder, is_imported=is_imported)
        ]

    def looks_at(self, home: str, *, is_imported: bool) -> bool:
        """Whether a home that is known by copies alone is one of those that are looked at."""
        if self._chosen:
            return any(_lies_right_in(home, folder) for folder in self._chosen)
        return is_imported or _lies_right_in(home, config.expanded("~"))


def _lies_right_in(home: str, folder: str) -> bool:
    """Whether the home of an agent lies where agents have it in the home of a user, or is that folder."""
    return home == folder or os.path.dirname(home) in (folder, f"{folder}{os.sep}.cache")  # noqa: PTH120
