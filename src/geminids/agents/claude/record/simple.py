"""Lines of Claude Code in the plainer translation: one line, one entry.

    message.role     assistant ─► assistant; everything else ─► user
    uuid, parentUuid, timestamp, message.content, message.model     as they are
    message.usage    ─► token-usage                        input without what the cache held
    message.content  ─► children as well: tool_use, tool_result, thinking ─► tool-call, tool-result, reasoning

Lines without a message are left out, but for queue-operation, which is an event. What else stands in a line
stands in the entry under its own name; what says the same in every line (folder, branch, release, session)
does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from geminids.core.agents.records import Entry, Surroundings
from geminids.reading.shapes import text_or_none
from geminids.sharing.records.profile import UNKNOWN
from geminids.sharing.records.simple_members import (
    entry,
    first_known,
    moment,
    usage,
    without,
)

_TOLD = ("type", "message", "uuid", "parentUuid", "timestamp", "cwd", "gitBranch", "version", "sessionId")
_QUEUED = "queue-operation"


def entries(lines: Iterable[Mapping[str, Any]]) -> Iterator[Entry]:
    """The lines that the translation tells, in order."""
    for line in lines:
        match line:
            case {"message": dict(message)}:
                yield _message(line, message)
            case {"type": "queue-operation"}:
                yield entry(
                    {"type": "system-event", "timestamp": line.get("timestamp"), "event-type": _QUEUED}
                )


def surroundings(lines: Iterable[Mapping[str, Any]]) -> Surroundings:
    """What every line repeats."""
    folders = (
        Surroundings(
            moment(line.get("timestamp")), text_or_none(line.get("cwd")), text_or_none(line.get("version"))
        )
        for line in lines
    )
    return first_known(list(folders))


def _message(line: Mapping[str, Any], message: Mapping[str, Any]) -> Entry:
    content = message.get("content")
    return entry(
        {
            "type": "assistant" if message.get("role") == "assistant" else "user",
            "timestamp": line.get("timestamp"),
            "id": line.get("uuid"),
            "content": content,
            "model-id": message.get("model"),
            "parent-id": line.get("parentUuid"),
            "token-usage": _tokens(message.get("usage")),
            "children": list(_children(content)) or None,
        },
        without(line, _TOLD),
    )


def _tokens(counted: object) -> dict[str, Any] | None:
    if not isinstance(counted, dict):
        return None
    mapped = {
        "input": counted.get("input_tokens"),
        "output": counted.get("output_tokens"),
        "cached": counted.get("cache_read_input_tokens"),
    }
    own = without(counted, ("input_tokens", "output_tokens", "cache_read_input_tokens"))
    return usage(mapped, own) or None


def _children(content: object) -> Iterator[Entry]:
    """What the blocks of a message call, answer or think; they stand in its content, too."""
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "tool_use"}:
                yield _call(block)
            case {"type": "tool_result"}:
                yield _result(block)
            case {"type": "thinking", "thinking": str(thought)}:
                yield entry({"type": "reasoning", "content": thought}, without(block, ("type", "thinking")))


def _call(block: Mapping[str, Any]) -> Entry:
    arguments = block.get("input")
    return entry(
        {
            "type": "tool-call",
            "name": text_or_none(block.get("name")) or UNKNOWN,
            "input": {} if arguments is None else arguments,
            "call-id": block.get("id"),
        },
        without(block, ("type", "name", "input", "id")),
    )


def _result(block: Mapping[str, Any]) -> Entry:
    output = block.get("content")
    return entry(
        {
            "type": "tool-result",
            "call-id": block.get("tool_use_id"),
            "output": "" if output is None else output,
            "status": "error" if block.get("is_error") else "success",
        },
        without(block, ("type", "tool_use_id", "content", "is_error")),
    )
