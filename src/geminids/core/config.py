"""Where things are: answers from options and the environment; nothing is opened here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence

HOMES_VARIABLE = "GEMINIDS_HOMES"
DATA_VARIABLE = "GEMINIDS_DATA"
EVERY_WORD_VARIABLE = "GEMINIDS_EVERY_WORD"
KEEP_VARIABLE = "GEMINIDS_KEEP"

DURABLE_FILE = "geminids.db"
"""What the user told us, in our own folder. Named here: to ask whether it is there loads nothing."""

KEPT_FOLDER = "kept"
"""The folder of the kept copies in our own, named here for the same reason."""
TABLES_FOLDER = "tables"
"""That of the tables that `sql` asks. They hold every word, so whoever forgets sessions removes it."""

_OUR_NAME = "geminids"
_WITH_OWN_PLACES = frozenset({"darwin", "ios", "android"})
"""Systems like Unix that keep data elsewhere than XDG says."""

VARIABLES = {
    HOMES_VARIABLE: "Home directories to read, separated by `:`. `--home` takes precedence.",
    DATA_VARIABLE: "The data directory. `--data` takes precedence.",
    EVERY_WORD_VARIABLE: "`1`: index every word of tool outputs; `0`: do not. Overrides the settings.",
    KEEP_VARIABLE: "`0`: keep no copies; `1`: keep all. Overrides the settings.",
    "GEMINIDS_KEY_PASSPHRASE": "`attest`, `key`: the passphrase of a key, if there is no terminal to ask.",
    "NO_COLOR": "Set to anything: no colour.",
    "CLICOLOR": "`0`: no colour.",
    "FORCE_COLOR": "Anything but `0`: colour also in a pipe.",
    "CLICOLOR_FORCE": "The same.",
    "TERM": "`dumb`: no colour and no pager.",
    "COLUMNS": "Width of the terminal.",
    "PAGER": "The pager of `show` on a terminal. Default: `less`; empty: none.",
    "LESS": "Options of `less`. Default: `-FX`.",
    "WATCHFILES_FORCE_POLLING": "`watch`: set to anything but `false`: poll instead of using file events.",
    "PATH": "`resume`: where to find the agent's own command.",
    "PWD": "The current folder as the shell spells it, links included.",
    "HISTFILE": "`projects resolve`: the history of the shell.",
    "ZDOTDIR": "`projects resolve`: where zsh keeps its history.",
    "XDG_DATA_HOME": "`projects resolve`: where fish and others keep their histories.",
    "APPDATA": "`projects resolve`: the same on Windows.",
    "_Z_DATA": "`projects resolve`: the folders that `z` knows.",
    "GOPATH": "`projects resolve`: a folder that holds projects.",
    "GHQ_ROOT": "The same.",
    "PROJECT_HOME": "The same.",
    "GITHUB_WORKSPACE": "The same.",
    "WORKSPACE": "The same.",
}
"""The environment variables that are heeded, ours and others'; sources name those of their agents."""


def home_folders(options: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The folders named by hand that stand for a user's home; none means the agents' own places."""
    named = options or [part for part in environment.get(HOMES_VARIABLE, "").split(os.pathsep) if part]
    return [absolute(folder) for folder in named]


def data_folder(option: str | None, environment: Mapping[str, str]) -> str | None:
    """The folder in which we keep what is ours; None for a user without a home."""
    named = option or environment.get(DATA_VARIABLE)
    if named:
        return absolute(named)
    return _xdg_data_folder(environment) if _keeps_to_xdg(environment) else _data_folder_of_system()


def _keeps_to_xdg(environment: Mapping[str, str]) -> bool:
    is_android = hasattr(sys, "getandroidapilevel") or "ANDROID_DATA" in environment
    return os.name == "posix" and sys.platform not in _WITH_OWN_PLACES and not is_android


def _xdg_data_folder(environment: Mapping[str, str]) -> str | None:
    """What platformdirs answers; loading it would be a quarter of the time that a command takes to start."""
    named = environment.get("XDG_DATA_HOME", "")
    if named.startswith("/"):
        return tidy(os.path.join(named, _OUR_NAME))  # noqa: PTH118
    home = environment.get("HOME", "")
    if not home.startswith("/"):
        home = _home_of_account()
    return f"{home.rstrip('/')}/.local/share/{_OUR_NAME}" if home else None


def _home_of_account() -> str:
    """The home that the system has noted for the user; empty if there is none."""
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        # In a container, a user may be no more than a number.
        return ""
    return home if home.startswith("/") else ""


def _data_folder_of_system() -> str | None:
    from platformdirs import user_data_path

    try:
        folder = user_data_path(_OUR_NAME, appauthor=False)
    except RuntimeError:
        return None
    # Older releases of platformdirs leave a `~` that leads nowhere.
    return str(folder) if folder.is_absolute() else None


def current_folder(environment: Mapping[str, str]) -> str | None:
    """The folder we are in, as the shell spells it if it is there too; None if it is gone."""
    shell = environment.get("PWD", "")
    try:
        here = os.getcwd()  # noqa: PTH109
        return shell if shell and os.path.samefile(shell, here) else here  # noqa: PTH121
    except OSError:
        return None


def expanded(path: str) -> str:
    """The path with the user's home for `~`. What cannot be expanded stays as it is."""
    return os.path.expanduser(path)  # noqa: PTH111 - pathlib raises where there is no such user


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path leads into one of these folders, through links or not."""
    real = os.path.realpath(path) + os.sep
    return any(real.startswith(os.path.realpath(folder) + os.sep) for folder in folders)


def absolute(path: str) -> str:
    """The same from the root on, tidy."""
    named = expanded(path)
    # The folder we are in may be gone.
    return tidy(named if os.path.isabs(named) else os.path.join(os.getcwd(), named))  # noqa: PTH109, PTH117, PTH118


def tidy(path: str) -> str:
    """A path without what leads nowhere. `..` stays, since it may lead elsewhere through a link."""
    if ".." in path:
        from pathlib import Path

        return str(Path(path))
    return os.path.normpath(path)
