"""Folders in which Claude Code was used.

    ~/.claude/projects/<name>/<session>.jsonl    records with a `cwd`; <name> is the folder's path with
                                                 `-` for all that is no letter or digit

`~/.claude.json` names folders too, but it also holds the user's account: it is never opened.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from geminids.agents.claude.homes import DATA_FOLDER, HOME_VARIABLE, PROJECTS, PROJECTS_VARIABLE
from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.peeks import subfolders
from geminids.reading.worked_in import logs_in, worked_in

_MOST_FOLDERS = 500
_MOST_LOOKS = 400
"""How many folders are listed to find one that a name stands for."""
_NO_LETTER = lazy_pattern(r"[^A-Za-z0-9]")


def known_folders(user_home: Path, environment: Mapping[str, str], deadline: float) -> Iterator[str]:
    """The folders of its projects, as far as the time allows."""
    data = Path(environment.get(HOME_VARIABLE) or user_home / DATA_FOLDER)
    projects = Path(environment.get(PROJECTS_VARIABLE) or data / PROJECTS)
    for folder in subfolders(projects)[:_MOST_FOLDERS]:
        if time.monotonic() >= deadline:
            return
        found = worked_in(logs_in(folder, "*.jsonl"), 3, deadline)
        yield from found
        if all(_NO_LETTER.sub("-", path) != folder.name for path in found):
            yield from folders_named(folder.name)


def folders_named(name: str, root: str = "/") -> list[str]:
    """The folders on this disk that Claude Code gives this name, found step by step from the root.

    `-home-ana-my-shop` may be /home/ana/my-shop or /home/ana/my/shop: what is there tells.
    """
    if drive := re.match(r"([A-Za-z])--", name):
        root, name = f"{drive[1]}:\\", name[3:]
    elif name.startswith("-"):
        name = name[1:]
    else:
        return []
    found: list[str] = []
    waiting = [(root, name)]
    for _ in range(_MOST_LOOKS):
        if not waiting:
            break
        folder, rest = waiting.pop()
        for child in _child_names(folder):
            spelled = _NO_LETTER.sub("-", child)
            path = os.path.join(folder, child)  # noqa: PTH118 - the spelling is what counts
            if spelled == rest:
                found.append(path)
            elif rest.startswith(spelled + "-"):
                waiting.append((path, rest[len(spelled) + 1 :]))
    return found


def _child_names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
