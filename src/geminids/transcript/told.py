"""A session reduced to what is told of it, for those who write data and not a story."""

from __future__ import annotations

import msgspec

from geminids.model import AnyPart, Message, Session, ToolCall
from geminids.transcript.entries import Detail, Turn, transcript


def told_session(session: Session, detail: Detail) -> Session:
    """The session with the messages and parts that are told at a level of detail."""
    if detail.everything:
        return session
    turns = [entry for entry in transcript(session, detail) if isinstance(entry, Turn)]
    return msgspec.structs.replace(session, messages=tuple(_told(turn, detail) for turn in turns))


def _told(turn: Turn, detail: Detail) -> Message:
    parts = turn.parts if detail.tools else tuple(map(_in_a_line, turn.parts))
    return msgspec.structs.replace(turn.message, parts=parts)


def _in_a_line(part: AnyPart) -> AnyPart:
    """A tool call without what came back: it is told in a line."""
    if not isinstance(part, ToolCall):
        return part
    return msgspec.structs.replace(part, result=(), display=None, changes=(), full_output=None, other={})
