"""Folders that are known on this machine, best sources first: what a hash is compared with.

Nothing is read from the machine but through what is given: a home folder, an environment and the
folder we are in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

from geminids.core.model import KnownBy
from geminids.core.spellings import ancestors
from geminids.sync.projects.agents_folders import agents_folders
from geminids.sync.projects.resolution import Known
from geminids.sync.projects.shells import shell_history
from geminids.sync.projects.walk import Mounts, below
from geminids.sync.projects.work_trees import work_trees


def current_folder(folder: Path) -> Iterator[Known]:
    """The folder we are in and those above it."""
    for path in ancestors(str(folder)):
        yield path, KnownBy.CURRENT_FOLDER


def known_folders(
    home: Path,
    environment: Mapping[str, str],
    current: Path,
    mounts: Mounts | None = None,
    deadline: float = inf,
) -> list[Iterator[Known]]:
    """All sources that need no search: the current folder, agents, shell histories, work trees.

    A folder that is reached through a link comes with where it leads: agents see only that.
    """
    mounts = mounts or Mounts.of_this_machine()
    seen: dict[str, None] = {}
    named = (
        current_folder(current),
        agents_folders(home, environment, deadline),
        shell_history(home, environment, deadline),
    )
    return [*(_noted(_with_targets(source, mounts), seen) for source in named), _trees_of(seen)]


def _noted(source: Iterator[Known], seen: dict[str, None]) -> Iterator[Known]:
    for path, known_by in source:
        seen[path] = None
        yield path, known_by


def _trees_of(seen: dict[str, None]) -> Iterator[Known]:
    # Not before all others have been asked, when the folders are known.
    yield from work_trees(list(seen))


def _with_targets(source: Iterator[Known], mounts: Mounts) -> Iterator[Known]:
    for path, known_by in source:
        yield path, known_by
        # To look behind a link on a disk that does not answer takes for ever.
        if path.startswith("/") and "\0" not in path and not below(path, mounts.not_entered):
            target = os.path.realpath(path)
            if target != path:
                yield target, known_by
