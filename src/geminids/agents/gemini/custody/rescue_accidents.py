"""Which messages Gemini CLI dropped without anybody having wished it.

Taking back a prompt, compressing a history or masking outputs is done knowingly, and what is gone then is
gone for a reason. But a start in the minute of another writes an empty list behind it, a saved chat that is
loaded takes the place of all that was said, of two files of a session the newer may know less, and a resume
leaves out prompts that begin like a command, with what a hook said or with the CLI's own context.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from geminids.agents.gemini.custody.rescue_view import is_of_human, is_reply, is_unheeded
from geminids.core.model import Location, Message, Origin, Session, State


class Accident(StrEnum):
    """How a message got lost."""

    RESTARTED = "buried"
    """The CLI began anew in the same file, with nothing of what was there."""
    LOADED = "replaced"
    """A chat that was saved in another session took its place."""
    OUTDATED = "shadowed"
    """Another file of the session, which was used later, does not have it."""
    UNHEEDED = "unheeded"
    """The CLI took a prompt for a command or for context, and left it out when the session was resumed."""


def accidents(session: Session) -> dict[str, Accident]:
    """How messages got lost that nobody wished to lose, by their ids."""
    dropped = [message for message in session.messages if message.state is State.SUPERSEDED]
    if not dropped:
        return {}
    restated: dict[tuple[str, int], list[Message]] = {}
    for message in session.messages:
        for file, line in {(place.file, place.line) for place in message.places}:
            restated.setdefault((file, line), []).append(message)
    found = {}
    for message in dropped:
        by = message.dropped_by
        accident = _accident(message, by, restated.get((by.file, by.line), [])) if by else None
        if accident is None and is_of_human(message) and not message.imported:
            is_left_out = is_unheeded(message.parts) or joined_at(message, session.messages) is not None
            accident = Accident.UNHEEDED if is_left_out else None
        if accident is not None:
            found[message.id] = accident
    return found


def joined_at(message: Message, messages: Iterable[Message]) -> Location | None:
    """Return where the CLI wrote a prompt again in one piece with its context; None if it never did."""
    contexts = (other for other in messages if other.origin is Origin.INJECTED)
    spots = {(place.file, place.line, place.pointer) for context in contexts for place in context.places}
    return next((p for p in message.places if p.pointer and (p.file, p.line, p.pointer) in spots), None)


def _accident(message: Message, by: Location, put_in_place: list[Message]) -> Accident | None:
    files = {place.file for place in message.places}
    if by.file not in files:
        # In a folder that was copied to another one, sessions are what they were then.
        is_beside = any(Path(file).parent == Path(by.file).parent for file in files)
        return Accident.OUTDATED if is_beside else None
    if any(other.imported for other in put_in_place):
        return Accident.LOADED
    if not any(is_of_human(other) or is_reply(other) for other in put_in_place):
        return Accident.RESTARTED
    return None
