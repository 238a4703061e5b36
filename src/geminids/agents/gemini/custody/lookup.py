"""In which of its folders Gemini CLI looks for the sessions of a project, and what it finds there.

Until 0.28 a folder is named by the hash of the project's path, since 0.29 by a slug that its registry or a
marker in the folder ties to the path. Only names that begin with `session-` count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geminids.agents.gemini.custody.installed import Release
from geminids.agents.gemini.read.projects import MARKER, read_registry
from geminids.agents.gemini.reader import read_as_agent
from geminids.core.model import folder_hash

SINCE_SLUGS = (0, 29, 0)
SESSION_SUFFIXES = (".json", ".jsonl")


def looked_into(data: Path, folder: Path, release: Release | None) -> set[str]:
    """The names of the folders in which the CLI would look for the sessions of a project."""
    by_hash = folder_hash(str(folder))
    if release is not None and release < SINCE_SLUGS:
        return {by_hash}
    slugs = set(_slugs_of(data, folder))
    is_fresh = not any(holds_more_than_marker(data / "tmp" / slug) for slug in slugs)
    # What an older release wrote is copied where there is nothing yet.
    return slugs | {by_hash} if is_fresh or release is None else slugs


def _slugs_of(data: Path, folder: Path) -> Iterator[str]:
    """The names that a project has in a home since 0.29: by the registry, else by markers."""
    registry = read_registry(data)
    own = [
        entry
        for entry in _entries(data / "tmp")
        if (path := registry.project(entry, data).path) and is_same(path, folder) and not _is_hash(entry.name)
    ]
    registered = [entry for entry in own if is_same(registry.path_by_slug.get(entry.name, ""), folder)]
    yield from (entry.name for entry in registered or own)


def is_same(path: str, folder: Path | str) -> bool:
    """Whether two paths name the same folder to the CLI."""
    # On Windows the CLI writes all paths in small letters.
    return os.path.normcase(path) == os.path.normcase(folder)


def _is_hash(name: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{64}", name) is not None


def holds_more_than_marker(folder: Path) -> bool:
    """Whether there is anything in the folder of a project but the note whose it is."""
    return any(entry.name != MARKER for entry in _entries(folder))


def _entries(folder: Path) -> list[Path]:
    """What is in a folder; nothing if it cannot be looked into."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def session_files(folder: Path) -> list[Path]:
    """The files that the CLI takes for sessions, in the order in which it goes through them."""
    return [
        file
        for file in _entries(folder / "chats")
        if file.name.startswith("session-") and file.suffix in SESSION_SUFFIXES
    ]


def loaded_record(file: Path) -> dict[str, Any] | None:
    """What the CLI loads from a file; None if it finds no session there, or cannot open it."""
    try:
        # A pipe would keep us waiting.
        return read_as_agent(file) if file.is_file() else None
    except OSError:
        return None


def written_before(file: Path, moment: float) -> bool:
    """Whether nothing was written to a file since then."""
    try:
        return file.stat().st_mtime < moment
    except OSError:
        return False
