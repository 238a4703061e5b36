"""geminids as a plugin of Claude Code: files of its own, and where an old release needs it two lines.

    ~/.claude/skills/geminids/                  the plugin, since 2.1.157; nothing else is written

    ~/.claude/plugins/marketplaces/geminids/    the plugin, for releases before, or none that is known
    ~/.claude/plugins/known_marketplaces.json   where it is
    ~/.claude/settings.json                     that it is used: `enabledPlugins`
    ~/.claude/plugins/installed_plugins.json    where Claude Code itself notes it then

Seen with 2.0.60, 2.1.156, 2.1.157 and 2.1.325. A server could also stand in `~/.claude.json`, but that
file is written again and again by every Claude Code that runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from geminids.agents.claude.custody.installed import find_installed
from geminids.agents.claude.homes import PROJECTS_VARIABLE
from geminids.core.agents.homes import Home, below
from geminids.core.agents.install import (
    PROGRAM,
    Edit,
    Installing,
    Launch,
    Package,
    calls_hook_by_hand,
    filled,
    read_package,
    read_settings,
)
from geminids.core.agents.resume import Circumstances
from geminids.core.edits import json_text

PACKAGE = Path(__file__).parent / "package"
PLUGIN = f"{PROGRAM}@{PROGRAM}"
_SINCE_PLUGINS_AMONG_SKILLS = (2, 1, 157)
_NEVER = "1970-01-01T00:00:00.000Z"
"""When the plugin was last fetched from elsewhere; 2.0 wants a date."""


class ClaudeInstaller:
    """Writes a plugin."""

    def installing(self, home: Home, launch: Launch, circumstances: Circumstances) -> Installing | None:
        """The plugin where the release that is here looks for it."""
        if home.known_by == PROJECTS_VARIABLE:
            return None
        notes = tuple(_notes(home))
        installed = find_installed(circumstances.environment)
        if installed and installed.release and installed.release >= _SINCE_PLUGINS_AMONG_SKILLS:
            return Installing(packages=(_among_skills(home, launch),), notes=notes)
        return Installing(packages=(_in_marketplace(home, launch),), edits=_edits(home), notes=notes)

    def places(self, home: Home, launch: Launch) -> Installing:
        """Both ways."""
        packages = (_among_skills(home, launch), _in_marketplace(home, launch))
        noted = _edit(
            below(home.folder, "plugins", "installed_plugins.json"), ("plugins", PLUGIN), {}, is_by_agent=True
        )
        return Installing(packages=packages, edits=(*_edits(home), noted))


def _among_skills(home: Home, launch: Launch) -> Package:
    return _package(below(home.folder, "skills", PROGRAM), launch)


def _in_marketplace(home: Home, launch: Launch) -> Package:
    return _package(_marketplace(home), launch)


def _package(folder: str, launch: Launch) -> Package:
    return Package(folder, filled(read_package(PACKAGE), launch))


def _marketplace(home: Home) -> str:
    return below(home.folder, "plugins", "marketplaces", PROGRAM)


def _edits(home: Home) -> tuple[Edit, ...]:
    folder = _marketplace(home)
    known = {
        "source": {"source": "directory", "path": folder},
        "installLocation": folder,
        "lastUpdated": _NEVER,
    }
    return (
        _edit(below(home.folder, "plugins", "known_marketplaces.json"), (PROGRAM,), known),
        _edit(_settings_file(home), ("enabledPlugins", PLUGIN), value=True),
    )


def _edit(path: str, member: Sequence[str], value: Any, *, is_by_agent: bool = False) -> Edit:
    return Edit(
        path=path,
        difference=partial(_difference, member),
        add=partial(json_text.with_member, path=member, value=value),
        remove=partial(_without, member),
        is_by_agent=is_by_agent,
    )


def _difference(member: Sequence[str], first: bytes, second: bytes) -> str:
    is_same = json_text.member(first, member) == json_text.member(second, member)
    return "" if is_same else ".".join(member)


def _without(member: Sequence[str], text: bytes, before: bytes | None) -> bytes:
    return json_text.without_member(text, member, before)


def _settings_file(home: Home) -> str:
    return below(home.folder, "settings.json")


def _notes(home: Home) -> Iterator[str]:
    file = _settings_file(home)
    if calls_hook_by_hand(read_settings(file)):
        yield (
            f"{file!r} starts `geminids keep hook` too. The plugin does the same, so that "
            "hook can be removed."
        )
