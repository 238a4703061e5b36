"""Going through the folders of a home: what is found, what is left alone, and what could not be read.

Where sessions lie, each reader knows for its own agent. Nothing is opened here, and links are never followed.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from geminids.core.agents.base import Bundle, CompanionFile, Companions, FoundFile, Home, SkippedFile
from geminids.core.disk import REAL, AnyPath, Disk, Entry, Facts
from geminids.core.model import CompanionKind, Problem, Project
from geminids.reading.companions import CompanionRole
from geminids.reading.texts import unreadable

LINK = "a link; links are not followed"
NO_FILE = "a pipe, a socket or a device"
NO_SESSION = "not named like a session file"
NO_PROJECT = "not in the folder of a project"
TOO_DEEP = "folders nested deeper than the CLI does"
CLOSED = "may not be listed; no sessions lie there"
CLOSED_FILE = "may not be looked at"


class Shelf(msgspec.Struct):
    """A project's folders, its session files by the session they belong to, and what lies beside."""

    project: Project
    paths: list[Path]
    files: dict[str, list[FoundFile]] = {}
    beside: list[CompanionFile] = []
    left_alone: dict[str, str] = {}
    """Why entries were left alone that are named after a session, by its id or the start of it."""
    disk: Disk = REAL
    """How all of it is opened."""

    def companions(self, agent: str, *, complete: bool) -> Companions:
        """What lies beside the sessions. Whether all folders could be listed, the scanner knows."""
        return Companions(
            agent,
            self.project,
            tuple(self.paths),
            tuple(self.beside),
            {key: tuple(files) for key, files in self.files.items()},
            self.left_alone,
            complete=complete,
            disk=self.disk,
        )

    def bundles(
        self, agent: str, id_length: int | None = None, typed_in: Collection[CompanionKind] = ()
    ) -> Iterator[Bundle]:
        """The session files that belong together, each with what was written for them.

        What was typed in them stands in logs of some kinds, for all sessions of the project.
        """
        beside: dict[str, list[CompanionFile]] = {}
        for companion in self.beside:
            if companion.native_id:
                beside.setdefault(companion.native_id[:id_length], []).append(companion)
        paths = tuple(self.paths)
        logs = tuple(companion for companion in self.beside if companion.kind in typed_in)
        for key, files in sorted(self.files.items()):
            theirs = tuple(beside.get(key, ()))
            held = tuple(sorted(files))
            yield Bundle(agent, key, self.project, paths, held, theirs, disk=self.disk, logs=logs)


class Scanner:
    """Looks at what the folders of a home hold."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._disk = home.disk
        self._problems: list[Problem] = []
        self._skipped: list[SkippedFile] = []
        self._notes: list[FoundFile] = []

    def _add(self, shelf: Shelf, key: str, within: Path, entry: Entry) -> bool:
        """Take a session file in; answers whether it can be one."""
        if not entry.is_file(follow_symlinks=False):
            self._skip(entry, NO_FILE)
        elif found := self._found_file(within, entry):
            shelf.files.setdefault(key, []).append(found)
            return True
        return False

    def _found_file(self, within: Path, entry: Entry) -> FoundFile | None:
        """A file as it was found; None if it cannot be looked at."""
        facts = self._facts(entry)
        if facts is None:
            return None
        # Joining is half the work of taking a whole path apart, and there are tens of thousands.
        return FoundFile(within / entry.name, facts.st_size, facts.st_mtime_ns, facts.st_ino)

    def _add_beside(self, shelf: Shelf, known: CompanionRole, entry: Entry) -> None:
        """Take a file in that lies beside the sessions."""
        if facts := self._facts(entry):
            size, changed, inode = facts.st_size, facts.st_mtime_ns, facts.st_ino
            shelf.beside.append(CompanionFile(entry.path, size, changed, inode, known.kind, known.native_id))

    def _add_note(self, path: Path) -> None:
        """Take a file in that tells of projects or titles, if it is there and a plain one."""
        try:
            facts = self._disk.facts(path)
        except OSError:
            # Who reads it says so.
            return
        if stat.S_ISREG(facts.st_mode):
            self._notes.append(FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino))

    def _facts(self, entry: Entry) -> Facts | None:
        try:
            # The entry's own method keeps what it found, a thousand bytes for each of thousands of files.
            return self._disk.facts(entry.path)
        except OSError as error:
            self._problems.append(unreadable(entry.path, error))
            return None

    def _skip(self, entry: Entry, reason: str) -> None:
        """Name an entry that is left alone. A folder is one thing: nobody knows how much lies in it."""
        if entry.is_symlink():
            self._skipped.append(SkippedFile(Path(entry.path), 0, LINK))
        elif entry.is_dir(follow_symlinks=False):
            self._skipped.append(SkippedFile(Path(entry.path), 0, reason))
        elif facts := self._facts(entry):
            self._skipped.append(SkippedFile(Path(entry.path), facts.st_size, reason))

    def _entries(self, folder: Path | str) -> Sequence[Entry]:
        """What a folder holds, by name; one that cannot be read makes the scan incomplete."""
        try:
            return entries_of(folder, self._disk)
        except OSError as error:
            self._problems.append(unreadable(str(folder), error))
            return ()

    def _listed(self, folder: Path) -> Sequence[Entry]:
        """What a folder holds in which no session lies: if it is closed, nothing is lost by it."""
        try:
            return entries_of(folder, self._disk)
        except OSError:
            self._skipped.append(SkippedFile(folder, 0, CLOSED))
            return ()


def entries_of(folder: AnyPath, disk: Disk = REAL) -> Sequence[Entry]:
    """What a folder holds, by name; nothing if it is not there. Raises OSError."""
    try:
        return disk.entries(folder)
    except FileNotFoundError:
        return ()
