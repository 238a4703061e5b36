"""Homes of Codex for tests, written line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

THREAD = "01a1e0f9-aca9-7bd1-abb4-3ce612cacbb1"
OTHER = "01a1e0f9-bd40-7c10-a562-598cdebb7ace"
DAY = "2026/11/15"
TIME = "2026-11-15T20:50:21.500Z"


def line(kind: str, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One line of a rollout."""
    return {"timestamp": TIME, "type": kind, "payload": payload, **more}


def meta(thread: str = THREAD, **more: Any) -> dict[str, Any]:
    """The first line."""
    return line(
        "session_meta", {"id": thread, "timestamp": TIME, "cwd": "/home/ada/shop", "source": "cli", **more}
    )


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    """Words of somebody."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return line("response_item", {"type": "message", "role": role, "content": content, **more})


def event(kind: str, **more: Any) -> dict[str, Any]:
    """An event."""
    return line("event_msg", {"type": kind, **more})


def counted(total: int, latest: int | None = None) -> dict[str, Any]:
    """A sum of tokens, of which one in ten was answered."""
    sums = {
        "total_token_usage": tokens(total),
        "last_token_usage": tokens(total if latest is None else latest),
    }
    return event("token_count", info=sums)


def tokens(total: int) -> dict[str, int]:
    output = total // 10
    counts = {"input_tokens": total - output, "cached_input_tokens": 0, "output_tokens": output}
    return {**counts, "reasoning_output_tokens": 0, "total_tokens": total}


def numbered(lines: list[dict[str, Any]], first: int = 0) -> list[dict[str, Any]]:
    """The same lines as a paginated history has them."""
    return [{**one, "ordinal": number} for number, one in enumerate(lines, first)]


def name_of(thread: str = THREAD, rollout: str | None = None) -> str:
    """The name of a rollout."""
    return f"rollout-2026-11-15T20-50-21-{thread}{f'_{rollout}' if rollout else ''}.jsonl"


def write_rollout(
    home: Path, lines: list[dict[str, Any]], name: str | None = None, folder: str = f"sessions/{DAY}"
) -> Path:
    """A rollout in the home of a user."""
    path = home / ".codex" / folder / (name or name_of(lines[0]["payload"]["id"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    return path
