"""Where Gemini CLI keeps its data on this machine.

`GEMINI_CLI_HOME` replaces the home that contains `.gemini` (since 0.25; older releases ignore it, so
the user's home is looked at too); people also set it to the `.gemini` folder itself. Inside the macOS
sandbox sessions go to `.cache/.gemini` (since 0.61). `GEMINI_SESSIONS_DIR` names the folder that holds
the projects.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from geminids.sources.places import Home, may_be_folder

AGENT = "gemini"
_DATA_FOLDER = ".gemini"
SESSIONS_VARIABLE = "GEMINI_SESSIONS_DIR"

PROJECTS_FILE = "projects.json"
TRUSTED_FILE = "trustedFolders.json"
REGISTRIES = (PROJECTS_FILE, TRUSTED_FILE)
"""The files of a home that name its projects."""
MARKER = ".project_root"
"""The file in the folder of a project that names the folder it stands for."""
DEEPEST = 12
"""So many levels of folders are looked into below the folder of a project."""


def homes(environment: Mapping[str, str], user_home: Path) -> list[Home]:
    """The homes this machine should have, each once; one that is named need not be there."""
    found = [Home(AGENT, path, "the user's home") for path in _expected_folders(user_home)]
    for value in _paths(environment.get("GEMINI_CLI_HOME")):
        found += [Home(AGENT, path, "GEMINI_CLI_HOME") for path in _expected_folders(value)]
    found += [Home(AGENT, value, SESSIONS_VARIABLE) for value in _paths(environment.get(SESSIONS_VARIABLE))]
    return list(_each_once(found))


def homes_below(folder: Path) -> list[Home]:
    """The homes in a folder that stands for a user's home, or that is itself a `.gemini` folder."""
    return [Home(AGENT, path, "given") for path in _data_folders(folder)]


def projects_folder(home: Home) -> Path:
    """The folder of a home that holds a folder for each project."""
    return home.path if home.known_by == SESSIONS_VARIABLE else home.path / "tmp"


def registry_folder(home: Home) -> Path:
    """The folder of a home that holds the registry of its projects."""
    folder = projects_folder(home)
    return folder.parent if folder.name == "tmp" else folder


def markers_elsewhere(home: Home) -> Path:
    """The folder of a home in which projects have a second marker, for those that have none of their own."""
    return registry_folder(home) / "history"


def _expected_folders(folder: Path) -> list[Path]:
    return list(_data_folders(folder)) or [folder / _DATA_FOLDER]


def _data_folders(folder: Path) -> Iterator[Path]:
    if not os.access(folder, os.X_OK) and folder.is_dir():
        # One place to report is enough.
        yield folder / _DATA_FOLDER
        return
    for path in (folder / _DATA_FOLDER, folder / ".cache" / _DATA_FOLDER):
        if may_be_folder(path):
            yield path
    if folder.name == _DATA_FOLDER or _is_data_folder(folder):
        yield folder


def _is_data_folder(folder: Path) -> bool:
    """Whether a folder of another name holds what `.gemini` holds: a `tmp` with projects."""
    try:
        return (folder / "tmp").is_dir() and any((folder / "tmp").glob("*/chats"))
    except PermissionError:
        return False


def _paths(value: str | None) -> Iterator[Path]:
    for path in (value or "").split(os.pathsep):
        if path:
            # Unlike Path.expanduser, this leaves a user who is not there as written.
            yield Path(os.path.expanduser(path))  # noqa: PTH111


def _each_once(homes: Iterable[Home]) -> Iterator[Home]:
    seen: set[str] = set()
    for home in homes:
        real = os.path.realpath(projects_folder(home))
        if real not in seen:
            seen.add(real)
            yield home
