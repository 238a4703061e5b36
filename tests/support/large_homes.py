"""Homes that are large enough that reading them takes a while."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from random import Random
from uuid import UUID

_SYLLABLES = (("bal", "cor", "den", "fim", "gul"), ("an", "ek", "io", "u"))
_WORDS = list(map("".join, product(*_SYLLABLES)))


def write_large_home(home: Path, sessions: range, turns: int = 24) -> None:
    """So many sessions in four projects, each with its own words; the same for the same numbers."""
    for number in sessions:
        random = Random(number)
        folder = home / ".gemini" / "tmp" / f"project-{number % 4}"
        (folder / "chats").mkdir(parents=True, exist_ok=True)
        (folder / ".project_root").write_text(f"/home/ada/project-{number % 4}")
        native_id = str(UUID(int=random.getrandbits(128), version=4))
        path = folder / "chats" / f"session-2026-05-01T10-00-{native_id[:8]}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in _records(native_id, random, turns)))


def _records(native_id: str, random: Random, turns: int) -> list[dict[str, object]]:
    at = "2026-05-01T10:00:00.000Z"
    header: dict[str, object] = {"sessionId": native_id, "startTime": at, "lastUpdated": at, "kind": "main"}
    return [header, *(_message(number, random) for number in range(turns))]


def _message(number: int, random: Random) -> dict[str, object]:
    text = " ".join(random.choices(_WORDS, k=15)) + f" only{random.getrandbits(40):x}"
    message: dict[str, object] = {"id": f"m{number}", "timestamp": f"2026-05-01T10:00:{number:02}.000Z"}
    if number % 2:
        return message | {"type": "gemini", "content": text, "model": "gemini-3-pro"}
    return message | {"type": "user", "content": [{"text": text}]}
