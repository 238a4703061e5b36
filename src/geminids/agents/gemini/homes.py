"""Where Gemini CLI keeps its data on this machine.

`GEMINI_CLI_HOME` replaces the home that contains `.gemini` (since 0.25; older releases ignore it, so
the user's home is looked at too); people also set it to the `.gemini` folder itself. Inside the macOS
sandbox sessions go to `.cache/.gemini` (since 0.61). `GEMINI_SESSIONS_DIR` names the folder that holds
the projects.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from geminids.core.agents.homes import Home, below, each_once, listed_folders, may_be_folder

AGENT = "gemini"
DATA_FOLDER = ".gemini"
SESSIONS_VARIABLE = "GEMINI_SESSIONS_DIR"

PROJECTS_FILE = "projects.json"
TRUSTED_FILE = "trustedFolders.json"
REGISTRIES = (PROJECTS_FILE, TRUSTED_FILE)
"""The files of a home that name its projects."""
HISTORY = "history"
"""The folder of a home in which projects have a second marker, beside files as they were."""
MARKER = ".project_root"
"""The file in the folder of a project that names the folder it stands for."""
DEEPEST = 12
"""So many levels of folders are looked into below the folder of a project."""


def homes(environment: Mapping[str, str], user_home: str) -> list[Home]:
    """The homes this machine should have, each once; one that is named need not be there."""
    found = [Home(AGENT, path, "the user's home") for path in _expected_folders(user_home)]
    for value in listed_folders(environment.get("GEMINI_CLI_HOME")):
        found += [Home(AGENT, path, "GEMINI_CLI_HOME") for path in _expected_folders(value)]
    found += [
        Home(AGENT, value, SESSIONS_VARIABLE) for value in listed_folders(environment.get(SESSIONS_VARIABLE))
    ]
    return list(each_once(found, projects_folder))


def homes_below(folder: str) -> list[Home]:
    """The homes in a folder that stands for a user's home, or that is itself a `.gemini` folder."""
    return [Home(AGENT, path, "given") for path in _data_folders(folder)]


def projects_folder(home: Home) -> str:
    """The folder of a home that holds a folder for each project."""
    return home.folder if home.known_by == SESSIONS_VARIABLE else below(home.folder, "tmp")


def registry_folder(home: Home) -> str:
    """The folder of a home that holds the registry of its projects."""
    folder = projects_folder(home)
    above, name = os.path.split(folder)
    return above if name == "tmp" else folder


def markers_elsewhere(home: Home) -> str:
    """The folder of a home in which projects have a second marker, for those that have none of their own."""
    return below(registry_folder(home), HISTORY)


def _expected_folders(folder: str) -> list[str]:
    return list(_data_folders(folder)) or [below(folder, DATA_FOLDER)]


def _data_folders(folder: str) -> Iterator[str]:
    if not os.access(folder, os.X_OK) and os.path.isdir(folder):  # noqa: PTH112
        # One place to report is enough.
        yield below(folder, DATA_FOLDER)
        return
    for path in (below(folder, DATA_FOLDER), below(folder, ".cache", DATA_FOLDER)):
        if may_be_folder(path):
            yield path
    if os.path.basename(folder) == DATA_FOLDER or _is_data_folder(folder):  # noqa: PTH119
        yield folder


def _is_data_folder(folder: str) -> bool:
    """Whether a folder of another name holds what `.gemini` holds: a `tmp` with projects."""
    try:
        with os.scandir(below(folder, "tmp")) as projects:
            return any(os.path.lexists(below(project.path, "chats")) for project in projects)
    except OSError:
        return False
