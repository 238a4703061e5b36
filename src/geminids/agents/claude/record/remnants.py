"""What messages tell of the records of Claude Code."""

from __future__ import annotations

from typing import Any

from geminids.sharing.records.remnants import (
    MessageFacts,
    as_written,
    count,
    name,
    one_of,
    own_session,
    role,
    text,
    time,
)


def _patch(facts: MessageFacts, value: Any) -> bool:
    """A patch in pieces, each of which stands in a diff."""
    return isinstance(value, list) and all(_is_in_diff(facts, hunk) for hunk in value)


def _is_in_diff(facts: MessageFacts, hunk: Any) -> bool:
    match hunk:
        case {"oldStart": a, "oldLines": b, "newStart": c, "newLines": d, "lines": list(lines), **others}:
            if others or not all(isinstance(line, str) for line in lines):
                return False
            return facts.says("\n".join([f"@@ -{a},{b} +{c},{d} @@", *lines]))
        case _:
            return False


def _level(facts: MessageFacts, value: Any) -> bool:
    """How grave a notice is."""
    return any(value == message.level for message in facts.messages)


_BLOCK: dict[str, Any] = {
    "type": one_of("text", "thinking", "tool_use", "tool_result", "image", "document"),
    "text": text,
    "thinking": text,
    "id": name,
    "name": name,
    "input": as_written,
    "tool_use_id": name,
    "source": {"data": name, "media_type": name, "url": name, "file_id": name},
}
_CONTENT = (text, _BLOCK, [(text, _BLOCK)])
_BLOCK["content"] = _CONTENT
_USAGE = {
    "input_tokens": count("fresh"),
    "cache_read_input_tokens": count("cached"),
    "cache_creation_input_tokens": count("cache_write"),
    "output_tokens": count("output", "thoughts"),
    "output_tokens_details": {"thinking_tokens": count("thoughts")},
    "cache_creation": {"ephemeral_1h_input_tokens": count("cache_write_hour")},
}
_MESSAGE = {"id": name, "role": role, "model": name, "content": _CONTENT, "usage": _USAGE}
_RESULT = {
    "stdout": text,
    "stderr": text,
    "content": _CONTENT,
    "file": {"filePath": name, "content": text},
    "filePath": name,
    "oldString": text,
    "newString": text,
    "originalFile": text,
    "originalFileContents": text,
    "structuredPatch": _patch,
    "newTodos": as_written,
    "edits": as_written,
    "prompt": text,
    "description": text,
    "plan": text,
    "questions": as_written,
    "agentId": name,
}
_ATTACHED = {
    "content": (text, {"content": text, "file": {"filePath": name, "content": text}}, [(text, _BLOCK)]),
    "prompt": _CONTENT,
    "filename": name,
    "path": name,
    **dict.fromkeys(("text", "message", "stdout", "stderr", "snippet", "blockingError"), text),
    **dict.fromkeys(("planContent", "addedContent"), text),
}
RECORD = {
    "type": role,
    "uuid": name,
    "timestamp": time,
    "sessionId": own_session,
    "message": (text, _MESSAGE),
    "content": _CONTENT,
    "level": _level,
    "toolUseResult": (text, _RESULT, [(text, _BLOCK)]),
    "attachment": _ATTACHED,
    "rendered": [{"content": _CONTENT}],
}
"""What a message may tell of a record."""


def identity(value: dict[str, Any]) -> str | None:
    """By what copies of one record are known."""
    own = value.get("uuid")
    return own if isinstance(own, str) else None
