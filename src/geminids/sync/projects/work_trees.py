"""Work trees of git repositories: the folders that belong to a repository, told by its own notes.

    <repository>/.git/worktrees/<name>/gitdir    the path of the work tree's `.git`
    <work tree>/.git                             a file: `gitdir: <repository>/.git/worktrees/<name>`

git itself is not run: a repository can make it run what it likes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from geminids.core.model import KnownBy
from geminids.reading.peeks import beginning, subfolders
from geminids.sync.projects.resolution import Known

_LONGEST_NOTE = 8192


def work_trees(folders: Iterable[str]) -> Iterator[Known]:
    """The repositories and work trees that belong to folders, each once."""
    seen: set[str] = set()
    for folder in folders:
        for git_folder in _git_folders(folder):
            if git_folder in seen:
                continue
            seen.add(git_folder)
            for path in (str(Path(git_folder).parent), *_trees_of(Path(git_folder))):
                if path != folder:
                    yield path, KnownBy.WORKTREE


def repositories(folders: Iterable[str]) -> dict[str, str]:
    """The main folder of the repository, for each folder that is another work tree of one."""
    found: dict[str, str] = {}
    for folder in folders:
        for git_folder in _git_folders(folder):
            main = str(Path(git_folder).parent)
            if main != folder and folder in _trees_of(Path(git_folder)):
                found[folder] = main
    return found


def _git_folders(folder: str) -> Iterator[str]:
    """The folder in which git keeps a repository, for one of its work trees or its main folder."""
    if not Path(folder).is_absolute() or "\0" in folder:
        return
    note = Path(folder) / ".git"
    if os.path.isdir(note):  # noqa: PTH112 - unlike pathlib, this never raises
        yield str(note)
        return
    named = _named(note, "gitdir: ")
    if named and named.parent.name in ("worktrees", "modules"):
        yield str(named.parent.parent)


def _trees_of(git_folder: Path) -> Iterator[str]:
    for tree in subfolders(git_folder / "worktrees"):
        named = _named(tree / "gitdir", "")
        if named:
            yield str(named.parent)


def _named(note: Path, prefix: str) -> Path | None:
    """The path that a note of git holds; relative ones are meant from the note's folder."""
    written = beginning(note, _LONGEST_NOTE).decode("utf-8", "surrogateescape").strip()
    if not written.startswith(prefix) or "\n" in written or "\0" in written:
        return None
    path = written.removeprefix(prefix).strip()
    return Path(os.path.normpath(note.parent / path)) if path else None
