"""Finding words inside one session: every place where they stand, window by window.

Which texts hold them is noted until others are looked for, so that going from place to place reads only the
texts of the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Annotated, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from geminids.core.model import AnyPart, FileReference, Message, Origin, Text, Thought, ToolCall, ToolResult
from geminids.faces.web.documents.finding import FoundInSession, FoundPlace
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint, Number, Place
from geminids.faces.web.opened import OpenedSession
from geminids.faces.web.snippets import pieces
from geminids.faces.web.transcript import Level
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.telling import output_text, value_words
from geminids.storage.text.places import substring_places

AROUND = 60
"""Letters of a snippet before and after what was found."""
_SAID_BY = frozenset({Origin.HUMAN, Origin.MODEL})


class AskedToFind(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is looked for in a session, and which of the places are told."""

    words: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    """As they stand there, in any case."""
    detail: Level = "everything"
    start: Place = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=500)] = 200
    at: Number | None = None
    """The number of a message: the first place in it or after it; then `start` does not count."""


class _Holding(NamedTuple):
    """A text that holds the words."""

    number: int
    part: int
    text: int
    """Which text of the part."""
    times: int


class Words(NamedTuple):
    """A text of a part."""

    where: str
    text: str
    argument: str | None = None


def find(desk: Desk, asked: AskedToFind) -> FoundInSession:
    """The places in a session where some words stand."""
    opened = desk.session(asked.id)
    holding = _lately.holding(opened, asked.words)
    total = sum(one.times for one in holding)
    start = asked.start if asked.at is None else _first_from(holding, asked.at)
    return FoundInSession(
        total=total,
        messages=len({one.number for one in holding}),
        start=start,
        places=list(_window(opened, asked, holding, start)),
    )


ENDPOINTS = (Endpoint("/api/session/find", AskedToFind, FoundInSession, find, hides_itself=True),)


class _Lately:
    """What was looked for last in each session that is still at hand."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[OpenedSession, tuple[str, Sequence[_Holding]]] = WeakKeyDictionary()
        self._lock = Lock()

    def holding(self, opened: OpenedSession, words: str) -> Sequence[_Holding]:
        """The texts of a session that hold some words."""
        with self._lock:
            asked, holding = self._known.get(opened, ("", ()))
        if asked != words:
            holding = list(_holding(opened.session.messages, words))
            with self._lock:
                self._known[opened] = words, holding
        return holding


_lately = _Lately()


def _holding(messages: Sequence[Message], wanted: str) -> Iterator[_Holding]:
    for number, message in enumerate(messages, 1):
        for place, part in enumerate(message.parts):
            for nth, words in enumerate(texts_of(part)):
                if times := sum(1 for _ in substring_places(words.text, wanted)):
                    yield _Holding(number, place, nth, times)


def texts_of(part: AnyPart) -> Iterator[Words]:
    """All that is written in a part, and where it belongs."""
    match part:
        case Text(text=text, origin=origin):
            yield Words(str(origin) if origin in _SAID_BY else "other", text)
        case Thought(text=text, subject=subject):
            yield Words("thoughts", f"{subject}\n{text}")
        case ToolCall():
            yield Words("arguments", part.name)
            for name, value in part.arguments.items():
                yield Words("arguments", value_words(value), name)
            yield Words("output", output_text(part))
        case ToolResult(parts=parts):
            yield from (Words("output", piece.text) for piece in parts if isinstance(piece, Text))
        case FileReference(path=path, text=text):
            yield Words("other", f"{path}\n{text or ''}")
        case _:
            return


def _first_from(holding: Sequence[_Holding], number: int) -> int:
    """The first place in or after a message; where none is left, the first of all."""
    before = sum(one.times for one in holding if one.number < number)
    return before if before < sum(one.times for one in holding) else 0


def _window(
    opened: OpenedSession, asked: AskedToFind, holding: Sequence[_Holding], start: int
) -> Iterator[FoundPlace]:
    entries = opened.places(asked.detail)
    end, begin = start + asked.count, 0
    for one in holding:
        if begin < end and begin + one.times > start:
            words = list(texts_of(opened.session.messages[one.number - 1].parts[one.part]))[one.text]
            first = max(0, start - begin)
            spans = islice(substring_places(words.text, asked.words), first, end - begin)
            for nth, span in enumerate(spans, first):
                yield _found(one, entries.get(one.number), words, nth, span)
        begin += one.times


def _found(one: _Holding, entry: int | None, words: Words, nth: int, span: tuple[int, int]) -> FoundPlace:
    start, end = span
    begin = max(0, start - AROUND)
    around = words.text[begin : end + AROUND]
    return FoundPlace(
        number=one.number,
        entry=entry,
        part=one.part,
        where=words.where,
        argument=safe.line(words.argument) if words.argument is not None else None,
        nth=nth,
        pieces=pieces(around, [(start - begin, end - begin)]),
    )
