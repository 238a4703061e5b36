"""Homes, and whether something is there.

Looking for a home takes no more than this, so that a command which finds nothing changed need not load the
model or any reader.
"""

from __future__ import annotations

import os
import stat

from geminids.core.config import expanded, tidy
from geminids.core.disk import REAL, Disk
from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

IMPORTED = "imported copies"
"""How a home is known that copies of another machine tell of: a word of others, where nothing is written."""
_UNKNOWN = 0
"""The kind of a thing that we are not allowed to look at."""


class Home(NamedTuple):
    """A folder in which an agent keeps its data."""

    agent: str
    folder: str
    known_by: str
    """The user's home, an environment variable, or the command line."""
    disk: Disk = REAL
    """How it is looked at: as it is, or with kept copies of what is gone from it."""

    @property
    def path(self) -> Path:
        """The folder for who reads in it. A list of sessions does not, and has no time to load this."""
        from pathlib import Path

        return Path(self.folder)


def disk_of(homes: Iterable[Home], path: str) -> Disk:
    """How a file is opened: as the home that it lies in says, as it is if it lies in none."""
    holding = (home for home in homes if path.startswith(home.folder.rstrip(os.sep) + os.sep))
    innermost = max(holding, key=lambda home: len(home.folder), default=None)
    return innermost.disk if innermost else REAL


def below(*names: str) -> str:
    """A path by its pieces. Nothing here uses pathlib: loading it takes as long as reading the index."""
    return os.path.join(*names)  # noqa: PTH118


def listed_folders(value: str | None, separator: str = os.pathsep) -> Iterator[str]:
    """The folders that an environment variable names."""
    return (tidy(expanded(path)) for path in (value or "").split(separator) if path)


def each_once(homes: Iterable[Home], sessions_in: Callable[[Home], str]) -> Iterator[Home]:
    """The homes whose sessions lie in another folder than those of the homes before."""
    seen: set[str] = set()
    for home in homes:
        real = os.path.realpath(sessions_in(home))
        if real not in seen:
            seen.add(real)
            yield home


def may_exist(path: str | Path) -> bool:
    """Whether there is something, or we are not allowed to know: then reading it will say so."""
    return _mode(path) is not None


def may_be_folder(path: str | Path) -> bool:
    """Whether there is a folder, or we are not allowed to know: then the scan will say so."""
    mode = _mode(path)
    return mode is not None and (mode == _UNKNOWN or stat.S_ISDIR(mode))


def _mode(path: str | Path) -> int | None:
    """What kind of thing lies there; None if there is nothing."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116
    except PermissionError:
        return _UNKNOWN
    except (OSError, ValueError):
        return None
