"""What the human typed in a session, told with it where its own files tell something else, or nothing.

Until 0.28 a session file holds only what was sent: the expansion of a custom command, a path that was
written out. Documents (`.json`) lose what was rewound, compressed or failed; the shell's commands are
recorded since 0.44. The log of what was typed still has the words, so they are told: beside what was sent
for them, or as messages that are unrecorded, in their place by time.

A bundle is read without the other sessions of its project, so only lines are taken that are its own beyond
doubt: under its name and not after a command that may have changed the session, or among others that it
holds. The newest bytes of a log are read, as many as a list reads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from operator import attrgetter
from threading import Lock
from typing import NamedTuple

import msgspec

from geminids.agents.gemini.companions.lost import (
    LineNames,
    Owner,
    is_bare_command,
    message_of,
    tie,
    why_missing,
)
from geminids.agents.gemini.companions.prompt_log import read_prompt_log
from geminids.agents.gemini.companions.shell_history import read_shell_history
from geminids.agents.gemini.companions.typed import Line, lines_of
from geminids.agents.gemini.file_names import opened_at
from geminids.agents.gemini.read.injected import beside_typed, message_origin
from geminids.core.agents.base import Bundle, CompanionFile
from geminids.core.agents.traces import said_in, trace, words_in
from geminids.core.disk import Disk
from geminids.core.hashes import blake2b
from geminids.core.model import CompanionKind, Message, Origin, Session, SessionKind, Text
from geminids.core.model.summary import counts_of, title_of
from geminids.core.timestamps import disk_time

LARGEST = 8_000_000
"""So many bytes at the end of a log are read."""
_AT_HAND = 8_000_000
"""So many bytes of logs are at hand as they were read: sessions of many projects follow one another."""
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)
_when = attrgetter("at")
_AROUND = timedelta(minutes=2)
"""How far a line may be from the times of the files that hold it."""


class _TimedLine(NamedTuple):
    """A line of a log, the session that the log names, and what tells it from others."""

    at: datetime
    name: str
    mark: bytes


class _Typed:
    """What was typed in a project. All its bundles ask for their lines, so none looks through all."""

    def __init__(self, by_name: dict[str, list[Line]], shell: tuple[str, ...], *, is_whole: bool) -> None:
        self.by_name = by_name
        """Lines by the session that the log names, in order of time."""
        self.shell = shell
        self.is_whole = is_whole
        """Whether all logs could be read."""
        self._order = {name: number for number, name in enumerate(by_name)}
        self._names = sorted(by_name)
        self.marks = {name: [_mark_of(name, line) for line in lines] for name, lines in by_name.items()}
        """What tells lines from others, for each of `by_name`."""
        self._timed = sorted(
            _TimedLine(line.logged.at, name, mark)
            for name, lines in by_name.items()
            for line, mark in zip(lines, self.marks[name], strict=True)
            if line.logged.at is not None
        )

    def names_of(self, bundle: Bundle, last_updated: datetime | None) -> list[str]:
        """The sessions that a bundle may hold, by their names or since something was typed in its time."""
        inside = {line.name for line in self.lines_in_time_of(bundle, last_updated)}
        return sorted(inside.union(self.own_names(bundle)), key=self._order.__getitem__)

    def own_names(self, bundle: Bundle) -> list[str]:
        """The names that begin as the files of a bundle say, in their order."""
        first = bisect_left(self._names, bundle.key)
        return list(takewhile(lambda name: name.startswith(bundle.key), islice(self._names, first, None)))

    def lines_in_time_of(self, bundle: Bundle, last_updated: datetime | None = None) -> Sequence[_TimedLine]:
        """Return the lines between the beginning and the end of the files of a bundle, in order of time.

        The end is the mtime, or `last_updated` if that is later: the clocks of programs and disks differ.
        """
        since, until = _span(bundle, last_updated)
        first = bisect_left(self._timed, since, key=_when)
        return self._timed[first : bisect_right(self._timed, until, first, key=_when)]


def typed_mark(bundle: Bundle) -> str | None:
    """A text that is another one as soon as the logs may tell something else of a bundle's sessions."""
    typed = _logs_at_hand.read(bundle.logs, bundle.disk)
    if not typed.is_whole:
        return None
    digest = blake2b(digest_size=16)
    for name in typed.own_names(bundle):
        for mark in typed.marks[name]:
            digest.update(mark)
    for timed in typed.lines_in_time_of(bundle):
        digest.update(timed.mark)
    return digest.hexdigest()


def _mark_of(name: str, line: Line) -> bytes:
    logged = line.logged
    identity = (name, logged.message_id, logged.key, logged.at, len(logged.text))
    return repr(identity).encode("utf-8", "surrogatepass")


def with_typed_words(
    bundle: Bundle, sessions: Sequence[Session], last_updated: datetime | None
) -> list[Session]:
    """Return the sessions of a bundle with what was typed in them until its files were last updated."""
    mains = [session for session in sessions if session.kind is SessionKind.MAIN]
    if not bundle.logs or not mains:
        return list(sessions)
    typed = _logs_at_hand.read(bundle.logs, bundle.disk)
    lines = [
        # Tying writes into a line, and the next bundle begins with what the log says.
        Line(line.logged, line.also_at)
        for name in typed.names_of(bundle, last_updated)
        for line in typed.by_name[name]
    ]
    if not lines:
        return list(sessions)
    typed_in = _TypedSessions(mains, lines, typed.shell)
    return [
        typed_in.session(session) if session.kind is SessionKind.MAIN else session for session in sessions
    ]


def _span(bundle: Bundle, last_updated: datetime | None) -> tuple[datetime, datetime]:
    """When the files of a bundle were begun, as far as their names tell, and last written to."""
    began = [at for file in bundle.files if (at := opened_at(file.path.name))]
    mtime = disk_time(max((file.mtime_ns for file in bundle.files), default=0) / 1e9)
    since = min(began) - _AROUND if began else _BEGINNING
    return since, max(mtime, last_updated or mtime) + _AROUND if mtime else _END


class _LogsAtHand:
    """What logs say that were read lately."""

    def __init__(self) -> None:
        self._typed: OrderedDict[tuple[tuple[CompanionFile, ...], Disk], _Typed] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def read(self, logs: tuple[CompanionFile, ...], disk: Disk) -> _Typed:
        """What the logs of a project say. They are the same files for all its bundles."""
        with self._lock:
            if (logs, disk) in self._typed:
                self._typed.move_to_end((logs, disk))
                return self._typed[logs, disk]
        typed = _read(logs, disk)
        with self._lock:
            if (logs, disk) not in self._typed:
                self._typed[logs, disk] = typed
                self._bytes += _size(logs)
            while self._bytes > _AT_HAND:
                (oldest, _), _ = self._typed.popitem(last=False)
                self._bytes -= _size(oldest)
        return typed


def _size(logs: Iterable[CompanionFile]) -> int:
    return sum(min(log.size, LARGEST) for log in logs)


_logs_at_hand = _LogsAtHand()


def _read(logs: tuple[CompanionFile, ...], disk: Disk) -> _Typed:
    read = [read_prompt_log(log.file, LARGEST, disk) for log in logs if log.kind is CompanionKind.PROMPT_LOG]
    shells = [
        read_shell_history(log.file, None, disk) for log in logs if log.kind is CompanionKind.SHELL_HISTORY
    ]
    by_name: dict[str, list[Line]] = {}
    for line in lines_of(read):
        if line.native_id is not None:
            by_name.setdefault(line.native_id, []).append(line)
    problems = [*(p for log in read for p in log.problems), *(p for shell in shells for p in shell.problems)]
    refused = any(problem.is_unreadable for problem in problems)
    return _Typed(by_name, tuple(c for shell in shells for c in shell.commands), is_whole=not refused)


class _TypedSessions:
    """Sessions, and the lines that were typed in them."""

    def __init__(self, mains: Sequence[Session], lines: Sequence[Line], shell: Iterable[str]) -> None:
        traces = [trace(session, replies=False) for session in mains]
        self._owners = tie(lines, traces, shell, None)
        self._lines: dict[str, list[Line]] = {}
        for line in lines:
            if owner := self._owners[id(line)].trace:
                self._lines.setdefault(owner.native_id, []).append(line)

    def session(self, session: Session) -> Session:
        """A session with what was typed in it."""
        lines = self._lines.get(session.native_id, [])
        beside = dict(self._typed_beside(session, lines))
        unheld = [line for line in lines if line.spot is None and not is_bare_command(line)]
        unheld = list(_without_cut(session, unheld)) if unheld else []
        if not beside and not unheld:
            return session
        recorded = [beside.get(message.id, message) for message in session.messages]
        unrecorded = list(self._messages(unheld))
        prompts = [message for message in unrecorded if message.origin is Origin.HUMAN]
        messages = tuple(_in_order(recorded, unrecorded) if unrecorded else recorded)
        return msgspec.structs.replace(
            session,
            messages=messages,
            # What was taken back, or was no prompt, says less about a session than what it holds.
            title=title_of(session.summary, recorded) or title_of(None, prompts),
            counts=counts_of(messages),
        )

    def _typed_beside(self, session: Session, lines: Iterable[Line]) -> Iterator[tuple[str, Message]]:
        """The messages for which something else was sent than was typed, with both."""
        others = [
            (line, line.spot.said)
            for line in lines
            if line.spot is not None and line.logged.key not in (None, line.spot.said.key)
        ]
        spoken = {(said.key, said.at): message for message, said in said_in(session)} if others else {}
        for line, sent in others:
            message = spoken.get((sent.key, sent.at))
            if message is not None and (parts := beside_typed(message.parts, line.logged.text)):
                yield (
                    message.id,
                    msgspec.structs.replace(
                        message,
                        parts=parts,
                        origin=message_origin(parts),
                        also_at=(*message.also_at, *line.places),
                    ),
                )

    def _messages(self, lines: Iterable[Line]) -> Iterator[Message]:
        names = LineNames()
        for line in lines:
            owner: Owner = self._owners[id(line)]
            yield message_of(line, names.of(line), why_missing(line, owner))


def _without_cut(session: Session, lines: Iterable[Line]) -> Iterator[Line]:
    """Lines without those of which the log has only the beginning, if the session holds all of it."""
    begun = [" ".join(text.split()) for text in _human_texts(session)]
    for line in lines:
        words = " ".join(line.logged.text.rstrip("\ufffd").split())
        if line.logged.key is not None or not any(text.startswith(words) for text in begun):
            yield line


def _human_texts(session: Session) -> Iterator[str]:
    for message, _ in words_in(session):
        yield "\n\n".join(part.text for part in message.parts if isinstance(part, Text))


def _in_order(messages: Sequence[Message], typed: Iterable[Message]) -> Iterator[Message]:
    """Messages with what else was typed among them, each before the first that is later."""
    latest: list[datetime] = []
    for message in messages:
        latest.append(max(message.at or _BEGINNING, latest[-1] if latest else _BEGINNING))
    by_place: dict[int, list[Message]] = {}
    place = 0
    for message in typed:
        # What has no time stays where it stands among the other lines.
        place = bisect_right(latest, message.at) if message.at else place
        by_place.setdefault(place, []).append(message)
    for index, message in enumerate(messages):
        yield from by_place.get(index, ())
        yield message
    yield from by_place.get(len(messages), ())
