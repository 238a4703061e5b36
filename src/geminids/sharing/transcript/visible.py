"""A session reduced to what is told of it, for those who write data and not a story."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from geminids.core.model import (
    AnyPart,
    FileChange,
    FileReference,
    Message,
    Origin,
    ResultPart,
    Session,
    Text,
    ToolCall,
)
from geminids.sharing.transcript.call_summary import HANDS_BACK, TELLING_ARGUMENTS, answer_lines, error_line
from geminids.sharing.transcript.entries import Detail, Turn, transcript


def visible_session(session: Session, detail: Detail) -> Session:
    """The session with the messages and parts that are told at a level of detail."""
    if detail.everything:
        return session
    messages = tuple(message for _, message in visible_messages(session, detail))
    return msgspec.structs.replace(session, messages=messages)


def visible_messages(session: Session, detail: Detail) -> Iterator[tuple[int, Message]]:
    """The messages with the parts that are told; each has the same number at every level, from 1."""
    if detail.everything:
        yield from enumerate(session.messages, 1)
        return
    numbers = {id(message): number for number, message in enumerate(session.messages, 1)}
    for entry in transcript(session, detail):
        if isinstance(entry, Turn):
            parts = entry.parts if detail.tools else tuple(map(_in_a_line, entry.parts))
            yield numbers[id(entry.message)], msgspec.structs.replace(entry.message, parts=parts)


def _in_a_line(part: AnyPart) -> AnyPart:
    """A piece of a message as it is told where tools are told in a line."""
    match part:
        case FileReference():
            return msgspec.structs.replace(part, text=None)
        case ToolCall():
            return msgspec.structs.replace(
                part,
                arguments=_main_arguments(part),
                result=_said_back(part),
                display=None,
                changes=tuple(map(_in_numbers, part.changes)),
                full_output=None,
                other={},
            )
        case _:
            return part


def _main_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments that say what a call is about; of a tool that we do not know, the first words."""
    if call.name in HANDS_BACK:
        return call.arguments
    telling = {name: call.arguments[name] for name in TELLING_ARGUMENTS if name in call.arguments}
    words = ((name, value) for name, value in call.arguments.items() if isinstance(value, str))
    return telling or dict([*words][:1])


def _said_back(call: ToolCall) -> tuple[ResultPart, ...]:
    """What belongs to the conversation of all that came back: an error, the human's answers."""
    lines = [error_line(call), *answer_lines(call)]
    words = "\n".join(filter(None, lines))
    return (Text(words, Origin.TOOL),) if words else ()


def _in_numbers(change: FileChange) -> FileChange:
    return msgspec.structs.replace(change, diff=None, before=None, after=None)
