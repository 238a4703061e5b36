"""Where Codex CLI keeps its data on this machine.

    ~/.codex, or $CODEX_HOME
        sessions/YYYY/MM/DD/rollout-<local time>-<thread>[_<rollout>].jsonl[.zst]
        archived_sessions/rollout-….jsonl[.zst]
        session_index.jsonl    names of sessions

`CODEX_SESSIONS_DIR` names a folder that is laid out like `sessions`, wherever it lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from geminids.core.agents.homes import Home, below, each_once, listed_folders, may_be_folder

AGENT = "codex"
DATA_FOLDER = ".codex"
HOME_VARIABLE = "CODEX_HOME"
SESSIONS_VARIABLE = "CODEX_SESSIONS_DIR"

VARIABLES = {
    HOME_VARIABLE: "Where Codex CLI keeps its data, instead of `~/.codex`.",
    SESSIONS_VARIABLE: "A folder with the layout of Codex CLI's `sessions`; read in addition to the others.",
}

SESSIONS = "sessions"
ARCHIVED = "archived_sessions"
NAMES_FILE = "session_index.jsonl"
"""What sessions were called by the human."""


def homes(environment: Mapping[str, str], user_home: str) -> list[Home]:
    """The homes this machine should have, each once; one that is named need not be there."""
    found = [Home(AGENT, below(user_home, DATA_FOLDER), "the user's home")]
    for variable in (HOME_VARIABLE, SESSIONS_VARIABLE):
        found += [Home(AGENT, path, variable) for path in listed_folders(environment.get(variable))]
    return list(each_once(found, sessions_folder))


def homes_below(folder: str) -> list[Home]:
    """The home in a folder that stands for a user's home, or that is itself a `.codex` folder."""
    inside = below(folder, DATA_FOLDER)
    if may_be_folder(inside):
        return [Home(AGENT, inside, "given")]
    is_home = os.path.basename(folder) == DATA_FOLDER or _is_data_folder(folder)  # noqa: PTH119
    return [Home(AGENT, folder, "given")] if is_home else []


def sessions_folder(home: Home) -> str:
    """The folder of a home that holds a folder for each year."""
    return home.folder if home.known_by == SESSIONS_VARIABLE else below(home.folder, SESSIONS)


def archive_folder(home: Home) -> str | None:
    """The folder of a home to which archived sessions are moved; a folder of sessions alone has none."""
    return None if home.known_by == SESSIONS_VARIABLE else below(home.folder, ARCHIVED)


def _is_data_folder(folder: str) -> bool:
    """Whether a folder of another name holds what `.codex` holds: sessions by year, or archived ones."""
    return may_be_folder(below(folder, ARCHIVED)) or any(_years(below(folder, SESSIONS)))


def _years(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if len(entry.name) == 4 and entry.name.isdigit())
    except OSError:
        return
