"""What this machine knows about the folders of hashes: what was learnt, and where one may still look."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

import msgspec

from geminids.core.model import KnownBy, Project, folder_hash
from geminids.core.spellings import ancestors
from geminids.sync.projects import memory
from geminids.sync.projects.identity import best_known
from geminids.sync.projects.memory import Learnt, Look, Memory
from geminids.sync.projects.resolution import Found, Known, Progress, Resolution, resolve

LOOK_AGAIN_AFTER = timedelta(days=7)
"""So long nobody looks by himself for what a search did not find."""
SHORT = 0.25
"""Seconds that a search may take that nobody asked for."""


class Folders:
    """The folders that hashes stand for, on one machine and for one user."""

    def __init__(
        self,
        data_folder: Callable[[], Path | None],
        user_home: Path,
        environment: Mapping[str, str],
        current: Path | None,
        chosen: Iterable[Path] = (),
    ) -> None:
        """`chosen` are other folders that stand for a user's home: one looks there first."""
        self._data_folder = data_folder
        self._user_home = user_home
        # What the variables of this machine say is meant for no home but its user's own.
        self._homes: dict[Path, Mapping[str, str]] = {home: {} for home in chosen}
        self._homes[user_home] = environment
        self._current = current
        self._recalled: Memory | None = None

    def remembered(self, wanted: str) -> Project | None:
        """What is known of a hash without any search: a link, what was learnt, or the folder we are in."""
        known = self._memory.project_path(wanted)
        if known is not None:
            return Project(known.path, wanted, None, known.known_by, known.certain)
        here = self._here.get(wanted)
        return Project(here, wanted, None, KnownBy.CURRENT_FOLDER, certain=True) if here else None

    def known(self, project: Project) -> Project:
        """A project with what is known of its folder without any search."""
        return best_known([project], self.remembered)[project]

    def recall(self) -> None:
        """Heed what other processes have noted meanwhile: this one may run for long."""
        self._recalled = None

    @property
    def is_damaged(self) -> bool:
        """Whether what was remembered cannot be read."""
        return self._memory.damaged

    def learn(self, projects: Iterable[Project]) -> None:
        """Remember folders that sessions proved; what cannot be kept is found again the next time."""
        known = self._memory.learnt
        new = {
            project.hash: Found(project.path, project.known_by)
            for project in projects
            if project.hash and project.path and project.known_by and project.hash not in known
        }
        if new:
            self._remember(new, {})

    def search_shortly(self, wanted: Collection[str], now: datetime) -> None:
        """Look for a moment, but not again for what was not found lately, and only where no file led us."""
        since = now - LOOK_AGAIN_AFTER
        if new := [name for name in wanted if not self._memory.was_looked_for(name, 0, since)]:
            self.search(new, (), now, seconds=SHORT, deep=False, progress=None)

    def search(
        self,
        wanted: Collection[str],
        known: Iterable[str],
        now: datetime,
        *,
        named: Iterable[str] = (),
        seconds: float,
        deep: bool,
        progress: Progress | None,
    ) -> Resolution:
        """Look for the folders of hashes, and remember what was found and what was not.

        `known` are folders of other projects, `named` are such as sessions name.
        """
        from geminids.sync.projects.walk import DEEP_DEPTH, QUICK_DEPTH

        deadline = time.monotonic() + seconds
        found = resolve(wanted, self._places(known, named, deadline, deep=deep), deadline, progress)
        # A search that was cut short does not count as deep as it was meant to be.
        depth = (DEEP_DEPTH if deep else QUICK_DEPTH) if found.complete else 0
        missing = {name: Look(now, depth) for name in wanted if name not in found.found}
        return msgspec.structs.replace(found, remembered=self._remember(found.found, missing))

    def _remember(self, found: Mapping[str, Found], missing: Mapping[str, Look]) -> bool:
        """Know from now on what was found, and remember it for later; whether that was possible."""
        learnt = {name: Learnt(each.path, each.known_by) for name, each in found.items()}
        self._memory = msgspec.structs.replace(self._memory, learnt=self._memory.learnt | learnt)
        folder = self._data_folder()
        return folder is not None and memory.learn(folder, found, missing)

    def note_work_trees(self, folders: Iterable[str]) -> None:
        """Remember which folders are work trees of one repository, as git's own notes say."""
        from geminids.sync.projects.work_trees import repositories

        if folder := self._data_folder():
            memory.learn(folder, {}, {}, repositories(folders))

    def link(self, wanted: str, path: str) -> Project:
        """Remember that a hash stands for a folder because the user says so."""
        linked = memory.link(self._folder_or_refuse(), wanted, path)
        return Project(linked.path, wanted, None, linked.known_by, linked.certain)

    def unlink(self, wanted: str) -> str | None:
        """Forget a link; the path that it led to."""
        path = self._memory.links.get(wanted)
        # Where the links cannot be read, this says why.
        was_linked = (path is not None or self.is_damaged) and memory.unlink(self._folder_or_refuse(), wanted)
        return path if was_linked else None

    @property
    def repositories(self) -> Mapping[str, str]:
        """The main folder of a repository, by the folder of another work tree of it."""
        return self._memory.repositories

    @property
    def linked(self) -> Collection[str]:
        """The hashes that the user linked to folders."""
        return self._memory.links.keys()

    def _places(
        self, known: Iterable[str], named: Iterable[str], deadline: float, *, deep: bool
    ) -> Iterator[Iterable[Known]]:
        """Where to look, the best places first; the disk is walked only if nothing else helped."""
        # Only a search needs these, and every command would pay for loading them.
        from geminids.sync.projects.folders import known_folders
        from geminids.sync.projects.walk import DEEP_DEPTH, QUICK_DEPTH, search_roots, searched
        from geminids.sync.projects.work_trees import work_trees

        current = self._current or self._user_home
        for home, used in self._homes.items():
            yield from known_folders(home, used, current, deadline=deadline)
        yield work_trees(known)
        yield ((path, KnownBy.CONTEXT) for path in named)
        roots = [root for home, used in self._homes.items() for root in search_roots(home, used, deep=deep)]
        yield searched(roots, DEEP_DEPTH if deep else QUICK_DEPTH, deadline, homes=self._homes)

    def _folder_or_refuse(self) -> Path:
        folder = self._data_folder()
        if folder is None:
            raise FileNotFoundError(2, "this user has no home to keep links in")
        return folder

    @property
    def _memory(self) -> Memory:
        if self._recalled is None:
            folder = self._data_folder()
            self._recalled = memory.recall(folder) if folder else Memory()
        return self._recalled

    @_memory.setter
    def _memory(self, known: Memory) -> None:
        self._recalled = known

    @cached_property
    def _here(self) -> Mapping[str, str]:
        if self._current is None:
            return {}
        return {folder_hash(path): path for path in ancestors(str(self._current))}
