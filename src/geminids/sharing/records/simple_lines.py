"""The native lines of a session, for agents whose logs are translated line by line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from geminids.core.agents.records import NativeFile, Natives
from geminids.core.model import Session

Line = Mapping[str, Any]
Spans = Mapping[int, int]
"""Where records begin in a file, and where they end."""


def lines_of(session: Session, natives: Natives, is_own: Callable[[Line], bool]) -> list[Line]:
    """The lines that tell a session, in order: what it took over from files of others, then its own.

    In its own files, `is_own` says which of the lines that no message was read from are its own all the same.
    """
    held = _held(session)
    files = sorted(natives.files.values(), key=lambda file: file.is_own)
    return [
        line
        for file in files
        for line, is_held in _lines(file, held.get(file.path, {}))
        if is_held or (file.is_own and is_own(line))
    ]


def _held(session: Session) -> dict[str, dict[int, int]]:
    """Where the records stand that messages were read from, by file."""
    held: dict[str, dict[int, int]] = {}
    for message in session.messages:
        for place in message.places:
            held.setdefault(place.file, {})[place.start] = place.end
    return held


def _lines(file: NativeFile, held: Spans) -> Iterator[tuple[Line, bool]]:
    """The records of a file, and whether a message was read from them."""
    begins = sorted(held)
    for start, end in file.lines(0, len(file.content)):
        line = file.value_of(start, end)
        if isinstance(line, dict):
            yield line, start in held
            continue
        # Of a damaged line, what could be saved: those are the places of messages.
        for begin in begins[bisect_left(begins, start) : bisect_left(begins, end)]:
            piece = file.value_of(begin, held[begin])
            if isinstance(piece, dict):
                yield piece, True
