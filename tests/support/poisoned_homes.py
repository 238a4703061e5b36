"""Recorded homes in which every text holds a secret, and characters that steer, reorder and hide."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import FIXTURES
from tests.support.planted_secrets import planted

SECRET = next(one.secrets[0] for one in planted() if one.is_token and one.secrets[0].startswith("ghp_"))
CONTROLS = "\u202egnp.\u2066\x1b[2J\x07\x9b\u200b\u2028"
POISON = f"{CONTROLS} {SECRET}"
SEPARATORS = ("\n", "\n\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
FORGED = "message 7777, human"
FORGED_LINES = "".join(separator + FORGED for separator in SEPARATORS)
"""A poison that begins lines of its own, wherever a separator is shown as it is."""
CASES = (
    *(
        "gemini/hostile",
        "gemini/mcp",
        "gemini/images",
        "gemini/subagents-nested-jsonl",
        "gemini/rewind-jsonl-1",
    ),
    *("claude/subagent", "claude/branches", "claude/named", "codex/subagents", "codex/tools"),
)
WHAT_IT_IS = frozenset(
    {
        *("type", "kind", "role", "timestamp", "startTime", "lastUpdated", "status", "subtype", "source"),
        *("mimeType", "media_type", "data", "phase", "originator", "version", "cli_version"),
        *("stop_reason", "userType", "operation", "$rewindTo", "projectHash", "image_url"),
    }
)
"""Without these a reader would not know what a record is, or when; others it takes as they come."""

_STARTING = frozenset({"Agent", "Task", "spawn_agent", "invoke_agent"})


def poisoned(value: Any, add: Callable[[str], str], key: str = "") -> Any:
    """The same with something added to every text but those that say what something is."""
    match value:
        case str() if key not in WHAT_IT_IS:
            return add(value)
        case dict():
            # Names of arguments are words of a model too.
            is_open = key in {"args", "arguments", "input"}
            return {
                add(name) if is_open and name != "command" else name: poisoned(one, add, name)
                for name, one in value.items()
            }
        case list():
            return [poisoned(one, add, key) for one in value]
        case _:
            return value


def write_poisoned(home: Path, cases: tuple[str, ...] = CASES, poison: str = POISON) -> Path:
    """A home of some cases, each text of each record poisoned; folders and files keep their names."""
    for case in cases:
        shutil.copytree(FIXTURES / case / "home", home, dirs_exist_ok=True)
    for path in home.rglob("*.json*"):
        if path.is_file():
            _poison(path, poison)
    return home


def forged_in(text: str) -> list[str]:
    """Return the lines of a text that begin with the poison `FORGED_LINES`."""
    return [line for line in text.splitlines() if line.lstrip().startswith(FORGED)]


def _poison(path: Path, poison: str) -> None:
    def add(words: str) -> str:
        # The calls that start subagents must be known for what they are.
        return words if words in _STARTING else words + poison

    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        path.write_text("".join(json.dumps(poisoned(line, add)) + "\n" for line in lines))
    elif "chats" in path.parts:
        path.write_text(json.dumps(poisoned(json.loads(path.read_text()), add)))
