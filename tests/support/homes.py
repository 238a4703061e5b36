"""Small homes written by tests, in the shape Gemini CLI 0.61 gives them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

FIRST_ID = "1f0c9a2b-0000-4000-8000-000000000001"


def write_session(
    home: Path,
    native_id: str = FIRST_ID,
    *,
    slug: str = "shop",
    day: int = 1,
    prompt: str = "Fix the login redirect",
    answer: str = "Done.",
    calls: list[dict[str, Any]] | None = None,
    project: str | None = None,
) -> Path:
    """One session of one prompt and one answer; the path of its file."""
    folder = home / ".gemini" / "tmp" / slug
    project = project or f"/home/ada/dev/{slug}"
    (folder / "chats").mkdir(parents=True, exist_ok=True)
    (folder / ".project_root").write_text(project)
    date = f"2026-05-{day:02}T10"
    header = {
        "sessionId": native_id,
        "projectHash": hashlib.sha256(project.encode()).hexdigest(),
        "startTime": f"{date}:00:00.000Z",
        "lastUpdated": f"{date}:00:00.000Z",
        "kind": "main",
    }
    user = {
        "id": f"u-{native_id}",
        "timestamp": f"{date}:00:01.000Z",
        "type": "user",
        "content": [{"text": prompt}],
    }
    gemini = {
        "id": f"g-{native_id}",
        "timestamp": f"{date}:05:00.000Z",
        "type": "gemini",
        "content": answer,
        "thoughts": [],
        "tokens": {"input": 10, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 12},
        "model": "gemini-3-pro",
        "toolCalls": calls or [],
    }
    path = folder / "chats" / f"session-{date}-00-{native_id[:8]}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (header, user, gemini)))
    return path


def tool_call(name: str = "run_shell_command", **fields: Any) -> dict[str, Any]:
    """A finished tool call."""
    call = {
        "id": f"{name}__1",
        "name": name,
        "args": {"command": "npm test"},
        "status": "success",
        "timestamp": "2026-05-01T10:04:00.000Z",
        "result": [{"functionResponse": {"id": f"{name}__1", "name": name, "response": {"output": "ok"}}}],
    }
    return {**call, **fields}
