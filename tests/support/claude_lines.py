"""Small session files written by tests, in the shape Claude Code 2.1 gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from geminids.agents.claude import ClaudeSource
from geminids.core.agents.base import Reading
from geminids.core.model import Session

SESSION = "3f2c9a2b-0000-4000-8000-000000000001"
FOLDER = "/home/ada/dev/shop"
SLUG = "-home-ada-dev-shop"

Line = dict[str, Any]


def line(kind: str, uuid: str, parent: str | None, second: int = 0, **more: Any) -> Line:
    """A record of the tree."""
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": FOLDER,
        "sessionId": SESSION,
        "version": "2.1.325",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid,
        "timestamp": f"2026-05-01T10:{second // 60:02}:{second % 60:02}.000Z",
        **more,
    }


def user(uuid: str, parent: str | None, content: object, second: int = 0, **more: Any) -> Line:
    """Something in the human's place."""
    return line("user", uuid, parent, second, message={"role": "user", "content": content}, **more)


def reply(uuid: str, parent: str | None, *blocks: Line, reply_id: str, second: int = 0, **more: Any) -> Line:
    """A line of a reply of the model."""
    usage = more.pop("usage", {"input_tokens": 10, "output_tokens": 2})
    model = more.pop("model", "claude-opus-5-5")
    message = {"id": reply_id, "role": "assistant", "model": model, "content": list(blocks), "usage": usage}
    return line("assistant", uuid, parent, second, message=message, requestId=f"req-{reply_id}", **more)


def words(text: str) -> Line:
    """A block of words."""
    return {"type": "text", "text": text}


def call(call_id: str, name: str = "Read", **arguments: Any) -> Line:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def answer(call_id: str, text: str = "ok", **more: Any) -> Line:
    """A block with what a tool answered."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **more}


def text_of(lines: list[Line]) -> str:
    """The lines as a file holds them."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in lines)


def write(home: Path, *lines: Line, name: str = f"{SESSION}.jsonl", slug: str = SLUG) -> Path:
    """A session file where the CLI puts it."""
    file = home / ".claude" / "projects" / slug / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text_of(list(lines)), "utf-8")
    return file


def read(home: Path, *lines: Line) -> Session:
    """The one session that these lines make."""
    reading = ClaudeSource().read_alone(write(home, *lines))
    assert reading is not None
    (session,) = reading.sessions
    return session


def read_home(home: Path) -> Reading:
    """All that a home holds."""
    source = ClaudeSource()
    (found,) = source.homes_below(str(home))
    return Reading.joined(source.read(bundle) for bundle in source.scan(found).bundles)
