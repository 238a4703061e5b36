"""The agent's view: what Gemini CLI's own loader (0.44 to 0.61) makes of a session file.

The loader keeps the last version of each message in the first version's place, empties its list
at every checkpoint, and drops a message and all after it at a rewind. It takes no heed of what a
checkpoint left out: for that there is `replay`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geminids.agents.gemini.read.log import read_log
from geminids.agents.gemini.read.records import FileLog, Format, Kind
from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.jsonl import UndecodableError, decode

_PASSED_ON = (
    *("sessionId", "projectHash", "startTime", "lastUpdated"),
    *("summary", "memoryScratchpad", "directories", "kind"),
)
_NOT_RESUMABLE = lazy_pattern(r"\s*(?:[/?]|<session_context>|<hook_context>)")


def agent_view(log: FileLog, content: bytes) -> dict[str, Any] | None:
    """The record as the loader returns it; None where it finds no session."""
    is_one_line = b"\n" not in content.strip()
    if log.has_halves if log.format is Format.LOG else is_one_line:
        # The loader goes line by line whatever the name; a document on one line is a header to it.
        log = read_log(log.path, content, keeps_halves=True)
    if log.format is Format.LOG:
        view = _replayed(log)
        if view is not None:
            return view
    return _whole_document(content)


def _replayed(log: FileLog) -> dict[str, Any] | None:
    meta: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    first_prompt: str | None = None
    stale = False
    for record in log.records:
        if not record.agent_reads:
            continue
        value = record.value
        match record.kind:
            case Kind.REWIND:
                _rewind(messages, value["$rewindTo"])
                stale = True
            case Kind.MESSAGE:
                messages[value["id"]] = value
                first_prompt = first_prompt or _first_prompt([value], first_prompt)
                stale = True
            case Kind.UPDATE | Kind.CHECKPOINT:
                changes = value["$set"]
                if record.kind is Kind.CHECKPOINT:
                    messages.clear()
                    _put(messages, changes["messages"])
                    first_prompt = first_prompt or _first_prompt(messages.values(), first_prompt)
                meta |= changes
                stale = stale and "memoryScratchpad" not in changes
            case Kind.HEADER if isinstance(value.get("projectHash"), str):
                meta |= value
                _put(messages, value.get("messages"))
                first_prompt = first_prompt or _first_prompt(messages.values(), first_prompt)
            case Kind.HEADER:
                pass
    if not (meta.get("sessionId") and meta.get("projectHash")):
        return None
    view = {name: meta[name] for name in _PASSED_ON if name in meta}
    view["messages"] = list(messages.values())
    view["messageCount"] = len(messages)
    view |= _derived(view["messages"])
    if view.get("memoryScratchpad"):
        view["memoryScratchpadIsStale"] = stale
    if first_prompt is not None:
        view["firstUserMessage"] = first_prompt
    return view


def _rewind(messages: dict[str, dict[str, Any]], target: str) -> None:
    is_there = target in messages
    # From the end: there may be as many rewinds as there are messages.
    while messages and (not is_there or target in messages):
        messages.popitem()


def _put(messages: dict[str, dict[str, Any]], stated: object) -> None:
    for message in stated if isinstance(stated, list) else ():
        if isinstance(message, dict) and isinstance(message.get("id"), str):
            messages[message["id"]] = message


def _whole_document(content: bytes) -> dict[str, Any] | None:
    try:
        decoded = decode(content, keep_halves=True)
    except UndecodableError:
        return None
    if not (decoded.strict and isinstance(decoded.value, dict) and decoded.value.get("sessionId")):
        return None
    stated = decoded.value.get("messages")
    messages = [m for m in stated if isinstance(m, dict)] if isinstance(stated, list) else []
    return decoded.value | _derived(messages)


def _derived(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "userMessageCount": sum(message.get("type") == "user" for message in messages),
        "hasResumableContent": any(is_resumable(message) for message in messages),
    }


def is_resumable(message: dict[str, Any]) -> bool:
    """Whether the CLI finds something in a message to go on with, since 0.47."""
    if message.get("type") == "gemini":
        flat = _flattened(message.get("content")).strip()
        return bool(flat or message.get("toolCalls") or message.get("thoughts"))
    return is_prompt(message)


def is_prompt(message: dict[str, Any]) -> bool:
    """Whether the CLI takes a message for a prompt, and not for a command or injected context."""
    flat = _flattened(message.get("content"))
    return message.get("type") == "user" and bool(flat.strip()) and not _NOT_RESUMABLE.match(flat)


def _first_prompt(messages: Iterable[dict[str, Any]], otherwise: str | None) -> str | None:
    return next((text for message in messages if (text := _prompt_text(message)) is not None), otherwise)


def _prompt_text(message: dict[str, Any]) -> str | None:
    """The words of a prompt as the CLI keeps them for its list."""
    content = message.get("content")
    if not isinstance(content, str | list) or not is_prompt(message):
        return None
    if isinstance(content, str):
        return content
    return "".join(_text_of(part) for part in content if isinstance(part, dict))


def _text_of(part: object) -> str:
    match part:
        case str():
            return part
        case {"text": str(text)}:
            return text
        case _:
            return ""


def _flattened(content: object) -> str:
    """The content as the CLI flattens it to see whether there is any: other parts leave a placeholder."""
    if isinstance(content, list):
        return "".join(_flattened(part) for part in content if not isinstance(part, list))
    if isinstance(content, dict) and "text" not in content:
        return f"[{next(iter(content), '')}]" if content else ""
    return _text_of(content)
