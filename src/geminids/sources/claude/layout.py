"""Finding session files in a home, which of them belong together, and what lies beside them.

    projects/<folder>/<session id>.jsonl                            main sessions
    projects/<folder>/<session id>/subagents/agent-<id>.jsonl       subagents, since 2.1
    projects/<folder>/<session id>/subagents/agent-<id>.meta.json   which call started them
    projects/<folder>/agent-<id>.jsonl                              subagents of 2.0

A session and all that lies in the folder of its name form a bundle. The name of a project's folder is its
path with a hyphen for every other character, so it cannot be read back: the sessions tell the path. Nothing
is opened here, and links are never followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from geminids.model import Problem, ProblemKind, Project
from geminids.sources.base import Bundle, CompanionFile, Companions, FoundFile, Home, Scan, SkippedFile
from geminids.sources.claude.companions import Place, place, why_left_alone
from geminids.sources.claude.homes import AGENT, DEEPEST, PROJECTS, projects_folder

SUFFIX = ".jsonl"
META_SUFFIX = ".meta.json"
SUBAGENTS = "subagents"
_NAMED_AFTER = re.compile(r"(?P<id>[0-9a-f]{8}-[0-9a-f-]{27})\.jsonl.+")

LINK = "a link; links are not followed"
NO_FILE = "a pipe, a socket or a device"
NO_SESSION = "not named like a session file"
NO_PROJECT = "not in the folder of a project"
TOO_DEEP = "folders nested deeper than the CLI does"
CLOSED = "may not be listed; no sessions lie there"
CLOSED_FILE = "may not be looked at"

_by_name = attrgetter("name")


def scan(home: Home, only: Collection[str] | None = None) -> Scan:
    """Every session file of a home, in bundles; or of some folders of projects, given by their paths."""
    scanner = _Scanner(home)
    return scanner.scan() if only is None else scanner.scan_only(only)


class _Shelf(msgspec.Struct):
    """A project's folder: its session files by the session they belong to, and what lies beside."""

    project: Project
    path: Path
    files: dict[str, list[FoundFile]]
    beside: list[CompanionFile]
    left_alone: dict[str, str]
    """Why entries were left alone that are named after a session, by its id."""
    complete: bool = True


class _Scanner:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._problems: list[Problem] = []
        self._skipped: list[SkippedFile] = []
        self._shelves: list[_Shelf] = []

    def scan(self) -> Scan:
        projects = projects_folder(self._home)
        for entry in self._entries(projects):
            if entry.is_dir(follow_symlinks=False):
                self._scan_project(entry)
            else:
                self._skip(entry, NO_PROJECT)
        if projects != self._home.folder and not self._problems:
            self._name_the_rest()
        return self._found()

    def scan_only(self, wanted: Collection[str]) -> Scan:
        """The same for some folders of projects alone; nothing is told of the others."""
        wanted = frozenset(wanted)
        for entry in self._entries(projects_folder(self._home)):
            if entry.path in wanted and entry.is_dir(follow_symlinks=False):
                self._scan_project(entry)
        return self._found()

    def _found(self) -> Scan:
        bundles = [bundle for shelf in self._shelves for bundle in _bundles(shelf)]
        companions = [_companions(shelf) for shelf in self._shelves]
        return Scan(tuple(bundles), tuple(companions), tuple(self._skipped), tuple(self._problems))

    def _name_the_rest(self) -> None:
        """What a home holds beside its projects: named, never opened."""
        try:
            entries = _entries(self._home.folder)
        except OSError:
            self._skipped.append(SkippedFile(self._home.path, 0, CLOSED))
            return
        for entry in entries:
            if entry.name != PROJECTS:
                self._skip(entry, why_left_alone(entry.name))

    def _scan_project(self, found: os.DirEntry[str]) -> None:
        before = len(self._problems)
        entries = self._entries(found.path)
        if not entries:
            # Empty, or unreadable and reported.
            return
        shelf = _Shelf(Project(None, None, found.name, None), Path(found.path), {}, [], {})
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self._scan_folder(shelf, entry, shelf.path / entry.name, [entry.name])
            elif entry.name.endswith(SUFFIX):
                key = entry.name.removesuffix(SUFFIX)
                if not self._add(shelf, key, shelf.path, entry):
                    shelf.left_alone[key] = LINK if entry.is_symlink() else CLOSED_FILE
            else:
                self._add_beside(shelf, entry, [entry.name])
        shelf.complete = len(self._problems) == before and LINK not in shelf.left_alone.values()
        self._shelves.append(shelf)

    def _scan_folder(self, shelf: _Shelf, found: os.DirEntry[str], path: Path, inside: list[str]) -> None:
        """What a folder inside a project's holds; that of a session has the files of its subagents."""
        if len(inside) > DEEPEST:
            self._skip(found, TOO_DEEP)
            return
        is_of_agents = len(inside) > 1 and inside[1] == SUBAGENTS
        for entry in self._entries(path):
            if entry.is_dir(follow_symlinks=False):
                self._scan_folder(shelf, entry, path / entry.name, [*inside, entry.name])
            elif is_of_agents and entry.name.endswith((SUFFIX, META_SUFFIX)):
                self._add(shelf, inside[0], path, entry)
            else:
                self._add_beside(shelf, entry, [*inside, entry.name])

    def _add(self, shelf: _Shelf, key: str, within: Path, entry: os.DirEntry[str]) -> bool:
        """Take a session file in; answers whether it can be one."""
        if not entry.is_file(follow_symlinks=False):
            self._skip(entry, NO_FILE)
        elif facts := self._facts(entry):
            # Joining is half the work of taking a whole path apart, and there are tens of thousands.
            found = FoundFile(within / entry.name, facts.st_size, facts.st_mtime_ns, facts.st_ino)
            shelf.files.setdefault(key, []).append(found)
            return True
        return False

    def _add_beside(self, shelf: _Shelf, entry: os.DirEntry[str], inside: Sequence[str]) -> None:
        known = place(inside)
        if not entry.is_file(follow_symlinks=False):
            self._skip(entry, NO_FILE)
        elif not isinstance(known, Place):
            self._skip(entry, known)
            if named := _NAMED_AFTER.fullmatch(entry.name):
                shelf.left_alone.setdefault(named["id"], NO_SESSION)
        elif facts := self._facts(entry):
            size, changed, inode = facts.st_size, facts.st_mtime_ns, facts.st_ino
            shelf.beside.append(CompanionFile(entry.path, size, changed, inode, known.kind, known.native_id))

    def _facts(self, entry: os.DirEntry[str]) -> os.stat_result | None:
        try:
            # The entry's own method keeps what it found, a thousand bytes for each of thousands of files.
            return os.lstat(entry.path)
        except OSError as error:
            self._unreadable(entry.path, error)
            return None

    def _skip(self, entry: os.DirEntry[str], reason: str) -> None:
        """Name an entry that is left alone. A folder is one thing: nobody knows how much lies in it."""
        if entry.is_symlink():
            self._skipped.append(SkippedFile(Path(entry.path), 0, LINK))
        elif entry.is_dir(follow_symlinks=False):
            self._skipped.append(SkippedFile(Path(entry.path), 0, reason))
        elif facts := self._facts(entry):
            self._skipped.append(SkippedFile(Path(entry.path), facts.st_size, reason))

    def _entries(self, folder: Path | str) -> Sequence[os.DirEntry[str]]:
        """What a folder holds, by name; one that cannot be read makes the scan incomplete."""
        try:
            return _entries(folder)
        except OSError as error:
            self._unreadable(folder, error)
            return ()

    def _unreadable(self, path: Path | str, error: OSError) -> None:
        reason = error.strerror or "cannot be read"
        self._problems.append(Problem(str(path), ProblemKind.UNREADABLE, reason))


def _entries(folder: Path | str) -> Sequence[os.DirEntry[str]]:
    """What a folder holds, by name; nothing if it is not there. Raises OSError."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_by_name)
    except FileNotFoundError:
        return ()


def _companions(shelf: _Shelf) -> Companions:
    files = {key: tuple(found) for key, found in shelf.files.items()}
    return Companions(
        AGENT,
        shelf.project,
        (shelf.path,),
        tuple(shelf.beside),
        files,
        shelf.left_alone,
        complete=shelf.complete,
    )


def _bundles(shelf: _Shelf) -> Iterator[Bundle]:
    """The sessions of a project, each with its subagents and what was written for it."""
    beside: dict[str, list[CompanionFile]] = {}
    for companion in shelf.beside:
        if companion.native_id:
            beside.setdefault(companion.native_id, []).append(companion)
    for key, files in sorted(shelf.files.items()):
        theirs = tuple(beside.get(key, ()))
        yield Bundle(AGENT, key, shelf.project, (shelf.path,), tuple(sorted(files)), theirs)
