"""A session taken apart into its values, and put together again with others in their place.

Nothing here knows a format, and little of the model: a field that the model gets tomorrow is a value too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum, StrEnum
from functools import cache
from typing import Any, NamedTuple

import msgspec

from geminids.core.model import Message, Origin, Session, Text, ToolCall, ToolResult
from geminids.sharing.export.probe_words import Marks

Steps = tuple[str | int, ...]
"""How to get to a value: names of fields, keys and places."""

LINKS = {"id", "native_id", "parent_id", "child_id", "call_id"}
"""What things are tied together by: equal ones stay equal wherever they stand."""
NAMES = {"agent", "format", "mime_type", "model", "models", "name", "native_status", "state", "status"}
"""Words that steer what a format does, in the model itself."""
RAW_NAMES = {"kind", "mimeType", "state", "status", "type"}
"""The same in what agents wrote and we keep as it was."""


SPOKEN = {"text.text (human)", "text.text (model)", "text.text (tool)"}
"""Texts that say anything; those of other origins were made by the agent."""
USUAL = {("tool-call.result", "origin"): Origin.TOOL, ("tool-result.parts", "origin"): Origin.TOOL}
"""Fields that say nothing if they say this."""


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

    @property
    def message(self) -> int | None:
        """The place of the message it belongs to."""
        match self.steps:
            case ("messages", int(place), *_):
                return place
            case _:
                return None

    @property
    def is_in_part(self) -> bool:
        """Whether it belongs to a part of a message."""
        return self.message is not None and "parts" in self.steps[2:3]


def values(session: Session) -> list[Value]:
    """All values that a session holds. A field that is empty, or as it always is, holds none."""
    return list(_values(session, (), "session", ()))


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


def _values(value: Any, steps: Steps, path: str, scope: Hashable, *, raw: bool = False) -> Iterator[Value]:
    match value:
        case None:
            return
        case Enum() | bool() | float():
            yield Value(steps, f"{path} (choices)" if raw else path, ValueKind.CHOICE, value, scope)
        case int():
            yield Value(steps, f"{path} (numbers)" if raw else path, ValueKind.NUMBER, value, scope)
        case datetime():
            yield Value(steps, path, ValueKind.TIME, value, scope)
        case str():
            if value.strip():
                yield Value(steps, path, _kind_of_words(path, _field(steps), raw=raw), value, scope)
        case msgspec.Struct():
            yield from _fields(value, steps, path, scope)
        case dict():
            for key, item in value.items():
                below = f"{path}.{key}" if path.endswith(".cells") else path
                yield from _values(item, (*steps, key), below, scope, raw=True)
        case _:
            for place, item in enumerate(value):
                raw = isinstance(value, list)
                yield from _values(item, (*steps, place), path, _scope(item, (*steps, place), scope), raw=raw)


def _kind_of_words(path: str, field: str, *, raw: bool) -> ValueKind:
    if field in (RAW_NAMES if raw else NAMES):
        return ValueKind.NAME
    is_of_agent = path.startswith("text.text (") and path not in SPOKEN
    return ValueKind.AGENT_WORDS if is_of_agent else ValueKind.WORDS


def _fields(struct: msgspec.Struct, steps: Steps, path: str, scope: Hashable) -> Iterator[Value]:
    start = _path(struct, path)
    for name, default in _defaults(type(struct)):
        value = getattr(struct, name)
        if value == USUAL.get((path, name), default):
            continue
        below = f"{start}.{name}"
        if isinstance(struct, Text) and path == "message.parts" and name == "text":
            below += f" ({struct.origin})"
        yield from _values(value, (*steps, name), below, scope)


@cache
def _defaults(struct: type[msgspec.Struct]) -> list[tuple[str, Any]]:
    return [(field.name, field.default) for field in msgspec.structs.fields(struct)]


def _path(struct: msgspec.Struct, path: str) -> str:
    tag = struct.__struct_config__.tag
    if isinstance(struct, Message):
        return "message"
    if path == "message.parts":
        return str(tag)
    return f"{path}.{tag}" if tag else path


def _scope(item: Any, steps: Steps, scope: Hashable) -> Hashable:
    """A message and a part of it are scopes; a call and what answered it are one."""
    match item:
        case Message():
            return steps
        case ToolCall(call_id=str(call_id)) | ToolResult(call_id=str(call_id)):
            return ("call", call_id)
        case msgspec.Struct() if steps[-2] == "parts" and len(steps) == 4:
            return steps
        case _:
            return scope
