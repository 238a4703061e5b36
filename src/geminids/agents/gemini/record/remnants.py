"""What messages tell of the records of Gemini CLI: of sessions, saved chats and the prompt log."""

from __future__ import annotations

from typing import Any

from geminids.core.model import Role
from geminids.sharing.records.remnants import MessageFacts, as_written, count, name, own_session, text, time

_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "gemini": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
}


def _side(facts: MessageFacts, value: Any) -> bool:
    """Who speaks, or how grave a notice is."""
    if not isinstance(value, str):
        return False
    role = _ROLES.get(value)
    return any(message.role is role or value == message.level for message in facts.messages)


def _own_id(facts: MessageFacts, value: Any) -> bool:
    """The id of the message; it has a mark if another replaced it under its id, or if it is new in a copy."""
    if not isinstance(value, str):
        return False
    marked = (f"{value}~", f"{value}+")
    return any(own == value or own.startswith(marked) for own in (message.id for message in facts.messages))


def _number_of_line(facts: MessageFacts, value: Any) -> bool:
    """The number of a line in the prompt log, which the message is named by."""
    named = ["line", str(value)]
    return type(value) is int and any(message.id.split("-")[:2] == named for message in facts.messages)


_DATA = {"data": name, "mimeType": name}
_FILE = {"fileUri": name, "mimeType": name}
_PART: dict[str, Any] = {"text": text, "inlineData": _DATA, "fileData": _FILE}
_BLOCK = {"text": text, "data": name, "mimeType": name}
_ANSWER = ({"output": text, "error": text, "content": [(text, _BLOCK)]}, text)
_PART["functionResponse"] = {"id": name, "name": name, "response": _ANSWER, "parts": [_PART]}
_PART["functionCall"] = {"id": name, "name": name, "args": as_written}
_CONTENT = (text, _PART, [(text, _PART)])
_DISPLAY = {
    "fileDiff": text,
    "fileName": name,
    "filePath": name,
    "originalContent": text,
    "newContent": text,
    "todos": [{"description": name, "status": name}],
    "agentName": name,
    "state": name,
    "result": text,
    "terminateReason": name,
    "recentActivity": as_written,
    "summary": text,
    "matches": as_written,
    "files": as_written,
}
_CALL = {
    "id": name,
    "name": name,
    "displayName": name,
    "description": text,
    "status": name,
    "agentId": name,
    "timestamp": time,
    "args": as_written,
    "result": _CONTENT,
    "resultDisplay": (_DISPLAY, as_written, text),
}
_TOKENS = {
    "input": count("input"),
    "cached": count("cached"),
    "output": count("output"),
    "thoughts": count("thoughts"),
    "tool": count("tool"),
    "total": count("total"),
}
RECORD = {
    "id": _own_id,
    "timestamp": time,
    "type": _side,
    "content": _CONTENT,
    "displayContent": _CONTENT,
    "model": name,
    "thoughts": [(text, {"subject": name, "description": text, "timestamp": time})],
    "tokens": _TOKENS,
    "toolCalls": [_CALL],
    # What was saved or logged apart from the sessions.
    "role": _side,
    "parts": _CONTENT,
    "sessionId": own_session,
    "messageId": _number_of_line,
    "message": text,
}
"""What a message may tell of a record."""


def identity(value: dict[str, Any]) -> str | None:
    """By what versions of one record are known."""
    own = value.get("id")
    return own if isinstance(own, str) else None
