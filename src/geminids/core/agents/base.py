"""The values that readers of agents' files speak in: files that were found, bundles, scans and readings.

A reader scans a home into bundles (the files that can belong to the same sessions), and reads one bundle at
a time. What lies beside the sessions of a project is read after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from geminids.core.agents.fates import Fate
from geminids.core.agents.homes import Home, may_be_folder, may_exist
from geminids.core.disk import KEPT_INODE, REAL, Disk
from geminids.core.model import (
    Companion,
    CompanionKind,
    FileAccount,
    Problem,
    Project,
    Session,
    TypedLine,
)
from geminids.core.timestamps import disk_time

__all__ = [
    "Bundle",
    "CompanionFile",
    "Companions",
    "FoundFile",
    "Home",
    "Reading",
    "Scan",
    "SkippedFile",
    "may_be_folder",
    "may_exist",
]


class FoundFile(msgspec.Struct, frozen=True, order=True, gc=False):
    """A file that may hold a session, as the file system describes it."""

    path: Path
    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def at(cls, path: Path, disk: Disk = REAL) -> FoundFile:
        """The file at a path as it is now; raises OSError."""
        facts = disk.facts(path)
        return cls(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)

    @property
    def is_kept(self) -> bool:
        """Whether it is gone, and read from a kept copy."""
        return self.inode == KEPT_INODE


class SkippedFile(msgspec.Struct, frozen=True):
    """A file in the agent's folder that holds no session, and why we leave it alone."""

    path: Path
    size: int
    reason: str


class CompanionFile(msgspec.Struct, frozen=True, order=True, gc=False):
    """A file beside the sessions of a project: what it is, and whose session it belongs to."""

    path: str
    """There may be tens of thousands, and few are opened: making a `Path` of each would cost the most."""
    size: int
    mtime_ns: int
    inode: int
    kind: CompanionKind
    native_id: str | None = None
    """The agent's own id of the session, where the place of the file says so."""

    @property
    def is_kept(self) -> bool:
        """Whether it is gone, and read from a kept copy."""
        return self.inode == KEPT_INODE

    @property
    def file(self) -> FoundFile:
        """The same for who opens it."""
        return FoundFile(Path(self.path), self.size, self.mtime_ns, self.inode)

    def as_companion(self, agent: str) -> Companion:
        """The same for people."""
        session_id = f"{agent}:{self.native_id}" if self.native_id else None
        return Companion(self.kind, self.path, self.size, disk_time(self.mtime_ns / 1e9), session_id)


class Bundle(msgspec.Struct, frozen=True):
    """Files that can belong to the same sessions and are therefore read together."""

    agent: str
    key: str
    project: Project
    folders: tuple[Path, ...]
    """The project's folders in the agent's home: only there are paths found in sessions followed."""
    files: tuple[FoundFile, ...]
    beside: tuple[CompanionFile, ...] = ()
    """What else was written for these sessions."""
    title: str | None = None
    """What the agent calls the session in a list of its own, apart from the session's files."""
    disk: Disk = REAL
    """How its files are opened."""
    logs: tuple[CompanionFile, ...] = ()
    """Where the agent noted what the human typed, in these sessions and in others of the project."""

    def alone(self) -> Bundle:
        """The same sessions as their own files tell them."""
        return msgspec.structs.replace(self, logs=()) if self.logs else self


class Companions(msgspec.Struct, frozen=True):
    """What lies beside the sessions of one project, and what may keep one of these from being read."""

    agent: str
    project: Project
    folders: tuple[Path, ...]
    files: tuple[CompanionFile, ...]
    session_files: Mapping[str, tuple[FoundFile, ...]] = {}
    """The files of its bundles, by their keys: not every one of them gives a session."""
    left_alone: Mapping[str, str] = {}
    """Why an entry that is named like a session was left alone, by the key it would have."""
    complete: bool = True
    """Whether every folder that may hold sessions of the project could be listed."""
    disk: Disk = REAL
    """How its files are opened."""


class Scan(msgspec.Struct, frozen=True):
    """What a home holds. Nothing may be concluded from an absence if it is not complete."""

    bundles: tuple[Bundle, ...]
    companions: tuple[Companions, ...]
    """One for each project, also for one that has nothing beside its sessions."""
    skipped: tuple[SkippedFile, ...]
    problems: tuple[Problem, ...]
    notes: tuple[FoundFile, ...] = ()
    """Files in which the agent notes what belongs where: without them, sessions would be less well known."""

    @property
    def complete(self) -> bool:
        """Whether every folder could be read."""
        return not self.problems

    @property
    def is_closed(self) -> bool:
        """Whether nothing of the home could be listed: it may hold more of any project."""
        return not self.companions and any(problem.is_unreadable for problem in self.problems)


class Reading(msgspec.Struct, frozen=True):
    """What some files hold: sessions, what the human typed, and where every byte went."""

    sessions: tuple[Session, ...]
    accounts: tuple[FileAccount, ...]
    problems: tuple[Problem, ...]
    typed: tuple[TypedLine, ...] = ()
    fates: tuple[Fate, ...] = ()
    """What the agent's own cleaning would see of the session files, if that was asked for."""

    @classmethod
    def joined(cls, readings: Iterable[Reading]) -> Reading:
        """Several readings as one."""
        every = list(readings)
        return cls(
            tuple(session for reading in every for session in reading.sessions),
            tuple(account for reading in every for account in reading.accounts),
            tuple(problem for reading in every for problem in reading.problems),
            tuple(line for reading in every for line in reading.typed),
            tuple(fate for reading in every for fate in reading.fates),
        )
