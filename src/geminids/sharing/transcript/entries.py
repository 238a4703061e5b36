"""How a session is told: what belongs to the story, what is left out, and where something happened to it.

What the human said and read belongs to the story, also when the agent no longer sees it, and so
does the task of a subagent. What the human took back by a rewind, what the agent put in behind the
human's back and what it said in somebody's name is told only on request; how much was left out is
said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Location,
    Message,
    Origin,
    Role,
    Session,
    SessionKind,
    State,
    Text,
    Thought,
    ToolCall,
    ToolResult,
)

LONG_PAUSE = timedelta(minutes=30)

TOLD_ORIGINS = {Origin.HUMAN, Origin.MODEL, Origin.COMMAND, Origin.SHELL}
PROMPT_ORIGINS = {Origin.HUMAN, Origin.COMMAND, Origin.SHELL}
"""Of these are the messages that a human made."""
TOLD_LEVELS = {Level.WARNING, Level.ERROR}
"""Of notices: that a turn was stopped or a prompt refused belongs to the story."""
MARKED_STATES = {State.COMPRESSED, State.REWOUND}


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """How much is told beyond the conversation itself, or of it."""

    replies: bool = True
    """Else only what the human typed."""
    thoughts: bool = False
    tools: bool = False
    """Arguments, outputs and whole diffs; else each call is one line."""
    notices: bool = False
    dropped: bool = False
    """Also what the human took back."""
    everything: bool = False
    """All messages and parts, and of each turn which model made it for how many tokens."""


LEVELS = {
    "prompts": Detail(replies=False),
    "conversation": Detail(),
    "tools": Detail(tools=True),
    "thoughts": Detail(tools=True, thoughts=True),
    "everything": Detail(tools=True, thoughts=True, notices=True, everything=True),
}
"""The levels of detail, the same for all that tells a session; each tells what the one before does.

`levels.py` has the words for them, which load quickly."""


class Speaker(StrEnum):
    """Whose turn it is."""

    HUMAN = "human"
    MODEL = "model"
    AGENT = "agent"
    """The program around the model: notices, context, results of tools."""
    PARENT = "parent"
    """Who gave a subagent its task."""


class Turn(msgspec.Struct, frozen=True):
    """A message, or what is told of it."""

    speaker: Speaker
    message: Message
    parts: tuple[AnyPart, ...]
    continues: bool
    """Whether the model goes on where the turn before ended."""
    place: int
    """Of its message among those that are told of, from 0."""


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


StoryEntry = Turn | Pause | Mark | LeftOut


def transcript(session: Session, detail: Detail) -> Iterator[StoryEntry]:
    """The story of a session, entry by entry."""
    left_out: Counter[str] = Counter()
    marks = _marks(session.messages)
    task, last_word = task_of(session), _last_word(session)
    before: Message | None = None
    last: datetime | None = None
    for place, message in enumerate(session.messages):
        for mark in marks.get(place, ()):
            yield mark
            before = None
        parts = visible_parts(
            message, detail, left_out, with_synthetic=message is task or message is last_word
        )
        if not parts:
            continue
        if last and message.at and message.at - last >= LONG_PAUSE:
            yield Pause(message.at - last, message.at)
            before = None
        speaker = Speaker.PARENT if message is task else _speaker(message)
        yield Turn(speaker, message, parts, _continues(before, message), place)
        before, last = message, completed_at(message) or last
    yield from marks.get(len(session.messages), ())
    if left_out:
        yield LeftOut(dict(left_out))


def visible_parts(
    message: Message, detail: Detail, left_out: Counter[str], *, with_synthetic: bool = False
) -> tuple[AnyPart, ...]:
    """The parts of a message that are told; what is not is counted by name."""
    if detail.everything:
        return message.parts
    if message.state is State.REWOUND and not detail.dropped:
        left_out[str(message.state)] += 1
        return ()
    if message.state is State.UNRECORDED and message.origin is Origin.COMMAND:
        # What the human told the program, not the model.
        left_out["commands"] += 1
        return ()
    visible: list[AnyPart] = []
    for part in message.parts:
        reason = _left_out_as(part, message, detail)
        if reason and not (with_synthetic and reason == Origin.SYNTHETIC):
            left_out[reason] += 1
        else:
            visible.append(part)
    return tuple(visible)


def task_of(session: Session) -> Message | None:
    """What a subagent was told to do: the first thing said to it, but for context and what it took over."""
    if session.kind is not SessionKind.SUBAGENT:
        return None
    asked = next((message for message in session.messages if _may_be_task(message)), None)
    return asked if asked and asked.origin is Origin.SYNTHETIC else None


def _may_be_task(message: Message) -> bool:
    return message.role is Role.USER and message.origin is not Origin.INJECTED and not message.imported


def _left_out_as(part: AnyPart, message: Message, detail: Detail) -> str | None:
    """The name under which a part is left out; None if it is told."""
    if not detail.replies and message.origin not in PROMPT_ORIGINS:
        return "replies" if message.origin is Origin.MODEL else str(message.origin)
    match part:
        case Thought():
            return None if detail.thoughts else "thoughts"
        case ToolCall() | FileReference():
            return None
        case ToolResult():
            # The call that it answers tells it.
            return "results"
        case Text(origin=Origin.NOTICE):
            return None if detail.notices or message.level in TOLD_LEVELS else "notices"
        case Text(origin=origin) | Attachment(origin=origin):
            return None if origin in TOLD_ORIGINS else str(origin)
        case _:
            return "unrecognised"


def _last_word(session: Session) -> Message | None:
    """What the agent said last in somebody's name without an answer: why it stopped."""
    last = session.messages[-1] if session.messages else None
    is_why = last and last.origin is Origin.SYNTHETIC and last.state is State.FAILED
    return last if is_why else None


def is_prompt(message: Message) -> bool:
    """Return whether the human typed a message, and not a tool that a slash command of the human ran."""
    return message.role is Role.USER and message.origin in PROMPT_ORIGINS


def _speaker(message: Message) -> Speaker:
    match message.origin:
        case Origin.HUMAN | Origin.COMMAND | Origin.SHELL:
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


def completed_at(message: Message) -> datetime | None:
    """When a message was complete, its tool calls included."""
    return max((at for at in (message.at, *(call.at for call in message.tool_calls)) if at), default=None)


def _marks(messages: Sequence[Message]) -> dict[int, list[Mark]]:
    """Where messages were taken out of the agent's view: by the place of the first message from there on."""
    causes: Counter[tuple[State, Location]] = Counter()
    for message in messages:
        if message.state in MARKED_STATES and message.dropped_by:
            causes[message.state, message.dropped_by] += 1
    dropped: Counter[tuple[int, State]] = Counter()
    places = _Positions(messages)
    for (state, cause), count in causes.items():
        dropped[places.of(cause), state] += count
    marks: dict[int, list[Mark]] = {}
    for (place, state), count in dropped.items():
        marks.setdefault(place, []).append(Mark(state, count))
    return marks


class _Positions:
    """Where records stand among the messages of a session; those may be out of the order of the file."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._end = len(messages)
        self._furthest: dict[str, list[tuple[int, int]]] = {}
        """By file: where a message begins that stands further on than all before it, and its place."""
        for place, message in enumerate(messages):
            furthest = self._furthest.setdefault(message.source.file, [])
            if not furthest or message.source.start > furthest[-1][0]:
                furthest.append((message.source.start, place))

    def of(self, record: Location) -> int:
        """The place of the message that a record is, as a prompt typed instead, or of the first after it."""
        furthest = self._furthest.get(record.file, [])
        found = bisect_left(furthest, (record.start,))
        return furthest[found][1] if found < len(furthest) else self._end
