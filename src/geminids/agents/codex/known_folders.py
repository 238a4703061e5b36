"""Folders in which Codex CLI was used.

~/.codex/config.toml                            [projects."<folder>"]
~/.codex/sessions/2026/05/01/rollout-*.jsonl    the first record has a `cwd`
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from geminids.agents.codex.homes import DATA_FOLDER, HOME_VARIABLE, SESSIONS, SESSIONS_VARIABLE
from geminids.reading.peeks import beginning, subfolders
from geminids.reading.worked_in import logs_in, worked_in

_LARGEST_SETTINGS = 32 * 1024 * 1024
_MOST_SESSIONS = 200


def known_folders(user_home: Path, environment: Mapping[str, str], deadline: float) -> Iterator[str]:
    """The folders that its settings name, and those that its sessions were worked in."""
    data = Path(environment.get(HOME_VARIABLE) or user_home / DATA_FOLDER)
    yield from _in_settings(data / "config.toml")
    sessions = Path(environment.get(SESSIONS_VARIABLE) or data / SESSIONS)
    yield from worked_in(_rollouts(sessions), _MOST_SESSIONS, deadline)


def _in_settings(file: Path) -> list[str]:
    written = beginning(file, _LARGEST_SETTINGS).decode("utf-8", "replace")
    try:
        settings = tomllib.loads(written)
    except (tomllib.TOMLDecodeError, RecursionError):
        return re.findall(r'^\[projects\."([^"\\]+)"\]', written, re.MULTILINE)
    projects = settings.get("projects")
    return [path for path in projects if path] if isinstance(projects, dict) else []


def _rollouts(sessions: Path) -> Iterator[Path]:
    """The sessions, the newest first; no more folders are listed than are asked for."""
    for year in _by_name(sessions):
        for month in _by_name(year):
            for day in _by_name(month):
                yield from logs_in(day, "rollout-*.jsonl")


def _by_name(folder: Path) -> list[Path]:
    return sorted(subfolders(folder), reverse=True)
