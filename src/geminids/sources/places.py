"""Homes, and whether something is there.

Looking for a home takes no more than this, so that a command which finds nothing changed need not load the
model or any reader.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple

_UNKNOWN = 0
"""The kind of a thing that we are not allowed to look at."""


class Home(NamedTuple):
    """A folder in which an agent keeps its data."""

    agent: str
    path: Path
    known_by: str
    """The user's home, an environment variable, or the command line."""


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
