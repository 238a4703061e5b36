"""geminids in Codex CLI: a server, a skill, and a program that is told of every turn.

    ~/.codex/config.toml        `notify` at the top, a table [mcp_servers.geminids] at the end
    ~/.codex/skills/geminids/   a skill

What is told at the end of a turn needs nobody's consent and comes in every release; hooks run only when the
user has accepted them, and none is called when the terminal is left. Where `notify` is taken already, a hook
is added. Seen with 0.140.0 and 0.166.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geminids.agents.codex.homes import SESSIONS_VARIABLE
from geminids.core.agents.homes import Home, below
from geminids.core.agents.install import (
    PROGRAM,
    Edit,
    Installing,
    Launch,
    Package,
    calls_hook_by_hand,
    command_line,
    read_package,
    read_settings,
)
from geminids.core.agents.resume import Circumstances
from geminids.core.edits import toml_text
from geminids.core.edits.errors import UneditableError
from geminids.core.edits.nested import value_at

PACKAGE = Path(__file__).parent / "package"
_SKILL = PACKAGE / "plugins" / PROGRAM / "skills" / PROGRAM
_SERVER = ("mcp_servers", PROGRAM)
_NOTIFY = "notify"
_HOOK = ("hooks", "Stop")
_HOOK_SECONDS = 5


class CodexInstaller:
    """Writes a skill and adds to the settings."""

    def installing(self, home: Home, launch: Launch, circumstances: Circumstances) -> Installing | None:
        """The skill, and what is added to the settings."""
        if home.known_by == SESSIONS_VARIABLE:
            return None
        places = self.places(home, launch)
        return Installing(packages=places.packages, edits=places.edits, notes=tuple(_notes(home)))

    def places(self, home: Home, launch: Launch) -> Installing:
        """The same."""
        edit = Edit(
            path=_settings_file(home),
            difference=_difference,
            add=lambda text: _added(text, launch),
            remove=_removed,
        )
        skill = Package(below(home.folder, "skills", PROGRAM), read_package(_SKILL))
        return Installing(packages=(skill,), edits=(edit,))


def _settings_file(home: Home) -> str:
    return below(home.folder, "config.toml")


def _difference(first: bytes, second: bytes) -> str:
    """Return the names of our settings in which two texts differ."""
    said, other = toml_text.meaning(first), toml_text.meaning(second)
    paths = (_SERVER, (_NOTIFY,), _HOOK)
    return ", ".join(".".join(path) for path in paths if value_at(said, path) != value_at(other, path))


def _added(text: bytes, launch: Launch) -> bytes:
    server: dict[str, Any] = {"command": launch.server[0], "args": launch.server[1:]}
    if launch.environment:
        # Codex CLI hands a server nothing of its own environment but a few names.
        server["env"] = dict(launch.environment)
    added = toml_text.with_table(text, _SERVER, server)
    if _calls_hook(text):
        return added
    if not _is_taken(text):
        return toml_text.with_key(added, _NOTIFY, launch.hook)
    hook = {"type": "command", "command": command_line(launch.hook), "timeout": _HOOK_SECONDS}
    return toml_text.with_element(added, _HOOK, {"hooks": [hook]})


def _removed(text: bytes, _: bytes | None) -> bytes:
    without = toml_text.without_table(toml_text.without_element(text, _HOOK, _is_our_hook), _SERVER)
    return toml_text.without_key(without, _NOTIFY, _is_our_hook)


def _is_our_hook(value: Any) -> bool:
    return calls_hook_by_hand(repr(value).encode(errors="replace"))


def _calls_hook(text: bytes) -> bool:
    """Whether the user starts the hook already, in one line or in several."""
    return calls_hook_by_hand(text) or _is_our_hook(toml_text.meaning(text).get(_NOTIFY))


def _is_taken(text: bytes) -> bool:
    return _NOTIFY in toml_text.meaning(text)


def _notes(home: Home) -> Iterator[str]:
    file = _settings_file(home)
    try:
        text = _removed(read_settings(file), None)
        is_taken = _is_taken(text)
    except UneditableError:
        # Adding to it will say what is wrong.
        return
    if _calls_hook(text):
        yield f"{file!r} already starts `geminids keep hook`; that stays as it is."
    elif is_taken:
        yield (
            "Codex CLI starts another program after each turn (`notify`), so a hook keeps sessions. At its "
            "next start, Codex CLI asks you to accept the hook; until then it does not run."
        )
