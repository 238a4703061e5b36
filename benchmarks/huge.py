"""A home with one session of as many messages as nobody scrolls through."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

MESSAGES = 50_000
NATIVE_ID = "5f0c9a2b-0000-4000-8000-000000000001"
PROJECT = "/home/ada/dev/huge"


def write_huge(home: Path) -> Path:
    """A home with one session of so many messages, as Gemini CLI writes them."""
    folder = home / ".gemini" / "tmp" / "huge"
    (folder / "chats").mkdir(parents=True)
    (folder / ".project_root").write_text(PROJECT)
    at = "2026-05-01T10:00:00.000Z"
    header = {"sessionId": NATIVE_ID, "startTime": at, "lastUpdated": at, "kind": "main"}
    random = Random(5)
    with (folder / "chats" / f"session-2026-05-01T10-00-{NATIVE_ID[:8]}.jsonl").open("w") as log:
        for record in (header, *(_message(number, random) for number in range(MESSAGES))):
            log.write(json.dumps(record) + "\n")
    return home


def _message(number: int, random: Random) -> dict[str, object]:
    day, minute, second = 1 + number // 28_800, number // 20 % 1440, number % 20 * 3
    at = f"2026-05-{day:02}T{minute // 60:02}:{minute % 60:02}:{second:02}.000Z"
    message: dict[str, object] = {"id": f"m{number}", "timestamp": at}
    if number % 2 == 0:
        return message | {"type": "user", "content": [{"text": f"Prompt {number}: {_prose(random, 12)}"}]}
    code = "```python\ndef once(value):\n    return value  # as it is\n```\n"
    answer = f"## Result\n\n{_prose(random, 60)}\n\n- {_prose(random, 6)}\n\n{code}"
    tokens = {"input": 1000 + number, "output": 20, "cached": 500, "thoughts": 5, "tool": 0, "total": 1025}
    calls = [_call(number, at, random)] if number % 4 == 1 else []
    return message | {
        "type": "gemini",
        "content": answer,
        "thoughts": [{"subject": "Plan", "description": _prose(random, 20), "timestamp": at}],
        "tokens": tokens,
        "model": "gemini-3-pro",
        "toolCalls": calls,
    }


def _call(number: int, at: str, random: Random) -> dict[str, object]:
    name = "run_shell_command"
    output = "\n".join(_prose(random, 8) for _ in range(20))
    response = {"id": f"c{number}", "name": name, "response": {"output": output}}
    return {
        "id": f"c{number}",
        "name": name,
        "args": {"command": "npm test"},
        "status": "success",
        "timestamp": at,
        "result": [{"functionResponse": response}],
    }


def _prose(random: Random, words: int) -> str:
    return " ".join(
        random.choices(("alpha", "cache", "delta", "header", "login", "request", "token"), k=words)
    )
