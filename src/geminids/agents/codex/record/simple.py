"""Lines of Codex CLI in the plainer translation: one line, one entry.

    response_item, event_msg           both, although one often says again what the other said
    message, user_message, …           ─► user, assistant; developers are users
    reasoning, agent_reasoning         ─► reasoning
    function_call, web_search_call, …  ─► tool-call; arguments stay the text that they are
    function_call_output, …            ─► tool-result
    token_count                        ─► an event with the counts as they are
    everything else                    ─► an event of the same name

session_meta and turn_context are left out, but for what the record says as a whole. What else stands in a
line stands in the entry under its own name.
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

_ABOUT = frozenset({"session_meta", "turn_context"})
_INPUTS = ("arguments", "input", "action")
"""Under which of these a call has what the tool was given."""
_SPOKEN = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
}
"""Events that repeat what was said: the kind of entry, and the member that has the words."""


def entries(lines: Iterable[Mapping[str, Any]]) -> Iterator[Entry]:
    """The lines that the translation tells, in order."""
    for line in lines:
        at = line.get("timestamp")
        match line:
            case {"type": "response_item", "payload": dict(item)}:
                yield _item(item, at)
            case {"type": "event_msg", "payload": dict(event)}:
                yield _event(event, at)
            case {"type": str(kind), "payload": dict(payload)} if kind not in _ABOUT:
                yield _named(kind, payload, at)
            case {"type": str(kind)} if kind not in _ABOUT and "payload" not in line:
                # The first releases wrote items without anything around them.
                yield _item(without(line, ("timestamp",)), at)


def surroundings(lines: Iterable[Mapping[str, Any]]) -> Surroundings:
    """When the first line was written, and what the session says of itself."""
    return first_known([_surroundings(line) for line in lines])


def _surroundings(line: Mapping[str, Any]) -> Surroundings:
    start = moment(line.get("timestamp"))
    match line:
        case {"type": "session_meta", "payload": dict(about)}:
            return Surroundings(start, text_or_none(about.get("cwd")), text_or_none(about.get("cli_version")))
        case _:
            return Surroundings(start)


def _item(item: Mapping[str, Any], at: object) -> Entry:
    match item:
        case {"type": "message"}:
            kind = "assistant" if item.get("role") == "assistant" else "user"
            return entry(
                {"type": kind, "timestamp": at, "content": item.get("content")},
                without(item, ("type", "role", "content")),
            )
        case {"type": "reasoning"}:
            return _reasoning(item, at)
        case {"type": str(kind)} if kind.endswith("_call"):
            return _call(item, kind, at)
        case {"type": str(kind)} if kind.endswith("_output"):
            return _result(item, at)
        case _:
            return _named(str(item.get("type")), item, at)


def _reasoning(item: Mapping[str, Any], at: object) -> Entry:
    return entry(
        {
            "type": "reasoning",
            "timestamp": at,
            "content": "\n".join([*_texts(item.get("summary"))] or _texts(item.get("content"))),
            "encrypted": item.get("encrypted_content"),
        },
        without(item, ("type", "summary", "encrypted_content")),
    )


def _texts(pieces: object) -> Iterator[str]:
    for piece in pieces if isinstance(pieces, list) else ():
        match piece:
            case {"text": str(words)}:
                yield words


def _call(item: Mapping[str, Any], kind: str, at: object) -> Entry:
    given = next((name for name in _INPUTS if item.get(name) is not None), None)
    return entry(
        {
            "type": "tool-call",
            "timestamp": at,
            "name": text_or_none(item.get("name")) or kind.removesuffix("_call"),
            "input": {} if given is None else item[given],
            "call-id": item.get("call_id"),
        },
        without(item, ("type", "name", "call_id", *filter(None, (given,)))),
    )


def _result(item: Mapping[str, Any], at: object) -> Entry:
    output = item.get("output")
    return entry(
        {
            "type": "tool-result",
            "timestamp": at,
            "output": "" if output is None else output,
            "call-id": item.get("call_id"),
        },
        without(item, ("type", "output", "call_id")),
    )


def _event(event: Mapping[str, Any], at: object) -> Entry:
    match event:
        case {"type": str(kind)} if kind in _SPOKEN:
            said_as, words = _SPOKEN[kind]
            content = event.get(words)
            return entry(
                {"type": said_as, "timestamp": at, "content": "" if content is None else content},
                without(event, ("type", words)),
            )
        case {"type": "token_count", "info": dict(counted)}:
            counts = {"token-usage": usage({}, counted)}
            return _named("token_count", without(event, ("info",)), at, counts)
        case _:
            return _named(text_or_none(event.get("type")) or UNKNOWN, event, at)


def _named(kind: str, native: Mapping[str, Any], at: object, more: Mapping[str, Any] | None = None) -> Entry:
    """An event that is called as the agent calls it."""
    event = {"type": "system-event", "timestamp": at, "event-type": kind.replace("_", "-"), **(more or {})}
    return entry(event, native)
