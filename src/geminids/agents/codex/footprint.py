"""What a home looks like from outside: texts that are others as soon as its content may be another one.

Every rollout is a line of the text of its day: name, size, time of change, inode and mode. Under the home
stands the same for the names of sessions and for what lies among the days. Nothing is opened, nothing is
followed.

The list of typed prompts and the databases of Codex are left out: they change with every word, and say
nothing that the rollouts do not.
"""

from __future__ import annotations

from geminids.agents.codex.folders import Walk, beside_sessions
from geminids.agents.codex.homes import NAMES_FILE
from geminids.core.agents.homes import Home
from geminids.reading.footprints import closed, line, text


def footprint(home: Home) -> dict[str, str]:
    """A text for each folder of rollouts by its path; by that of the home, one for what is said of all."""
    walk = Walk(home)
    texts = {
        shelf.path: text([line(e.name, e.path) for e in walk.entries(shelf.path)]) for shelf in walk.shelves()
    }
    notes = [line(NAMES_FILE, beside_sessions(home, NAMES_FILE))]
    notes += [line(entry.path, entry.path) for entry in walk.others]
    notes += [closed(path, error) for path, error in walk.closed]
    texts[home.folder] = text(notes)
    return texts
