"""The values that a session holds, each with its kind: `tool-call.exit_code`, `message.at`.

A kind is called by its path in the model, the same in every session. Little of the model is known here: a
field that it gets tomorrow is a kind too.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import msgspec

from geminids.core.model import Message, Origin, Session, State, Text

Steps = tuple[str | int, ...]
"""How to get to a value: names of fields, keys and places."""

CELLS = ".cells"
"""The pieces of a screen: words, and whatever says how they looked."""
USUAL = {("tool-call.result", "origin"): Origin.TOOL, ("tool-result.parts", "origin"): Origin.TOOL}
"""Fields that say nothing if they say this."""


class Held(NamedTuple):
    """A value of a session."""

    steps: Steps
    kind: str
    value: Any
    is_raw: bool
    """Whether it stands in something that the agent wrote and the model keeps as it was."""


_Take = Callable[[Held], object]


def each_value(session: Session, take: _Take) -> None:
    """Hand on all values that a session holds. A field that is empty, or as it always is, holds none."""
    # Handed on and not yielded: each value of a large session would pass through a dozen generators.
    _gather(session, (), "session", take)


def message_kind(state: State) -> str:
    """The kind of messages as a whole, beside those of the values in them."""
    return f"messages ({state})"


def is_words(value: object) -> bool:
    """Whether a value is what somebody or something said, and no choice of few."""
    return isinstance(value, str) and not isinstance(value, Enum)


def _gather(value: Any, steps: Steps, kind: str, take: _Take, *, is_raw: bool = False) -> None:
    match value:
        case str() if not isinstance(value, Enum):
            if value and not value.isspace():
                take(Held(steps, kind, value, is_raw))
        case None:
            return
        case Enum() | bool() | float():
            take(Held(steps, f"{kind} (choices)" if is_raw else kind, value, is_raw))
        case int():
            take(Held(steps, f"{kind} (numbers)" if is_raw else kind, value, is_raw))
        case datetime():
            take(Held(steps, kind, value, is_raw))
        case msgspec.Struct():
            _gather_fields(value, steps, kind, take)
        case dict():
            for key, item in value.items():
                below = _kind_in_cell(kind, key) if kind.endswith(CELLS) else kind
                _gather(item, (*steps, key), below, take, is_raw=True)
        case _:
            is_list = isinstance(value, list)
            for place, item in enumerate(value):
                _gather(item, (*steps, place), kind, take, is_raw=is_list)


def _kind_in_cell(kind: str, key: str) -> str:
    return f"{kind}.text" if key == "text" else f"{kind}.style"


def _gather_fields(struct: msgspec.Struct, steps: Steps, kind: str, take: _Take) -> None:
    speaker = struct.origin if isinstance(struct, Text) and kind == "message.parts" else None
    for name, usual, below in _fields(type(struct), kind, speaker):
        value = getattr(struct, name)
        if value is not None and value != usual:
            _gather(value, (*steps, name), below, take)


@cache
def _fields(struct: type[msgspec.Struct], kind: str, speaker: Origin | None) -> list[tuple[str, Any, str]]:
    """The fields of a struct of a kind, with what they usually are, and the kinds of what stands in them."""
    start = _start(struct, kind)
    kinds = {"text": f"{start}.text ({speaker})"} if speaker else {}
    named = {field.name: field.default for field in msgspec.structs.fields(struct)}
    return [
        (name, USUAL.get((kind, name), default), kinds.get(name, f"{start}.{name}"))
        for name, default in named.items()
    ]


def _start(struct: type[msgspec.Struct], kind: str) -> str:
    tag = struct.__struct_config__.tag
    if issubclass(struct, Message):
        return "message"
    if kind == "message.parts":
        return str(tag)
    return f"{kind}.{tag}" if tag else kind
