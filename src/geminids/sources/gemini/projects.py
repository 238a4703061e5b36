"""Which folder a project is: the CLI's registry and the markers beside the sessions.

Until 0.28 a project's folder under `tmp/` is named by the SHA-256 of its path, since 0.29 by a slug;
the old folder is copied, not moved, so both may hold the same sessions.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from geminids.model import KnownBy, Problem, ProblemKind, Project, folder_hash
from geminids.sources.jsonl import UndecodableError, decode

_HASH = re.compile(r"[0-9a-f]{64}")
_LONGEST_PATH = 32_768
MARKER = ".project_root"


class Registry(msgspec.Struct, frozen=True):
    """What a home says about its projects as a whole."""

    path_by_slug: dict[str, str]
    path_by_hash: dict[str, str]
    problems: tuple[Problem, ...] = ()

    def project(self, folder: Path, home: Path) -> Project:
        """The project that a folder under `tmp/` belongs to."""
        name = folder.name
        if _HASH.fullmatch(name):
            path = self.path_by_hash.get(name)
            return Project(path, name, None, KnownBy.REGISTRY if path else None, certain=bool(path))
        path = _marker(folder) or _marker(home / "history" / name)
        if path:
            return Project(path, folder_hash(path), name, KnownBy.MARKER)
        path = self.path_by_slug.get(name)
        if path:
            return Project(path, folder_hash(path), name, KnownBy.REGISTRY)
        return Project(None, None, name, None)


def with_hash(project: Project, written: str) -> Project:
    """The project with a hash that the CLI wrote; its path is certain if that is its hash."""
    certain = project.path is not None and folder_hash(project.path) == written
    return msgspec.structs.replace(project, hash=written, certain=certain)


def read_registry(home: Path) -> Registry:
    """The registry of a home; one that is missing is empty, one that is damaged a problem."""
    file = home / "projects.json"
    try:
        written = decode(plain_file(file).read_bytes()).value
        projects = written.get("projects") if isinstance(written, dict) else None
    except FileNotFoundError:
        return Registry({}, {})
    except OSError as error:
        return _damaged(file, ProblemKind.UNREADABLE, error.strerror or "cannot be read")
    except UndecodableError as error:
        return _damaged(file, ProblemKind.BAD_JSON, str(error))
    if not isinstance(projects, dict):
        return _damaged(file, ProblemKind.WRONG_TYPE, "holds no map of projects")
    known = {path: slug for path, slug in projects.items() if isinstance(slug, str) and path}
    return Registry({slug: path for path, slug in known.items()}, {folder_hash(path): path for path in known})


def _damaged(file: Path, kind: ProblemKind, detail: str) -> Registry:
    return Registry({}, {}, (Problem(str(file), kind, detail),))


def plain_file(path: Path) -> Path:
    """The path of a companion, unless it is a link, a pipe or a device; those count as not there."""
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError(path)
    return path


def _marker(folder: Path) -> str | None:
    """The path in a marker; a marker that is no plain file, or no path, tells nothing."""
    try:
        path = plain_file(folder / MARKER).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    is_path = path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")
    return path if is_path and len(path) < _LONGEST_PATH and "\n" not in path else None
