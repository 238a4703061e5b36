"""Projects: what there is of each, and which folder one is."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from geminids.core import config
from geminids.core.errors import NoFolderError, NoHashError, NotLinkedError
from geminids.library.context import LibraryPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.model import Project
    from geminids.query.projects.report import Contents, Projects, Resolved
    from geminids.query.projects.timeline import ProjectStory

HEX = frozenset("0123456789abcdef")
LEAST_OF_A_HASH = 4
WHOLE_HASH = 64
"""Hexadecimal digits."""


class ProjectMethods(LibraryPart):
    """What a library knows of projects."""

    def projects(self, now: datetime | None = None, agents: Collection[str] = ()) -> Projects:
        """The projects there are, or what some agents did. For unknown folders one looks for a moment."""
        from geminids.query.projects.report import Projects, hashes_without_folder
        from geminids.query.sessions.contents import closed_folders
        from geminids.query.sessions.listing import each_file_once

        found = self._context.contents()
        if now and (unknown := hashes_without_folder(found.identity)):
            self._context.folders.search_shortly(unknown, now)
            found = self._contents_with_lessons()
        if agents:
            found = found.of_agents(agents)
        problems = [*self._context.ask(closed_folders), *(p for p in found.problems if p.is_unreadable)]
        return Projects(
            projects=tuple(found.reports()),
            problems=tuple(problems),
            left_unread=each_file_once(problem for problem in found.problems if not problem.is_damage),
        )

    def project_story(self, wanted: str) -> ProjectStory:
        """Everything a project holds, the oldest first."""
        from geminids.query.projects.report import Contents, identify, the_one
        from geminids.query.projects.timeline import story

        shelves = self._context.homes_reader.shelved()
        identity = identify(shelves, self._context.folders.remembered, self._context.folders.repositories)
        found = Contents(shelves, identity)
        return story(found, the_one(found.reports(), wanted), self._context.homes_reader.closed_folders)

    def resolve_projects(
        self, now: datetime, *, deep: bool, seconds: float, progress: Callable[[int, int], None] | None = None
    ) -> Resolved:
        """Look for the folders of projects that are known by a hash alone, and remember them."""
        from geminids.core.model import Project
        from geminids.query.projects.report import Resolved, certain_paths, hashes_without_folder

        identity = self._context.contents().identity
        unknown = hashes_without_folder(identity)
        found = self._context.folders.search(
            unknown,
            certain_paths(identity),
            now,
            named=self._context.homes_reader.named_folders(frozenset(unknown)),
            seconds=seconds,
            deep=deep,
            progress=progress,
        )
        self._context.folders.note_work_trees(
            [*certain_paths(identity), *(f.path for f in found.found.values())]
        )
        resolved = [
            Project(folder.path, name, None, folder.known_by, certain=True)
            for name, folder in found.found.items()
        ]
        missing = [name for name in unknown if name not in found.found]
        return Resolved(
            resolved=tuple(resolved),
            missing=tuple(missing),
            looked_at=found.looked_at,
            complete=found.complete,
            kept=found.remembered,
        )

    def link_project(self, wanted: str, path: str) -> Project:
        """Remember which folder a project is, because the user says so."""
        from geminids.core.spellings import verified

        name = self._hash_meant(wanted)
        folder = os.path.normpath(config.absolute(path))
        # A proof needs no folder: it may have been on another machine.
        spelled = verified(name, [path, folder])
        if spelled is None and not os.path.isdir(folder):  # noqa: PTH112
            raise NoFolderError(path)
        return self._context.folders.link(name, spelled or folder)

    def unlink_project(self, wanted: str) -> Project:
        """Forget what the user said about the folder of a project."""
        from geminids.core.model import KnownBy, Project

        linked = [name for name in self._context.folders.linked if name.startswith(wanted.lower())]
        is_hash = len(wanted) >= LEAST_OF_A_HASH and len(linked) == 1
        name = linked[0] if is_hash else self._hash_meant(wanted)
        path = self._context.folders.unlink(name)
        if path is None:
            raise NotLinkedError(wanted)
        return Project(path, name, None, KnownBy.LINK)

    def _hash_meant(self, wanted: str) -> str:
        """The hash of the project that is meant; a whole hash may also be one that we know nothing of."""
        from geminids.query.projects.report import hash_meant

        if len(wanted) == WHOLE_HASH and set(wanted) <= HEX:
            return wanted
        meant = hash_meant(self._context.contents().reports(), wanted)
        if meant is None:
            raise NoHashError(wanted)
        return meant

    def _contents_with_lessons(self) -> Contents:
        """The same with what a search has just found, whether that could be kept or not."""
        from geminids.query.projects.report import Contents, identify

        shelves = self._context.contents().shelves
        identity = identify(shelves, self._context.folders.remembered, self._context.folders.repositories)
        return Contents(shelves, identity)
