"""What a home looks like from outside: texts that are others as soon as its content may be another one.

Every rollout is a line of the text of its day: name, size, time of change, inode and mode. Under the home
stands the same for the names of sessions and for what lies among the days. Nothing is opened, nothing is
followed.

The list of typed prompts and the databases of Codex are left out: they change with every word, and say
nothing that the rollouts do not.
"""

from __future__ import annotations

import os

from geminids.sources.codex.folders import Walk, beside_sessions
from geminids.sources.codex.homes import NAMES_FILE
from geminids.sources.places import Home


def footprint(home: Home) -> dict[str, str]:
    """A text for each folder of rollouts by its path; by that of the home, one for what is said of all."""
    walk = Walk(home)
    texts = {
        shelf.path: _text([_line(e.name, e.path) for e in walk.entries(shelf.path)])
        for shelf in walk.shelves()
    }
    notes = [_line(NAMES_FILE, beside_sessions(home, NAMES_FILE))]
    notes += [_line(entry.path, entry.path) for entry in walk.others]
    notes += [_closed(path, error) for path, error in walk.closed]
    texts[home.folder] = _text(notes)
    return texts


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
