"""What a home looks like from outside: texts that are others as soon as its content may be another one.

Every file that the scan would find (layout.py) is a line of the text of its project's folder: where it lies
in it, size, time of change, inode and mode (a link is told by it, and a file that may be read now). What
could not be looked at is a line with the number of the error. Nothing is opened, nothing is followed.
"""

from __future__ import annotations

import os

from geminids.agents.claude.homes import DEEPEST, projects_folder
from geminids.core.agents.homes import Home
from geminids.reading.footprints import closed, line, text, walk


def footprint(home: Home) -> dict[str, str]:
    """A text for each folder of a project by its path; by that of the home, one for what is none."""
    texts: dict[str, str] = {}
    notes: list[str] = []
    try:
        with os.scandir(projects_folder(home)) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    notes.append(line(entry.name, entry.path))
                    continue
                lines: list[str] = []
                if not walk(entry.path, DEEPEST, lines):
                    notes.append(f"{entry.name}/\tclosed")
                texts[entry.path] = text(lines)
    except OSError as error:
        notes.append(closed("projects/", error))
    texts[home.folder] = text(notes)
    return texts
