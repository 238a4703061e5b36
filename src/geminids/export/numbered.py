"""Messages with their numbers, for formats with a line or a row for each."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from geminids.model import Message, Session
from geminids.transcript.entries import Detail, Turn, transcript


def numbered(session: Session, detail: Detail) -> Iterator[tuple[int, Message]]:
    """The messages with the parts that are told; each has the same number at every level, from 1."""
    if detail.everything:
        yield from enumerate(session.messages, 1)
        return
    numbers = {id(message): number for number, message in enumerate(session.messages, 1)}
    for entry in transcript(session, detail):
        if isinstance(entry, Turn):
            yield numbers[id(entry.message)], msgspec.structs.replace(entry.message, parts=entry.parts)
