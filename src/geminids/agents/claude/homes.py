"""Where Claude Code keeps its data on this machine.

`CLAUDE_CONFIG_DIR` names the folder itself, not the one that contains it; other programs take a list with
commas there, so we do as well. `CLAUDE_PROJECTS_DIR` names the folder that holds the projects. Some releases
wrote to `~/.config/claude`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from geminids.core.agents.homes import Home, below, each_once, listed_folders, may_be_folder

AGENT = "claude"
DATA_FOLDER = ".claude"
PROJECTS = "projects"
HOME_VARIABLE = "CLAUDE_CONFIG_DIR"
PROJECTS_VARIABLE = "CLAUDE_PROJECTS_DIR"
DEEPEST = 6
"""So many levels of folders are looked into below the folder of a project."""


def slug_of(path: str) -> str:
    """Return the name of the folder in which the sessions of a project are: its path, without odd letters."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in path)


def homes(environment: Mapping[str, str], user_home: str) -> list[Home]:
    """The homes this machine should have, each once; one that is named need not be there."""
    found = [Home(AGENT, below(user_home, DATA_FOLDER), "the user's home")]
    if _holds_projects(elsewhere := below(user_home, ".config", AGENT)):
        found.append(Home(AGENT, elsewhere, "the user's home"))
    found += [Home(AGENT, path, HOME_VARIABLE) for path in _listed(environment, HOME_VARIABLE)]
    found += [Home(AGENT, path, PROJECTS_VARIABLE) for path in _listed(environment, PROJECTS_VARIABLE)]
    return list(each_once(found, projects_folder))


def homes_below(folder: str) -> list[Home]:
    """The homes in a folder that stands for a user's home, or that is itself a `.claude` folder."""
    return [Home(AGENT, path, "given") for path in _data_folders(folder)]


def projects_folder(home: Home) -> str:
    """The folder of a home that holds a folder for each project."""
    return home.folder if home.known_by == PROJECTS_VARIABLE else below(home.folder, PROJECTS)


def _data_folders(folder: str) -> Iterator[str]:
    if not os.access(folder, os.X_OK) and os.path.isdir(folder):  # noqa: PTH112
        # One place to report is enough.
        yield below(folder, DATA_FOLDER)
        return
    if may_be_folder(path := below(folder, DATA_FOLDER)):
        yield path
    if _holds_projects(path := below(folder, ".config", AGENT)):
        yield path
    if os.path.basename(folder) == DATA_FOLDER or _holds_sessions(folder):  # noqa: PTH119
        yield folder


def _holds_projects(folder: str) -> bool:
    return may_be_folder(below(folder, PROJECTS))


def _holds_sessions(folder: str) -> bool:
    """Whether a folder of another name holds what `.claude` holds: projects with sessions in them."""
    try:
        with os.scandir(below(folder, PROJECTS)) as projects:
            return any(_has_logs(project) for project in projects)
    except OSError:
        return False


def _has_logs(project: os.DirEntry[str]) -> bool:
    if not project.is_dir(follow_symlinks=False):
        return False
    try:
        with os.scandir(project.path) as entries:
            return any(entry.name.endswith(".jsonl") for entry in entries)
    except OSError:
        return False


def _listed(environment: Mapping[str, str], variable: str) -> Iterator[str]:
    named = ",".join(path.strip() for path in environment.get(variable, "").split(","))
    return listed_folders(named, ",")
