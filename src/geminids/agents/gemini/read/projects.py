"""Which folder a project is: the CLI's registry and the markers beside the sessions.

Until 0.28 a project's folder under `tmp/` is named by the SHA-256 of its path, since 0.29 by a slug;
the old folder is copied, not moved, so both may hold the same sessions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from geminids.agents.gemini.homes import MARKER, PROJECTS_FILE, TRUSTED_FILE
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import KnownBy, Problem, ProblemKind, Project, folder_hash
from geminids.core.spellings import spellings
from geminids.reading.jsonl import UndecodableError, decode

__all__ = ["MARKER", "Registry", "is_path", "read_plain", "read_registry"]

_HASH = lazy_pattern(r"[0-9a-f]{64}")
_LONGEST_PATH = 32_768
_LARGEST_REGISTRY = 32_000_000


class Registry(msgspec.Struct, frozen=True):
    """What a home says about its projects as a whole."""

    path_by_slug: dict[str, str]
    by_hash: dict[str, tuple[str, KnownBy]]
    """Folders by every hash that they may have been given."""
    problems: tuple[Problem, ...] = ()

    def project(self, folder: Path, home: Path, disk: Disk = REAL) -> Project:
        """The project that a folder under `tmp/` belongs to."""
        name = folder.name
        if _HASH.fullmatch(name):
            path, known_by = self.by_hash.get(name, (None, None))
            return Project(path, name, None, known_by, certain=path is not None)
        path = _marker(folder, disk) or _marker(home / "history" / name, disk)
        if path:
            return Project(path, folder_hash(path), name, KnownBy.MARKER)
        path = self.path_by_slug.get(name)
        if path:
            return Project(path, folder_hash(path), name, KnownBy.REGISTRY)
        return Project(None, None, name, None)

    def with_hash(self, project: Project, written: str) -> Project:
        """The project with a hash that the CLI wrote; its path is certain if that is the hash of it."""
        if project.path and folder_hash(project.path) == written:
            return msgspec.structs.replace(project, hash=written, certain=True)
        path, known_by = self.by_hash.get(written, (project.path, project.known_by))
        return Project(path, written, project.slug, known_by, certain=written in self.by_hash)


def read_registry(home: Path, disk: Disk = REAL) -> Registry:
    """The registry of a home and the folders it trusts; what is damaged is a problem."""
    problems: list[Problem] = []
    registered = _folders_in(home / PROJECTS_FILE, "projects", problems, disk)
    trusted = _folders_in(home / TRUSTED_FILE, None, problems, disk)
    by_hash: dict[str, tuple[str, KnownBy]] = {}
    for known_by, paths in ((KnownBy.REGISTRY, registered), (KnownBy.TRUSTED, trusted)):
        for path in paths:
            for spelled in spellings(path):
                by_hash.setdefault(folder_hash(spelled), (spelled, known_by))
    slugs = {slug: path for path, slug in registered.items() if isinstance(slug, str)}
    if wrong := len(registered) - len(slugs):
        detail = f"{wrong} of its projects have no name of their own"
        problems.append(Problem(str(home / PROJECTS_FILE), ProblemKind.WRONG_TYPE, detail))
    return Registry(slugs, by_hash, tuple(problems))


def _folders_in(file: Path, key: str | None, problems: list[Problem], disk: Disk) -> dict[str, Any]:
    """The paths that are the keys of a map in one of the CLI's own files."""
    try:
        written = decode(read_plain(file, _LARGEST_REGISTRY, disk)).value
    except FileNotFoundError:
        return {}
    except OSError as error:
        problems.append(Problem(str(file), ProblemKind.UNREADABLE, error.strerror or "cannot be read"))
        return {}
    except UndecodableError as error:
        problems.append(Problem(str(file), ProblemKind.BAD_JSON, str(error)))
        return {}
    folders = written.get(key) if key and isinstance(written, dict) else written
    if not isinstance(folders, dict):
        problems.append(Problem(str(file), ProblemKind.WRONG_TYPE, "holds no map of folders"))
        return {}
    return {path: value for path, value in folders.items() if is_path(path)}


def read_plain(path: Path, most: int, disk: Disk = REAL) -> bytes:
    """So many bytes of a companion; a link, a pipe or a device counts as not there."""
    if not disk.is_file(path):
        raise FileNotFoundError(path)
    with disk.opened(path) as opened:
        return opened.read(most)


def _marker(folder: Path, disk: Disk) -> str | None:
    """The path in a marker; a marker that is no plain file, or no path, tells nothing."""
    try:
        path = read_plain(folder / MARKER, _LONGEST_PATH, disk).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return path if is_path(path) else None


def is_path(text: str) -> bool:
    """Whether a text can be the path of a folder, on whatever system it was written."""
    is_absolute = text.startswith(("/", "\\\\")) or text[1:3] in (":\\", ":/")
    return is_absolute and len(text) < _LONGEST_PATH and "\n" not in text
