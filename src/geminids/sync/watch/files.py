"""Which files are watched, which of them are read together, and what has changed of them.

Everything is looked at by size, time and inode alone; nothing is opened here but what a scan opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from geminids.core import agents
from geminids.core.agents.base import Bundle, FoundFile, Home, Reading, Scan
from geminids.core.model import Problem, ProblemKind, Project
from geminids.reading.bundles import joined, project_key

Key = tuple[str, ...]


class Item(NamedTuple):
    """Files that are read together."""

    key: Key
    files: tuple[FoundFile, ...]
    read: Callable[[], Reading]


class Found(NamedTuple):
    """What there is at one moment."""

    items: Mapping[Key, Item]
    problems: tuple[Problem, ...] = ()
    """Folders that could not be looked into: what is missing may lie there."""


class Finder(Protocol):
    """Something that knows which files are to be watched."""

    @property
    def places(self) -> tuple[str, ...]:
        """What is watched, there or not."""
        ...

    def look(self) -> Found:
        """Look at everything."""
        ...

    def folders(self) -> frozenset[str]:
        """The folders in which something may be written, as far as they exist; for who waits for events."""
        ...


class FileFinder:
    """One file that was given by hand."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()

    @property
    def places(self) -> tuple[str, ...]:
        """The file."""
        return (str(self._path),)

    def look(self) -> Found:
        """The file, if it is there."""
        facts = file_facts(self._path)
        if facts is None:
            return Found({})
        key = (str(self._path),)
        return Found({key: Item(key, (facts,), partial(_read_alone, self._path))})

    def folders(self) -> frozenset[str]:
        """The folder it lies in: a file that is replaced is a new one for who watches the file itself."""
        return frozenset({_nearest(self._path.parent)})


class HomesFinder:
    """The sessions in some homes, those that appear later included."""

    def __init__(
        self, homes: Callable[[], Sequence[Home]], is_wanted: Callable[[Bundle], bool] = lambda _: True
    ) -> None:
        self._homes = homes
        """Asked again and again: a home may appear while we watch."""
        self._is_wanted = is_wanted
        self._shelves: dict[Home, _HomeShelf] = {}
        self._found: Found | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """The homes."""
        return tuple(home.folder for home in self._shelves)

    def look(self) -> Found:
        """All bundles; those of several homes that hold the same sessions are one."""
        homes = self._homes()
        shelves = {home: self._shelves.get(home) or _HomeShelf(home) for home in homes}
        changed = [home for home, shelf in shelves.items() if shelf.look()]
        if self._found is None or changed or shelves.keys() != self._shelves.keys():
            self._found = self._found_in(shelves.values())
        self._shelves = shelves
        return self._found

    def folders(self) -> frozenset[str]:
        """The folders of sessions, those above them, and those in them, in which files may soon appear."""
        return frozenset(folder for shelf in self._shelves.values() for folder in shelf.folders())

    def projects(self) -> set[Project]:
        """The projects of all sessions that were found, as far as they are known without reading them."""
        return {bundle.project for shelf in self._shelves.values() for bundle in shelf.bundles}

    def _found_in(self, shelves: Iterable[_HomeShelf]) -> Found:
        by_home = [shelf.bundles for shelf in shelves if shelf.bundles]
        every = [bundle for bundles in by_home for bundle in bundles]
        # Finding out which files are the same takes longer than all else, and one home has each once.
        bundles = joined(every) if len(by_home) > 1 else every
        items = (_item(bundle) for bundle in bundles if self._is_wanted(bundle))
        problems = tuple(problem for shelf in shelves for problem in shelf.problems)
        return Found({item.key: item for item in items}, problems)


class _HomeShelf:
    """What one home holds; only what has changed of it is scanned again."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._source = agents.load(home.agent)
        self._texts: Mapping[str, str] = {}
        self._projects: dict[str, _Project] = {}
        self.problems: tuple[Problem, ...] = ()

    @property
    def bundles(self) -> list[Bundle]:
        """All bundles of the home."""
        return [bundle for project in self._projects.values() for bundle in project.bundles]

    def look(self) -> bool:
        """See whether anything has changed, and what."""
        before, self._texts = self._texts, self._source.footprint(self._home)
        names = before.keys() | self._texts.keys()
        changed = {name for name in names if before.get(name) != self._texts.get(name)}
        if not changed:
            return False
        if self._home.folder in changed or self.problems:
            self._projects = {}
            self._take_in(self._source.scan(self._home))
        else:
            together = self._with_their_projects(changed)
            self._take_in(self._source.scan(self._home, only=together))
        return True

    def folders(self) -> Iterator[str]:
        """Every folder in which a change matters."""
        yield _nearest(self._home.path)
        for project in self._projects.values():
            for folder in project.folders:
                yield from _up_to(self._home.path, Path(folder))
                yield from _folders_in(folder)
            for folder in {str(file.path.parent) for bundle in project.bundles for file in bundle.files}:
                yield folder
                yield from _folders_in(folder)

    def _with_their_projects(self, folders: set[str]) -> set[str]:
        """Folders, and all others of their projects; these are forgotten until they are scanned again."""
        touched = [key for key, project in self._projects.items() if folders & project.folders]
        return folders.union(*(self._projects.pop(key).folders for key in touched))

    def _take_in(self, scan: Scan) -> None:
        for beside in scan.companions:
            folders = frozenset(map(str, beside.folders))
            self._projects[project_key(beside)] = _Project(folders, [])
        for bundle in scan.bundles:
            folders = frozenset(map(str, bundle.folders))
            self._projects.setdefault(project_key(bundle), _Project(folders, [])).bundles.append(bundle)
        self.problems = tuple(problem for problem in scan.problems if problem.is_unreadable)


class _Project(NamedTuple):
    folders: frozenset[str]
    bundles: list[Bundle]


def file_facts(path: Path) -> FoundFile | None:
    """A file as the file system describes it now; None if it is not there."""
    try:
        return FoundFile.at(path)
    except OSError:
        return None


def refreshed(item: Item) -> Item | None:
    """The same files as they are now; None if one of them is gone."""
    files = [file_facts(file.path) for file in item.files]
    there = tuple(file for file in files if file is not None)
    return item._replace(files=there) if len(there) == len(files) else None


def _item(bundle: Bundle) -> Item:
    key = (bundle.agent, project_key(bundle), bundle.key)
    return Item(key, bundle.files, partial(agents.load(bundle.agent).read, bundle.alone()))


def _read_alone(path: Path) -> Reading:
    try:
        for name in agents.available():
            if reading := agents.load(name).read_alone(path):
                return reading
    except OSError as error:
        reason = error.strerror or "cannot be read"
        return Reading((), (), (Problem(str(path), ProblemKind.UNREADABLE, reason),))
    return Reading((), (), ())


def _nearest(folder: Path) -> str:
    """The folder, or the nearest above it that is there."""
    return next((str(path) for path in (folder, *folder.parents) if path.is_dir()), os.sep)


def _up_to(home: Path, folder: Path) -> Iterator[str]:
    """The folder and those above it, up to a home."""
    if folder.is_relative_to(home):
        yield from (str(path) for path in (folder, *folder.parents) if path != home and home in path.parents)


def _folders_in(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        # Gone, or closed: looking at everything says so.
        return
