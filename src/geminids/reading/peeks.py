"""Small looks into files of other programs: a bounded part of a plain file, or nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def beginning(file: Path, size: int) -> bytes:
    """The first bytes of a file; none if it cannot be read, or is a pipe or a device."""
    return _part(file, size, from_end=False)


def ending(file: Path, size: int) -> bytes:
    """The last bytes of a file; none if it cannot be read, or is a pipe or a device."""
    return _part(file, size, from_end=True)


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, the last changed first; links are left out, and so is what cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.stat().st_mtime, entry.path) for entry in entries if _is_folder(entry)]
    except OSError:
        return []
    return [Path(path) for _, path in sorted(found, reverse=True)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _part(file: Path, size: int, *, from_end: bool) -> bytes:
    try:
        about = file.stat()
        if not stat.S_ISREG(about.st_mode):
            return b""
        with file.open("rb") as opened:
            if from_end and about.st_size > size:
                opened.seek(-size, os.SEEK_END)
            return opened.read(size)
    except (OSError, ValueError):
        # ValueError: a name with a zero in it.
        return b""
