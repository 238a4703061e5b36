"""Tasks that agents note down beside a session, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def task_words(content: str) -> str:
    """A task as a person would write it down; what is none, laid out as JSON or as it is."""
    try:
        task = json.loads(content)
    except (ValueError, RecursionError):
        return content
    match task:
        case {"title": str(title), "status": str(status)}:
            return "\n".join([f"[{status}] {title}", *_about(task)])
        case _:
            return json.dumps(task, indent=2, ensure_ascii=False)


def _about(task: Mapping[str, Any]) -> list[str]:
    """What else is known of a task: its description as it is, the rest by name."""
    described = [str(task["description"])] if task.get("description") else []
    return described + [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in task.items()
        if name not in {"title", "status", "description"} and value not in (None, "", [], {})
    ]
