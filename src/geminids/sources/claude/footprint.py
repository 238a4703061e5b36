"""What a home looks like from outside: texts that are others as soon as its content may be another one.

Every file that the scan would find (layout.py) is a line of the text of its project's folder: where it lies
in it, size, time of change, inode and mode (a link is told by it, and a file that may be read now). What
could not be looked at is a line with the number of the error. Nothing is opened, nothing is followed.
"""

from __future__ import annotations

import os

from geminids.sources.claude.homes import DEEPEST, projects_folder
from geminids.sources.places import Home


def footprint(home: Home) -> dict[str, str]:
    """A text for each folder of a project by its path; by that of the home, one for what is none."""
    texts: dict[str, str] = {}
    notes: list[str] = []
    try:
        with os.scandir(projects_folder(home)) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    notes.append(_line(entry.name, entry.path))
                    continue
                lines: list[str] = []
                if not _walk(entry.path, "", DEEPEST, lines):
                    notes.append(f"{entry.name}/\tclosed")
                texts[entry.path] = _text(lines)
    except OSError as error:
        notes.append(_closed("projects/", error))
    texts[home.folder] = _text(notes)
    return texts


def _walk(folder: str, inside: str, levels: int, lines: list[str]) -> bool:
    """Add a line for all that a folder holds, so many levels deep; answers whether it could be listed."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = inside + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    lines.append(_line(name, entry.path))
                    continue
                lines.append(f"{name}/")
                if levels:
                    _walk(entry.path, f"{name}/", levels - 1, lines)
    except OSError as error:
        lines.append(_closed(inside, error))
        return False
    return True


def _line(name: str, path: str) -> str:
    try:
        # The method of an entry is no faster, and without an inode on Windows.
        facts = os.lstat(path)
    except OSError as error:
        return _closed(name, error)
    return f"{name}\t{facts.st_size} {facts.st_mtime_ns} {facts.st_ino} {facts.st_mode:o}"


def _closed(name: str, error: OSError) -> str:
    return f"{name}\terror {error.errno}"


def _text(lines: list[str]) -> str:
    """The lines in an order that does not depend on the disk, fit to be stored."""
    lines.sort()
    text = "\n".join(lines)
    # A name that is no UTF-8 is read as half characters, which cannot be written.
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
