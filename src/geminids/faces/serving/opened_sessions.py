"""Sessions that were read lately, so that a window of one costs no more than drawing it.

A session stays as long as the facts of its files (size, time, inode) are what they were when it was read.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import msgspec

from geminids.core.errors import SessionNotFoundError
from geminids.core.model import Message, Session, SessionFile, ToolCall
from geminids.sharing.transcript.entries import LEVELS, StoryEntry, Turn, transcript

if TYPE_CHECKING:
    from geminids.faces.serving.outgoing import JsonWriter
    from geminids.faces.serving.redaction import Redaction
    from geminids.library import Library
    from geminids.query.sessions.beginning import Beginning

Worth = TypeVar("Worth")

_OF_A_LIST = re.compile(r"[0-9]{1,6}|latest")
"""What means a line of a list that was made elsewhere, or another session tomorrow."""
MOST = 8
"""Sessions that stay at most."""
MOST_BYTES = 200_000_000
"""Bytes of their files; one session stays whatever its size."""
FIRST_MESSAGES = 400
"""Messages that are read of a large session before all the others are."""


class OpenedSession:
    """A session with its story at every level of detail that was asked for."""

    def __init__(self, session: Session, files: Sequence[SessionFile], own: Session | None = None) -> None:
        """Note the facts of the files that it was read from; one that has grown since counts as changed."""
        self.session = session
        self.own = own or session
        """What it is known by to us, also where secrets are hidden; without messages."""
        self._paths = [file.path for file in files]
        self._stamp = tuple(
            fact and (file.size, *fact[1:]) for file, fact in zip(files, self._facts(), strict=True)
        )
        self.bytes = sum(file.size for file in files)
        self._numbers = {id(message): number for number, message in enumerate(session.messages, 1)}
        self._stories: dict[str, Sequence[StoryEntry]] = {}
        self._places: dict[str, dict[int, int]] = {}
        self._worked_out: dict[Callable[..., Any], Any] = {}

    @property
    def version(self) -> str:
        """Another text whenever the session was read anew."""
        return f"{crc32(repr((self._stamp, len(self.session.messages))).encode()):08x}"

    def is_current(self) -> bool:
        """Whether its files are what they were."""
        return self._stamp == tuple(self._facts())

    def _facts(self) -> Iterator[tuple[int, int, int] | None]:
        return map(_facts, self._paths)

    def number_of(self, message: Message) -> int:
        """The number of a message of it, from 1."""
        return self._numbers[id(message)]

    def story(self, level: str) -> Sequence[StoryEntry]:
        """All entries at a level of detail."""
        if level not in self._stories:
            self._stories[level] = tuple(transcript(self.session, LEVELS[level]))
        return self._stories[level]

    def once(self, work_out: Callable[[OpenedSession], Worth]) -> Worth:
        """What takes going through all messages, worked out when it is asked for the first time."""
        if work_out not in self._worked_out:
            self._worked_out[work_out] = work_out(self)
        worth: Worth = self._worked_out[work_out]
        return worth

    def places(self, level: str) -> dict[int, int]:
        """Where the messages stand in the story, by their numbers; what is not told is not in it."""
        if level not in self._places:
            entries = enumerate(self.story(level))
            self._places[level] = {
                self.number_of(entry.message): place for place, entry in entries if isinstance(entry, Turn)
            }
        return self._places[level]


class BegunSession(OpenedSession):
    """A session of which no more than the first messages were read."""

    def __init__(self, begun: Beginning) -> None:
        super().__init__(begun.session, begun.session.files)
        self.messages = begun.messages
        """How many there are in all."""

    def story(self, level: str) -> Sequence[StoryEntry]:
        """The entries that stay what they are, whatever follows."""
        if level not in self._stories:
            last = self.session.messages[-1]
            entries = transcript(self.session, LEVELS[level])
            before = list(takewhile(lambda one: not (isinstance(one, Turn) and one.message is last), entries))
            while before and not isinstance(before[-1], Turn):
                before.pop()
            self._stories[level] = tuple(before)
        return self._stories[level]

    def likely_entries(self, level: str) -> int:
        """How many entries there will be, as the beginning lets one guess."""
        entries = len(self.story(level))
        return max(entries, round(entries * self.messages / len(self.session.messages)))


class OpenedSessions:
    """The sessions that were asked for last."""

    def __init__(self, writer: JsonWriter, most_bytes: int = MOST_BYTES) -> None:
        self._writer = writer
        self._most_bytes = most_bytes
        self._opened: OrderedDict[tuple[str, bool], OpenedSession] = OrderedDict()
        self._lock = Lock()
        self._reading: dict[str, Lock] = {}

    def session(
        self,
        library: Library,
        wanted: str,
        redaction: Redaction | None,
        read: Callable[[], Session | None] | None = None,
    ) -> OpenedSession:
        """A session by its id or the beginning of it. Raises the error that says why there is none.

        With `read`, it is looked up in no other way unless that gives nothing.
        """
        _refuse_lists(wanted)
        with self._lock:
            reading = self._reading.setdefault(wanted, Lock())
        # Twenty who want the same large session wait for the first of them.
        try:
            with reading:
                return self._current(wanted, redaction) or self._read(library, wanted, redaction, read)
        finally:
            with self._lock:
                self._reading.pop(wanted, None)

    def begun(self, library: Library, wanted: str) -> BegunSession | None:
        """The beginning of a session that takes long to read; None if it is read already, or soon is."""
        _refuse_lists(wanted)
        if self._current(wanted, None):
            return None
        begun = library.beginning(wanted, FIRST_MESSAGES)
        return BegunSession(begun) if begun else None

    def _current(self, wanted: str, redaction: Redaction | None) -> OpenedSession | None:
        key = (wanted, redaction is not None)
        with self._lock:
            known = self._opened.get(key)
            if known is None or not known.is_current():
                return None
            self._opened.move_to_end(key)
            return known

    def _read(
        self,
        library: Library,
        wanted: str,
        redaction: Redaction | None,
        read: Callable[[], Session | None] | None,
    ) -> OpenedSession:
        session = (read() if read else None) or library.session(wanted)
        shown = self._without_secrets(library, session, redaction) if redaction else session
        opened = OpenedSession(shown, session.files, own=msgspec.structs.replace(session, messages=()))
        with self._lock:
            self._opened[wanted, redaction is not None] = opened
            self._opened.move_to_end((wanted, redaction is not None))
            self._forget_some()
        return opened

    def _without_secrets(self, library: Library, session: Session, redaction: Redaction) -> Session:
        """A session without secrets, whose ids still mean what they meant."""
        hidden = redaction.session(library, session)

        def mark(handle: str, other: str) -> str:
            if handle == other:
                return handle
            meant = library.keys([session])[0] if handle == session.id else handle
            return self._writer.mark(library, meant, other)

        return with_ids(session, hidden, mark)

    def _forget_some(self) -> None:
        while len(self._opened) > 1 and (
            len(self._opened) > MOST or sum(one.bytes for one in self._opened.values()) > self._most_bytes
        ):
            self._opened.popitem(last=False)


def with_ids(session: Session, hidden: Session, mark: Callable[[str, str], str]) -> Session:
    """A session with what stands for its ids in the place of those that were hidden."""

    def marked(handle: str | None, other: str | None) -> str | None:
        return mark(handle, other) if handle is not None and other is not None else other

    messages = [
        _with_children(message, other, marked)
        for message, other in zip(session.messages, hidden.messages, strict=True)
    ]
    ids = {name: marked(getattr(session, name), getattr(hidden, name)) for name in ("id", "parent_id")}
    if all(new is old for new, old in zip(messages, hidden.messages, strict=True)):
        return msgspec.structs.replace(hidden, **ids)
    return msgspec.structs.replace(hidden, messages=tuple(messages), **ids)


def _with_children(message: Message, hidden: Message, marked: Callable[..., str | None]) -> Message:
    parts = list(hidden.parts)
    for place, (part, other) in enumerate(zip(message.parts, hidden.parts, strict=True)):
        if isinstance(part, ToolCall) and isinstance(other, ToolCall) and part.child_id != other.child_id:
            parts[place] = msgspec.structs.replace(other, child_id=marked(part.child_id, other.child_id))
    is_same = all(new is old for new, old in zip(parts, hidden.parts, strict=True))
    return hidden if is_same else msgspec.structs.replace(hidden, parts=tuple(parts))


def _refuse_lists(wanted: str) -> None:
    if _OF_A_LIST.fullmatch(wanted):
        raise SessionNotFoundError(wanted)


def _facts(path: str) -> tuple[int, int, int] | None:
    """What tells whether a file has changed; None for one that is gone."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked for every window
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
