"""What every reader of an agent's files offers, and the values they all speak in.

A source finds homes, scans a home into bundles (the files that can belong to the same sessions),
and reads one bundle at a time. It holds no state, prints nothing and writes nothing.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from geminids.model import FileAccount, Problem, Project, Session

_UNKNOWN = 0
"""The kind of a thing that we are not allowed to look at."""


class Home(msgspec.Struct, frozen=True):
    """A folder in which an agent keeps its data."""

    agent: str
    path: Path
    known_by: str
    """The user's home, an environment variable, or the command line."""


class FoundFile(msgspec.Struct, frozen=True, order=True):
    """A file that may hold a session, as the file system describes it."""

    path: Path
    size: int
    mtime_ns: int
    inode: int


class SkippedFile(msgspec.Struct, frozen=True):
    """A file in the agent's folder that holds no session, and why we leave it alone."""

    path: Path
    size: int
    reason: str


class Bundle(msgspec.Struct, frozen=True):
    """Files that can belong to the same sessions and are therefore read together."""

    agent: str
    key: str
    project: Project
    folders: tuple[Path, ...]
    """The project's folders in the agent's home: only there are paths found in sessions followed."""
    files: tuple[FoundFile, ...]


class Scan(msgspec.Struct, frozen=True):
    """What a home holds. Nothing may be concluded from an absence if it is not complete."""

    bundles: tuple[Bundle, ...]
    skipped: tuple[SkippedFile, ...]
    problems: tuple[Problem, ...]

    @property
    def complete(self) -> bool:
        """Whether every folder could be read."""
        return not self.problems


class Reading(msgspec.Struct, frozen=True):
    """What a bundle holds: its sessions, and where every byte of its files went."""

    sessions: tuple[Session, ...]
    accounts: tuple[FileAccount, ...]
    problems: tuple[Problem, ...]


class Source(Protocol):
    """The reader of one agent's files."""

    name: str
    """The agent, as it appears in session ids."""
    title: str
    """The agent, as people call it."""
    revision: int
    """Raised when reading changes, so that what was read before is read again."""

    def homes(self, environment: Mapping[str, str], user_home: Path) -> Sequence[Home]:
        """The homes this machine has, without looking for anything in them."""
        ...

    def homes_below(self, folder: Path) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        ...

    def scan(self, home: Home) -> Scan:
        """The files of a home, in bundles."""
        ...

    def adopt(self, path: Path) -> Bundle | None:
        """One file given by hand as a bundle of its own, or None if it is no session of this agent."""
        ...

    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle. Bad content is a value in the answer, never an exception."""
        ...

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The record exactly as the agent itself would load it from this file; None if it would not."""
        ...


def may_exist(path: Path) -> bool:
    """Whether there is something, or we are not allowed to know: then reading it will say so."""
    return _mode(path) is not None


def may_be_folder(path: Path) -> bool:
    """Whether there is a folder, or we are not allowed to know: then the scan will say so."""
    mode = _mode(path)
    return mode is not None and (mode == _UNKNOWN or stat.S_ISDIR(mode))


def _mode(path: Path) -> int | None:
    """What kind of thing lies there; None if there is nothing."""
    try:
        return path.stat().st_mode
    except PermissionError:
        return _UNKNOWN
    except (OSError, ValueError):
        return None
