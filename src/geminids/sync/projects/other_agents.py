"""Folders in which other agents on this machine were used: Claude Code and Codex.

    ~/.claude/projects/<name>/<session>.jsonl       records with a `cwd`; <name> is the folder's path with
                                                    `-` for all that is no letter or digit
    ~/.codex/config.toml                            [projects."<folder>"]
    ~/.codex/sessions/2026/05/01/rollout-*.jsonl    the first record has a `cwd`

Of each file a bounded part is read, and of that only the folders are kept. `~/.claude.json` names
folders too, but it also holds the user's account: it is never opened.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, takewhile
from math import inf
from pathlib import Path

from geminids.core.model import KnownBy
from geminids.sync.projects.files import beginning, subfolders
from geminids.sync.projects.resolving import Known

_LARGEST_SETTINGS = 32 * 1024 * 1024
_FIRST_BYTES = 64 * 1024
_MOST_FOLDERS = 500
_MOST_SESSIONS = 200
_MOST_LOOKS = 400
"""How many folders are listed to find one that a name stands for."""

_CWD = re.compile(rb'(?<!\\)"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_NO_LETTER = re.compile(r"[^A-Za-z0-9]")


def other_agents(home: Path, environment: Mapping[str, str], deadline: float = inf) -> Iterator[Known]:
    """The folders that other agents know, each once, as far as the time allows."""
    seen: set[str] = set()
    for folders in (
        _claude_folders(home, environment, deadline),
        _codex_folders(home, environment, deadline),
    ):
        for path in folders:
            if path not in seen:
                seen.add(path)
                yield path, KnownBy.OTHER_AGENT


def _claude_folders(home: Path, environment: Mapping[str, str], deadline: float) -> Iterator[str]:
    data = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    projects = Path(environment.get("CLAUDE_PROJECTS_DIR") or data / "projects")
    for folder in subfolders(projects)[:_MOST_FOLDERS]:
        if time.monotonic() >= deadline:
            return
        worked_in = _worked_in(_sessions(folder, "*.jsonl"), 3, deadline)
        yield from worked_in
        if all(_claude_name(path) != folder.name for path in worked_in):
            yield from folders_named(folder.name)


def _codex_folders(home: Path, environment: Mapping[str, str], deadline: float) -> Iterator[str]:
    import tomllib

    data = Path(environment.get("CODEX_HOME") or home / ".codex")
    written = beginning(data / "config.toml", _LARGEST_SETTINGS).decode("utf-8", "replace")
    try:
        yield from _keys(tomllib.loads(written))
    except (tomllib.TOMLDecodeError, RecursionError):
        yield from re.findall(r'^\[projects\."([^"\\]+)"\]', written, re.MULTILINE)
    sessions = Path(environment.get("CODEX_SESSIONS_DIR") or data / "sessions")
    yield from _worked_in(_rollouts(sessions), _MOST_SESSIONS, deadline)


def _keys(settings: object) -> list[str]:
    match settings:
        case {"projects": dict(projects)}:
            return [path for path in projects if isinstance(path, str) and path]
        case _:
            return []


def _json(written: bytes) -> object:
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None


def _sessions(folder: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from sorted(folder.glob(pattern), reverse=True)
    except OSError:
        return


def _rollouts(sessions: Path) -> Iterator[Path]:
    """The sessions of Codex, the newest first; no more folders are listed than are asked for."""
    for year in _by_name(sessions):
        for month in _by_name(year):
            for day in _by_name(month):
                yield from _sessions(day, "rollout-*.jsonl")


def _by_name(folder: Path) -> list[Path]:
    return sorted(subfolders(folder), reverse=True)


def _worked_in(sessions: Iterable[Path], most: int, deadline: float) -> list[str]:
    """The folders that the first sessions say they were worked in."""
    found: dict[str, None] = {}
    for session in takewhile(lambda _: time.monotonic() < deadline, islice(sessions, most)):
        if named := _CWD.search(beginning(session, _FIRST_BYTES)):
            path = _json(named[1])
            if isinstance(path, str) and path:
                found[path] = None
    return list(found)


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


def _claude_name(path: str) -> str:
    return _NO_LETTER.sub("-", path)
