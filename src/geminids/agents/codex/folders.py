"""The folders that rollouts lie in: one a day, and one for what was archived.

Every command looks here, so nothing heavy is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from geminids.agents.codex.homes import archive_folder, sessions_folder
from geminids.core.agents.homes import Home, below
from geminids.core.disk import REAL, Disk, Entry

_DIGITS = (4, 2, 2)
"""Of year, month and day in the names of folders."""
ARCHIVE = "archived"


class Shelf(NamedTuple):
    """A folder of rollouts."""

    path: str
    name: str
    """The day, or that it is the archive."""


class Walk:
    """Goes through the folders of a home; notes what lies among them, and what could not be listed."""

    def __init__(self, home: Home, disk: Disk = REAL) -> None:
        self._home = home
        self._disk = disk
        self.others: list[Entry] = []
        """What lies among the folders and is none of them."""
        self.closed: list[tuple[str, OSError]] = []

    def shelves(self) -> Iterator[Shelf]:
        """Every folder that may hold rollouts, the days in order, the archive last."""
        yield from self._days(sessions_folder(self._home), ())
        archive = archive_folder(self._home)
        if archive is not None and self._disk.is_there(archive):
            if self._disk.is_folder(archive):
                yield Shelf(archive, ARCHIVE)
            else:
                self.closed.append((archive, NotADirectoryError(20, "is not a folder, or is a link")))

    def _days(self, folder: str, above: tuple[str, ...]) -> Iterator[Shelf]:
        for entry in self.entries(folder):
            is_named_so = len(entry.name) == _DIGITS[len(above)] and entry.name.isdecimal()
            if not (is_named_so and entry.is_dir(follow_symlinks=False)):
                self.others.append(entry)
            elif len(above) + 1 < len(_DIGITS):
                yield from self._days(entry.path, (*above, entry.name))
            else:
                yield Shelf(entry.path, "/".join((*above, entry.name)))

    def entries(self, folder: str) -> Sequence[Entry]:
        """What a folder holds, by name; nothing if it is not there, or closed."""
        try:
            return self._disk.entries(folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            self.closed.append((folder, error))
            return []


def beside_sessions(home: Home, name: str) -> str:
    """The path of a file that lies beside the folder of sessions."""
    return below(os.path.dirname(sessions_folder(home)), name)  # noqa: PTH120 - without pathlib
