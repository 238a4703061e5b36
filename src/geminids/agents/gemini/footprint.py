"""What a home looks like from outside: texts that are others as soon as its content may be another one.

Every file that the scan would find (layout.py) is a line of the text of its folder: where it lies in it,
size, time of change, inode and mode (a link is told by it, and a file that may be read now). What could
not be looked at is a line with the number of the error. Nothing is opened, nothing is followed.
"""

from __future__ import annotations

import os

from geminids.agents.gemini.homes import (
    DEEPEST,
    MARKER,
    REGISTRIES,
    markers_elsewhere,
    projects_folder,
    registry_folder,
)
from geminids.core.agents.homes import Home
from geminids.reading.footprints import closed, line, text, walk

_BELOW = {"chats": 1}
"""Below `chats` only the folders of subagents are looked into."""


def footprint(home: Home) -> dict[str, str]:
    """A text for each folder of a project by its path; by that of the home, one for its notes."""
    root = registry_folder(home)
    notes = [line(name, f"{root}{os.sep}{name}") for name in REGISTRIES]
    texts = _texts_of_projects(home, notes)
    texts[home.folder] = text(notes)
    return texts


def _texts_of_projects(home: Home, notes: list[str]) -> dict[str, str]:
    """A text for each folder; what is no folder, or closed, is noted: it may be a folder of any project."""
    texts: dict[str, str] = {}
    markers = markers_elsewhere(home)
    try:
        with os.scandir(projects_folder(home)) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    notes.append(line(f"tmp/{entry.name}", entry.path))
                    continue
                marker = f"{markers}{os.sep}{entry.name}{os.sep}{MARKER}"
                lines = [line(f"history/{MARKER}", marker)]
                if not walk(entry.path, DEEPEST, lines, other_levels=_BELOW):
                    notes.append(f"tmp/{entry.name}/\tclosed")
                texts[entry.path] = text(lines)
    except OSError as error:
        notes.append(closed("tmp/", error))
    return texts
