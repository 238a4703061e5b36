"""How a session is told: what belongs to the story, what is left out, and where something happened to it.

What the human said and read belongs to the story, also when the agent no longer sees it. What
the human took back by a rewind, what the agent put in behind the human's back and what it
invented is told only on request; how much was left out is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from geminids.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Message,
    Origin,
    Session,
    Source,
    State,
    Text,
    Thought,
    ToolCall,
    ToolResult,
)

LONG_PAUSE = timedelta(minutes=30)

TOLD_ORIGINS = {Origin.HUMAN, Origin.MODEL, Origin.COMMAND}
MARKED_STATES = {State.COMPRESSED, State.REWOUND}


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """How much is told beyond the conversation itself."""

    thoughts: bool = False
    tools: bool = False
    notices: bool = False
    everything: bool = False


class Speaker(StrEnum):
    """Whose turn it is."""

    HUMAN = "human"
    MODEL = "model"
    AGENT = "agent"
    """The program around the model: notices, context, results of tools."""


class Turn(msgspec.Struct, frozen=True):
    """A message, or what is told of it."""

    speaker: Speaker
    message: Message
    parts: tuple[AnyPart, ...]
    continues: bool
    """Whether the model goes on where the turn before ended."""


class Pause(msgspec.Struct, frozen=True):
    """A long time in which nothing happened."""

    length: timedelta
    until: datetime


class Mark(msgspec.Struct, frozen=True):
    """The place where messages before it were taken out of the agent's view."""

    state: State
    messages: int


class LeftOut(msgspec.Struct, frozen=True):
    """What was not told, by name, and how often."""

    counts: dict[str, int]


Entry = Turn | Pause | Mark | LeftOut


def transcript(session: Session, detail: Detail) -> Iterator[Entry]:
    """The story of a session, entry by entry."""
    left_out: Counter[str] = Counter()
    marks = _marks(session.messages)
    before: Message | None = None
    last: datetime | None = None
    for place, message in enumerate(session.messages):
        for mark in marks.get(place, ()):
            yield mark
            before = None
        parts = told_parts(message, detail, left_out)
        if not parts:
            continue
        if last and message.at and message.at - last >= LONG_PAUSE:
            yield Pause(message.at - last, message.at)
            before = None
        yield Turn(_speaker(message), message, parts, continues=_continues(before, message))
        before, last = message, _ended(message) or last
    yield from marks.get(len(session.messages), ())
    if left_out:
        yield LeftOut(dict(left_out))


def told_parts(message: Message, detail: Detail, left_out: Counter[str]) -> tuple[AnyPart, ...]:
    """The parts of a message that are told; what is not is counted by name."""
    if detail.everything:
        return message.parts
    if message.state is State.REWOUND:
        left_out[str(message.state)] += 1
        return ()
    told: list[AnyPart] = []
    for part in message.parts:
        if reason := _left_out_as(part, message, detail):
            left_out[reason] += 1
        else:
            told.append(part)
    return tuple(told)


def _left_out_as(part: AnyPart, message: Message, detail: Detail) -> str | None:
    """The name under which a part is left out; None if it is told."""
    match part:
        case Thought():
            return None if detail.thoughts else "thoughts"
        case ToolCall() | FileReference():
            return None
        case ToolResult():
            # The call that it answers tells it.
            return "results"
        case Text(origin=Origin.NOTICE):
            return None if detail.notices or message.level is Level.ERROR else "notices"
        case Text(origin=origin) | Attachment(origin=origin):
            return None if origin in TOLD_ORIGINS else str(origin)
        case _:
            return "unrecognised"


def _speaker(message: Message) -> Speaker:
    match message.origin:
        case Origin.HUMAN | Origin.COMMAND:
            return Speaker.HUMAN
        case Origin.MODEL:
            return Speaker.MODEL
        case _:
            return Speaker.AGENT


def _continues(before: Message | None, message: Message) -> bool:
    if before is None or _speaker(message) is not Speaker.MODEL:
        return False
    return _speaker(before) is Speaker.MODEL and is_marked(before) == is_marked(message)


def is_marked(message: Message) -> bool:
    """Whether a reader should know that the agent dropped just this message."""
    return message.state not in {State.CURRENT, State.COMPRESSED}


def _ended(message: Message) -> datetime | None:
    """When the message was complete, its tool calls included."""
    return max((at for at in (message.at, *(call.at for call in message.tool_calls)) if at), default=None)


def _marks(messages: Sequence[Message]) -> dict[int, list[Mark]]:
    """Where messages were taken out of the agent's view: by the place of the first message after that."""
    causes: Counter[tuple[State, Source]] = Counter()
    for message in messages:
        if message.state in MARKED_STATES and message.dropped_by:
            causes[message.state, message.dropped_by] += 1
    dropped: Counter[tuple[int, State]] = Counter()
    for (state, cause), count in causes.items():
        dropped[_place_after(messages, cause), state] += count
    marks: dict[int, list[Mark]] = {}
    for (place, state), count in dropped.items():
        marks.setdefault(place, []).append(Mark(state, count))
    return marks


def _place_after(messages: Sequence[Message], cause: Source) -> int:
    for place, message in enumerate(messages):
        if message.source.file == cause.file and message.source.start > cause.start:
            return place
    return len(messages)
