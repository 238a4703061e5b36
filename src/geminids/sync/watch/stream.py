"""The stream of what is written: looks, reads what has changed, and tells what is new of it.

A file that changes is read at once, and then no more often than reading it is worth: a burst of small
writes to a large file is read once. What was there before the watch began is not told; only sessions that
seem to be running are read for that, all others when they change.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from threading import Event
from typing import NamedTuple

from geminids.core.agents.base import FoundFile, Reading
from geminids.core.model import Message, Origin, Problem, Session
from geminids.sync.watch.events import (
    AnyEvent,
    Happened,
    News,
    Quiet,
    SessionGone,
    SessionNews,
    Trouble,
    Watching,
)
from geminids.sync.watch.files import Finder, Found, Item, Key, refreshed
from geminids.sync.watch.notice import Events, NoEventsError, Noticing, Polling
from geminids.sync.watch.sent import SETTLED, Sent, Unsettled, torn_records

POLL = 1.0
"""Seconds between two looks at everything where nothing tells of changes."""
SAFETY = 5.0
"""The same where events do: some get lost."""
BETWEEN_READS = 0.2
"""Seconds at least from one reading of a file to the next; large files are left alone for longer."""
READING_SHARE = 4
"""So many times as long as a reading took, its file is left alone after it. A look at everything likewise."""
PATIENCE = 2.0
"""Seconds without a change after which half a record, or a missing file, is taken for what it is."""
RETRY = 5.0
"""Seconds after which a file that may not be read is tried again."""
RUNNING = 3600.0
"""Seconds: a session that was written to within the last hour may be running."""
MOST_READ_AHEAD = 64_000_000
"""Bytes of running sessions that are read before the first change."""

Wanted = Callable[[Session], bool]


class Pace(NamedTuple):
    """How often is looked and told."""

    poll: float | None = None
    """Look at everything every so many seconds, without events; None means events where there are any."""
    heartbeat: float | None = None
    """Tell that nothing happens every so many seconds."""


def watch(
    finder: Finder,
    *,
    is_wanted: Wanted = lambda _: True,
    last: int = 0,
    whole: bool = False,
    pace: Pace = Pace(),  # noqa: B008 - a frozen value
    stop: Event | None = None,
) -> Generator[AnyEvent]:
    """Tell what is written from now on, and before that so many of the last messages of what is running.

    With `whole`, everything that is found counts as running, however old and large it is. Ends
    when `stop` is set, within a tenth of a second; else only who iterates ends it. Whatever was
    opened is let go of when the iterator is closed.
    """
    stream = _Stream(finder, is_wanted, pace, stop or Event())
    try:
        yield from stream.events(last, whole=whole)
    finally:
        stream.close()


class _Watched:
    """Files that are read together, and how far they were told."""

    def __init__(self, item: Item, sent: Sent | None) -> None:
        self.item = item
        self.sent = sent
        """None until something is to be told."""
        self.at_first = {str(file.path): file for file in item.files}
        self.changed_at = 0.0
        self.may_be_read_at = 0.0
        self.lost_files = False

    def change(self, item: Item, now: float) -> None:
        """Take in other facts about the files: they are to be read."""
        self.lost_files = not {f.path for f in self.item.files} <= {f.path for f in item.files}
        self.item = item
        self.changed_at = now

    def rest_after(self, began: float) -> None:
        """Leave the files alone for a while, the longer the more work they are."""
        now = time.monotonic()
        self.may_be_read_at = now + max(BETWEEN_READS, READING_SHARE * (now - began))

    def is_patient(self, now: float) -> bool:
        """Whether more is still to be expected."""
        return now < self.changed_at + PATIENCE


class _Stream:
    def __init__(self, finder: Finder, is_wanted: Wanted, pace: Pace, stop: Event) -> None:
        self._finder = finder
        self._is_wanted = is_wanted
        self._pace = pace
        self._stop = stop
        self._noticing: Noticing = Polling(stop)
        self._by_events = False
        self._registered: Mapping[str, int] = {}
        self._watched: dict[Key, _Watched] = {}
        self._by_path: dict[str, Key] = {}
        self._due_at: dict[Key, float] = {}
        """When to read what has changed."""
        self._missing: dict[Key, float] = {}
        self._troubles: set[tuple[str, str]] = set()
        self._look_at = 0.0
        self._may_look_at = 0.0
        self._began = time.time()

    def close(self) -> None:
        self._noticing.close()

    def events(self, last: int, *, whole: bool) -> Iterator[AnyEvent]:
        """Everything, until we are stopped."""
        # From the moment at which we say that we watch, everything is told.
        troubles, because = self._begin()
        sent = [
            event for watched in self._read_first(whole=whole) for event in self._read_ahead(watched, last)
        ]
        yield self._watching(because)
        yield from (*troubles, *sent)
        told_at = time.monotonic()
        while not self._stop.is_set():
            for event in self._due(time.monotonic()):
                yield event
                told_at = time.monotonic()
            if self._pace.heartbeat and time.monotonic() >= told_at + self._pace.heartbeat:
                yield Quiet()
                told_at = time.monotonic()
            yield from self._wait(told_at)

    def _begin(self) -> tuple[list[Trouble], str | None]:
        """Look at everything for the first time: what cannot be read, and why there are no events."""
        because = self._turn_to_events() if self._pace.poll is None else None
        found = self._look()
        self._watched = {key: _Watched(item, None) for key, item in found.items.items()}
        return list(self._tell_troubles(found.problems)), self._register() or because

    def _read_first(self, *, whole: bool) -> Iterable[_Watched]:
        return self._watched.values() if whole else self._running()

    def _running(self) -> Iterator[_Watched]:
        """What was written to of late, the last first, as far as it is not too much."""
        room = MOST_READ_AHEAD
        for watched in sorted(self._watched.values(), key=_written_at, reverse=True):
            room -= sum(file.size for file in watched.item.files)
            if room < 0 or _written_at(watched) < self._began - RUNNING:
                return
            yield watched

    def _read_ahead(self, watched: _Watched, last: int) -> Iterator[AnyEvent]:
        """Take what is there for told, all but the last messages, which are told now."""
        reading = watched.item.read()
        watched.sent = Sent()
        self._retry_if_closed(watched, reading)
        yield from self._tell_troubles(reading.problems)
        wanted = list(filter(self._is_wanted, reading.sessions))
        for session in wanted:
            watched.sent.note(session)
            is_led = session.parent_id in {other.id for other in wanted}
            if recent := _last_said(session.messages, 0 if is_led else last):
                news = tuple(News(Happened.ADDED, m.id, m, m.parts, None) for m in recent)
                yield SessionNews(session.without_messages(), news)

    def _due(self, now: float) -> Iterator[AnyEvent]:
        """Do what is to be done at this moment."""
        if now >= self._look_at:
            yield from self._look_around(now)
        for key, due_at in list(self._due_at.items()):
            if due_at <= now and (watched := self._watched.get(key)):
                del self._due_at[key]
                yield from self._read(watched)

    def _look_around(self, now: float) -> Iterator[AnyEvent]:
        found = self._look()
        yield from self._tell_troubles(found.problems)
        for key, item in found.items.items():
            self._take_in(key, item, now)
        yield from self._forget_missing(found, now)
        if because := self._register():
            yield self._watching(because)

    def _look(self) -> Found:
        began = time.monotonic()
        found = self._finder.look()
        now = time.monotonic()
        self._by_path = {str(file.path): key for key, item in found.items.items() for file in item.files}
        self._may_look_at = now + READING_SHARE * (now - began)
        self._look_at = now + self._seconds
        return found

    @property
    def _seconds(self) -> float:
        """How often everything is looked at."""
        return SAFETY if self._by_events else self._pace.poll or POLL

    def _take_in(self, key: Key, item: Item, now: float) -> None:
        self._missing.pop(key, None)
        known = self._watched.get(key)
        if known is None:
            known = self._watched[key] = _Watched(item, None)
            # What was written before we began was only brought here: a copy, or a disk that was mounted.
            if _written_at(known) >= self._began - BETWEEN_READS:
                known.sent = Sent()
                self._change(known, item, now)
        elif item.files != known.item.files:
            self._change(known, item, now)

    def _change(self, watched: _Watched, item: Item, now: float) -> None:
        watched.change(item, now)
        self._due_at[item.key] = max(now, watched.may_be_read_at)

    def _forget_missing(self, found: Found, now: float) -> Iterator[AnyEvent]:
        """Tell what is gone, once it is sure that it was not only replaced or hidden."""
        for key in self._watched.keys() - found.items.keys() if not found.problems else ():
            since = self._missing.setdefault(key, now)
            if now < since + PATIENCE:
                self._look_at = min(self._look_at, since + PATIENCE)
            else:
                del self._missing[key]
                self._due_at.pop(key, None)
                sent = self._watched.pop(key).sent
                yield from sent.all_gone() if sent else ()

    def _read(self, watched: _Watched) -> Iterator[AnyEvent]:
        began = time.monotonic()
        reading = watched.item.read()
        yield from self._tell_troubles(reading.problems)
        sent = watched.sent
        if sent is None:
            sent = watched.sent = Sent()
            for session in filter(self._is_wanted, reading.sessions):
                sent.note(session, _StoodBefore(watched))
        unsettled = self._unsettled(watched, reading, began)
        news: list[SessionNews | SessionGone] = list(sent.news(reading, self._is_wanted, unsettled))
        watched.rest_after(began)
        yield from news

    def _retry_if_closed(self, watched: _Watched, reading: Reading) -> bool:
        """Whether a file may not be read. Permission changes neither size nor time, so it is tried again."""
        is_closed = any(problem.is_unreadable for problem in reading.problems)
        if is_closed:
            self._due_at[watched.item.key] = time.monotonic() + RETRY
        return is_closed

    def _unsettled(self, watched: _Watched, reading: Reading, now: float) -> Unsettled:
        is_closed = self._retry_if_closed(watched, reading)
        torn = torn_records(reading)
        if not torn and not watched.lost_files:
            return Unsettled((), absences=True) if is_closed else SETTLED
        if watched.is_patient(now):
            self._due_at[watched.item.key] = watched.changed_at + PATIENCE
            return Unsettled(torn, absences=True)
        watched.lost_files = False
        return Unsettled((), absences=is_closed)

    def _wait(self, told_at: float) -> Iterator[AnyEvent]:
        """Sleep until something is due or noticed."""
        until = [self._look_at, *self._due_at.values()]
        if self._pace.heartbeat:
            until.append(told_at + self._pace.heartbeat)
        try:
            changed = self._noticing.wait(min(until) - time.monotonic())
        except (NoEventsError, FileNotFoundError) as error:
            self._turn_to_polling()
            yield self._watching(str(error))
            return
        now = time.monotonic()
        for path in changed:
            self._notice(path, now)

    def _notice(self, path: str, now: float) -> None:
        """A file that is known is looked at; anything else may be a new one, or the place of one."""
        watched = self._watched.get(self._by_path.get(path, ()))
        item = refreshed(watched.item) if watched else None
        if watched and item:
            if item.files != watched.item.files:
                self._change(watched, item, now)
        else:
            self._look_at = min(self._look_at, max(now, self._may_look_at))

    def _turn_to_events(self) -> str | None:
        """Let the operating system tell; the reason if it does not."""
        try:
            self._noticing = Events(self._stop)
        except NoEventsError as error:
            return str(error)
        self._by_events = True
        return None

    def _turn_to_polling(self) -> None:
        self._noticing.close()
        self._noticing = Polling(self._stop)
        self._by_events = False
        self._registered = {}
        self._look_at = 0.0

    def _register(self) -> str | None:
        """Have changes noticed in all folders there are now; why that is impossible, if it is."""
        folders = _identified(self._finder.folders()) if self._by_events else {}
        if folders == self._registered:
            return None
        self._registered = folders
        # What was written before a folder was registered told nobody.
        self._look_at = self._may_look_at
        try:
            self._noticing.watch(folders)
        except NoEventsError as error:
            self._turn_to_polling()
            return str(error)
        return None

    def _watching(self, because: str | None) -> Watching:
        return Watching(self._finder.places, self._by_events, self._seconds, because)

    def _tell_troubles(self, problems: Sequence[Problem]) -> Iterator[Trouble]:
        for problem in problems:
            place = (problem.file, problem.detail)
            # What was deleted under our hands is gone, not closed; the next look sees that.
            if problem.is_unreadable and place not in self._troubles and os.path.lexists(problem.file):
                self._troubles.add(place)
                yield Trouble(problem)


class _StoodBefore:
    """Tells whether a message stood in files before they changed for the first time.

    In a log it is its place that tells; what was rewritten since is told by its time.
    """

    def __init__(self, watched: _Watched) -> None:
        self._before = watched.at_first
        self._now = {str(file.path): file for file in watched.item.files}

    def __call__(self, message: Message) -> bool:
        place = message.source
        before = self._before.get(place.file)
        if before is None:
            return False
        if place.pointer is None and _was_only_appended_to(before, self._now.get(place.file)):
            return place.end <= before.size
        return message.at is None or message.at.timestamp() <= before.mtime_ns / 1e9


def _was_only_appended_to(before: FoundFile, now: FoundFile | None) -> bool:
    return now is not None and now.inode == before.inode and now.size >= before.size


def _last_said(messages: Sequence[Message], number: int) -> Sequence[Message]:
    """The end of a conversation, in which humans and models said something so many times."""
    said = [n for n, message in enumerate(messages) if message.origin in {Origin.HUMAN, Origin.MODEL}]
    return messages[said[-number] if number <= len(said) else 0 :] if number else ()


def _written_at(watched: _Watched) -> float:
    return max((file.mtime_ns for file in watched.item.files), default=0) / 1e9


def _identified(folders: frozenset[str]) -> dict[str, int]:
    """Folders with their inodes: one that was made anew is another one."""
    identities = {}
    for folder in folders:
        try:
            identities[folder] = os.stat(folder).st_ino  # noqa: PTH116
        except OSError:
            # A folder that went away has no identity; if it comes back it is another one.
            continue
    return identities
