"""The story of a session, window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

import msgspec

from geminids.core.model import AnyPart, Message, Origin
from geminids.faces.documents.parts import AnyPartDocument, WordsPart
from geminids.faces.documents.tokens import used_by_request
from geminids.faces.documents.transcript import AnyEntry, LeftOutEntry, MarkEntry, PauseEntry, TurnEntry
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.faces.web.parts import PartAddress, part_document
from geminids.faces.web.prose import plain
from geminids.faces.web.times import seconds_between
from geminids.query.usage.costs import Costing
from geminids.sharing.transcript import words
from geminids.sharing.transcript.entries import (
    LEVELS,
    LeftOut,
    Mark,
    Pause,
    StoryEntry,
    Turn,
    completed_at,
    is_marked,
)
from geminids.sharing.transcript.labels import left_out_sentence, mark_sentence, speaker_name

Write = Callable[[AnyEntry], msgspec.Raw]
"""Writes an entry as a piece of an answer."""
MOST_BYTES = 4_000_000
"""Of a window."""
MOST_PARTS = 2_000
"""Of a message in a page."""


class Names(NamedTuple):
    """What a session and its agent are called in answers."""

    key: str
    """What means the session alone."""
    agent: str


class StoryWindows:
    """A session at a level of detail, some entries at a time."""

    def __init__(
        self,
        opened: OpenedSession,
        level: str,
        costing: Costing,
        names: Names,
        write: Write,
        *,
        is_redacted: bool,
    ) -> None:
        self._opened = opened
        self._level = level
        self._costing = costing
        self._names = names
        self._write = write
        self._is_redacted = is_redacted

    def window(self, start: int, count: int) -> list[AnyEntry]:
        """Some entries of the story; fewer than asked for where they are very large, but one at least."""
        entries: list[msgspec.Raw] = []
        size = 0
        for entry in self._opened.story(self._level)[start : start + count]:
            # How large it is, only its bytes tell; they are what the answer is made of.
            entries.append(self._write(self._entry(entry)))
            size += len(entries[-1])
            if size > MOST_BYTES:
                break
        return cast("list[AnyEntry]", entries)

    def turns(self, turns: Sequence[Turn]) -> list[TurnEntry]:
        """Turns that stand in no story of this level, as those of a dropped branch."""
        return [self._turn(turn) for turn in turns]

    def _entry(self, entry: StoryEntry) -> AnyEntry:
        match entry:
            case Turn():
                return self._turn(entry)
            case Pause(length=length, until=until):
                seconds = length.total_seconds()
                return PauseEntry(seconds=seconds, until=until, text=f"{words.duration(length)} later")
            case Mark(state=state, messages=messages):
                return MarkEntry(state=state, messages=messages, text=mark_sentence(entry))
            case LeftOut(counts=counts):
                return LeftOutEntry(counts=counts, text=left_out_sentence(counts))

    def _turn(self, turn: Turn) -> TurnEntry:
        message = turn.message
        number = self._opened.number_of(message)
        return TurnEntry(
            number=number,
            id=message.id,
            speaker=str(turn.speaker),
            name=speaker_name(turn, self._names.agent),
            continues=turn.continues,
            role=message.role,
            origin=message.origin,
            state=message.state,
            is_dropped=is_marked(message),
            missing=message.missing,
            level=message.level,
            imported=message.imported,
            at=message.at,
            seconds=self._seconds(message, number),
            model=message.model,
            usage=used_by_request(message.usage, self._costing.of(message)) if message.usage else None,
            parts=list(self._parts(turn, number)),
        )

    def _parts(self, turn: Turn, number: int) -> Iterator[AnyPartDocument]:
        """The parts of a message; of one that no browser could show whole, the first ones."""
        numbered = _numbered(turn)
        for at, part in numbered[:MOST_PARTS]:
            yield part_document(part, turn.message, self._address(number, at))
        if rest := numbered[MOST_PARTS:]:
            sentence = f"{len(rest):,} more parts of this message are hidden here. An export has them all."
            yield WordsPart(
                index=rest[0][0], origin=Origin.NOTICE, html=plain(sentence), is_prose=False, is_cut=False
            )

    def _address(self, number: int, part: int) -> PartAddress:
        path, detail = self._opened.session.project.path, LEVELS[self._level]
        return PartAddress(self._names.key, number, part, self._is_redacted, path, detail)

    def _seconds(self, message: Message, number: int) -> float | None:
        """From the message before to the end of this one."""
        before = self._opened.session.messages[number - 2] if number > 1 else None
        return seconds_between(completed_at(before), completed_at(message)) if before else None


def _numbered(turn: Turn) -> list[tuple[int, AnyPart]]:
    """The parts that are entries with their places among all parts of the message."""
    places = {id(part): place for place, part in enumerate(turn.message.parts)}
    return [(places[id(part)], part) for part in turn.parts]
