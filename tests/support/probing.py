"""A session taken apart into its values, and put together again with others in their place.

Nothing here knows a format, and little of the model: a field that the model gets tomorrow is a value too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import msgspec

from geminids.core.model import Session, ToolCall, ToolResult
from geminids.sharing.export.kinds import Held, Steps
from tests.support.model_kinds import held_values
from tests.support.probe_words import Marks

LINKS = {"id", "native_id", "parent_id", "child_id", "call_id"}
"""What things are tied together by: equal ones stay equal wherever they stand."""
NAMES = {"agent", "format", "mime_type", "model", "models", "name", "native_status", "state", "status"}
"""Words that steer what a format does, in the model itself."""
RAW_NAMES = {"kind", "mimeType", "state", "status", "type"}
"""The same in what agents wrote and we keep as it was."""


SPOKEN = {"text.text (human)", "text.text (model)", "text.text (tool)"}
"""Texts that say anything; those of other origins were made by the agent."""


class ValueKind(StrEnum):
    """How a value can be changed so that a format does the same with it."""

    WORDS = "words"
    AGENT_WORDS = "agent-words"
    """What the agent itself said: a format may know it, and then treat other messages in another way."""
    NAME = "name"
    """Words that a format may know, and then treat their surroundings in another way."""
    NUMBER = "number"
    TIME = "time"
    CHOICE = "choice"
    """One of few, or yes and no."""


class Value(NamedTuple):
    """A value of a session."""

    steps: Steps
    path: str
    """What it is, the same for all of its kind: `tool-call.exit_code`."""
    kind: ValueKind
    value: Any
    scope: Hashable
    """Within it, equal words are the same words, wherever they stand."""
    message: int | None
    """The place of the message it belongs to."""

    @property
    def is_in_part(self) -> bool:
        """Whether it belongs to a part of a message."""
        return self.message is not None and "parts" in self.steps[2:3]


def values(session: Session) -> list[Value]:
    """All values that a session holds. A field that is empty, or as it always is, holds none."""
    return [_value(session, held) for held in held_values(session)]


def replaced(whole: Any, changes: Mapping[Steps, Any]) -> Any:
    """The same with other values in some places."""
    if () in changes:
        return changes[()]
    inside: dict[str | int, dict[Steps, Any]] = defaultdict(dict)
    for steps, value in changes.items():
        inside[steps[0]][steps[1:]] = value
    match whole:
        case msgspec.Struct():
            return msgspec.structs.replace(
                whole, **{str(name): replaced(getattr(whole, str(name)), sub) for name, sub in inside.items()}
            )
        case dict():
            return whole | {key: replaced(whole[key], sub) for key, sub in inside.items()}
        case _:
            items = list(whole)
            for place, sub in inside.items():
                items[int(place)] = replaced(items[int(place)], sub)
            return type(whole)(items)


class Marked(NamedTuple):
    """A session in which words are marks."""

    session: Session
    marks: Mapping[Steps, range]
    """The marks of each value."""


def marked(session: Session, chosen: Sequence[Value]) -> Marked:
    """The session with marks for these words."""
    marks = Marks()
    known: dict[Hashable, tuple[str, range]] = {}
    times: dict[Hashable, int] = defaultdict(int)
    changes: dict[Steps, str] = {}
    ranges: dict[Steps, range] = {}
    for value in chosen:
        agent, colon, words = value.value.rpartition(":") if _is_link(value) else ("", "", value.value)
        key = words if _is_link(value) else _same_words(value, times)
        if key not in known:
            first = marks.given
            known[key] = _covered(words, _field(value.steps), marks), range(first, marks.given)
        changes[value.steps] = f"{agent}{colon}{known[key][0]}"
        ranges[value.steps] = known[key][1]
    return Marked(replaced(session, changes), ranges)


def _is_link(value: Value) -> bool:
    return _field(value.steps) in LINKS and value.path != "message.id"


def _same_words(value: Value, times: dict[Hashable, int]) -> Hashable:
    """What is the same for places that hold the same words.

    Two equal texts of one kind in one scope are two; a text of each of two kinds is one that stands twice.
    """
    place = (value.path, value.scope, value.value)
    times[place] += 1
    return value.scope, value.value, times[place]


def _covered(words: str, field: str, marks: Marks) -> str:
    match field:
        case "data":
            return marks.base64(words)
        case "diff":
            return marks.diff(words)
        case _:
            return marks.words(words)


def _field(steps: Steps) -> str:
    """The name of the field or key that a value stands in."""
    return next((step for step in reversed(steps) if isinstance(step, str)), "")


def _value(session: Session, held: Held) -> Value:
    steps = held.steps
    message = steps[1] if steps[0] == "messages" and isinstance(steps[1], int) else None
    return Value(steps, held.kind, _kind(held), held.value, _scope(session, steps), message)


def _kind(held: Held) -> ValueKind:
    match held.value:
        case Enum() | bool() | float():
            return ValueKind.CHOICE
        case int():
            return ValueKind.NUMBER
        case datetime():
            return ValueKind.TIME
        case _:
            return _kind_of_words(held)


def _kind_of_words(held: Held) -> ValueKind:
    if _field(held.steps) in (RAW_NAMES if held.is_raw else NAMES):
        return ValueKind.NAME
    is_of_agent = held.kind.startswith("text.text (") and held.kind not in SPOKEN
    return ValueKind.AGENT_WORDS if is_of_agent else ValueKind.WORDS


def _scope(session: Session, steps: Steps) -> Hashable:
    """A message and a part of it are scopes; a call and what answered it are one."""
    match steps:
        case ("messages", int(place), "parts", int(part), *_):
            match session.messages[place].parts[part]:
                case ToolCall(call_id=str(call_id)) | ToolResult(call_id=str(call_id)):
                    return ("call", call_id)
                case _:
                    return steps[:4]
        case ("messages", int(), *_):
            return steps[:2]
        case _:
            return ()
