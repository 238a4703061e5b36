"""Messages of Gemini CLI in the plainer translation.

    type             user, human ─► user; everything else ─► assistant
    id, timestamp, content, model                          as they are
    thoughts[]       ─► reasoning children                 description, subject
    toolCalls[]      ─► tool-call children                 name, args, id, timestamp or that of the message
                     ─► tool-result children               result as it is, status; only where there is one

Nothing else is told: not the tokens, not when something was thought, not how a call was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from geminids.core.agents.records import Entry
from geminids.reading.shapes import text_or_none
from geminids.sharing.records.profile import UNKNOWN
from geminids.sharing.records.simple_members import entry, moment

_HUMAN = frozenset({"user", "human"})


def message_entry(message: Mapping[str, Any]) -> Entry:
    """One message, with what was thought and called in it below it."""
    return entry(
        {
            "type": "user" if message.get("type") in _HUMAN else "assistant",
            "timestamp": message.get("timestamp"),
            "content": message.get("content"),
            "id": message.get("id"),
            "model-id": message.get("model"),
            "children": [*_thoughts(message), *_calls(message)] or None,
        }
    )


def _thoughts(message: Mapping[str, Any]) -> Iterator[Entry]:
    for thought in _maps(message.get("thoughts")):
        description = thought.get("description")
        yield entry(
            {
                "type": "reasoning",
                "content": "" if description is None else description,
                "subject": thought.get("subject"),
            }
        )


def _calls(message: Mapping[str, Any]) -> Iterator[Entry]:
    for call in _maps(message.get("toolCalls")):
        at = moment(call.get("timestamp"))
        timestamp = message.get("timestamp") if at is None else at
        arguments, result = call.get("args"), call.get("result")
        yield entry(
            {
                "type": "tool-call",
                "timestamp": timestamp,
                "name": text_or_none(call.get("name")) or UNKNOWN,
                "input": {} if arguments is None else arguments,
                "call-id": call.get("id"),
            }
        )
        if result is not None:
            yield entry(
                {
                    "type": "tool-result",
                    "timestamp": timestamp,
                    "output": result,
                    "status": call.get("status"),
                    "call-id": call.get("id"),
                }
            )


def _maps(listed: object) -> Iterator[Mapping[str, Any]]:
    """The maps of a list; what is none was not written by Gemini CLI."""
    if isinstance(listed, list):
        yield from (one for one in listed if isinstance(one, dict))
