"""What agents write, sent to every browser as it happens: one watch for all of them.

A thread follows the library. What it hears brings the index up to date and goes to all who listen, as
server-sent events with numbers; the last of them are remembered, so that a browser that was away for a moment
gets what it missed. Whoever missed more is told to begin anew.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.errors import GeminidsError
from geminids.faces.documents.live import LiveEvent
from geminids.faces.serving.errors import EndingError
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.outgoing import JsonWriter, harmless
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.sync.watch import AnyEvent, SessionNews

REMEMBERED = 500
"""Events that are remembered for those who come back."""
MOST_WAITING = 500
"""Events that may wait for one browser; one that takes none is let go, and comes back."""
HEARTBEAT = 15.0
"""Seconds after which a silent line is shown to be alive."""
LOOK = 0.5
"""Seconds between two looks at whether something is to be synced."""
BETWEEN_SYNCS = 1.0
BETWEEN_LOOKS_FOR_ANY = 2.0
BETWEEN_LOOKS = 60.0
"""The same where nothing was heard: files that somebody copies here, or a new agent, nobody writes."""
HEAD_START = 0.7
"""Seconds that the first questions have for themselves."""
PATIENCE = 5.0
"""Seconds after which one looks again where watching failed."""
LAST_PATIENCE = 1.0
"""Seconds that the thread has to end; what it is in the middle of then, the next start does again."""
_LAST_ID = re.compile(r"(?P<run>[0-9a-f]{8})-(?P<number>[0-9]{1,15})")


_BEGIN_ANEW = ("reset", harmless(LiveEvent(event="reset")))


class Listener:
    """One browser that listens."""

    def __init__(self, *, is_redacted: bool = False) -> None:
        self.is_redacted = is_redacted
        self.waiting: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)

    def tell(self, line: bytes) -> bool:
        """Hand something over. One who takes nothing any more is let go: then it is False."""
        try:
            self.waiting.put_nowait(line)
        except asyncio.QueueFull:
            self.let_go()
            return False
        return True

    def let_go(self) -> None:
        """End it: whatever still waits is asked for again when the browser comes back."""
        while not self.waiting.empty():
            self.waiting.get_nowait()
        self.waiting.put_nowait(None)


class _Sent(NamedTuple):
    """An event with its number, as those hear it who see all, and those for whom secrets are hidden."""

    number: int
    line: bytes
    hidden: bytes | None
    """None if there was nobody yet for whom they are."""


class Live:
    """The follower of the library, and all who listen to it."""

    def __init__(self, libraries: Libraries, writer: JsonWriter, *, redacts: bool = False) -> None:
        self._libraries = libraries
        self._writer = writer
        self._hides = redacts
        """Whether there was ever somebody for whom secrets are hidden."""
        self._hiding: Library | None = None
        self._run = secrets.token_hex(4)
        self._number = 0
        self._sent: deque[_Sent] = deque(maxlen=REMEMBERED)
        self._listeners: set[Listener] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = Event()
        self._thread = Thread(target=self._follow, name="geminids-live", daemon=True)

    def start(self) -> None:
        """Begin to follow; called where the browsers are answered."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def end_listening(self) -> None:
        """Let all browsers go and all syncs end, so that the server can."""
        self._libraries.end()
        for listener in self._listeners:
            listener.let_go()

    async def end(self) -> None:
        """Stop following."""
        self._stop.set()
        self.end_listening()
        await asyncio.to_thread(self._thread.join, LAST_PATIENCE)
        if self._hiding is not None:
            self._hiding.close()

    # To browsers

    async def listen(self, last_id: str | None, *, is_redacted: bool = False) -> AsyncIterator[bytes]:
        """The events after the one that a browser heard last, and then all that come."""
        self._hides |= is_redacted
        listener = Listener(is_redacted=is_redacted)
        self._listeners.add(listener)
        try:
            yield b"retry: 1000\n\n"
            for line in self._missed(last_id, is_redacted=is_redacted):
                yield line
            while (following := await self._next(listener)) is not None:
                yield following
        finally:
            self._listeners.discard(listener)

    async def _next(self, listener: Listener) -> bytes | None:
        try:
            return await asyncio.wait_for(listener.waiting.get(), HEARTBEAT)
        except TimeoutError:
            return b": nothing new\n\n"

    def _missed(self, last_id: str | None, *, is_redacted: bool) -> list[bytes]:
        if not last_id:
            return []
        found = _LAST_ID.fullmatch(last_id)
        first = self._sent[0].number if self._sent else self._number + 1
        if not found or found["run"] != self._run or not first - 1 <= int(found["number"]) <= self._number:
            return [self._line(self._number, _BEGIN_ANEW)]
        missed = [one for one in self._sent if one.number > int(found["number"])]
        return [self._for(one, is_redacted=is_redacted) for one in missed]

    def _for(self, sent: _Sent, *, is_redacted: bool) -> bytes:
        if not is_redacted:
            return sent.line
        return sent.hidden or self._line(sent.number, _BEGIN_ANEW)

    def _line(self, number: int, written: tuple[str, bytes]) -> bytes:
        event, words = written
        return b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (self._run.encode(), number, event.encode(), words)

    def _publish(self, plain: tuple[str, bytes], hidden: tuple[str, bytes] | None) -> None:
        """Tell everybody; runs where they are answered."""
        self._number += 1
        number = self._number
        sent = _Sent(number, self._line(number, plain), self._line(number, hidden) if hidden else None)
        self._sent.append(sent)
        self._listeners = {
            one for one in self._listeners if one.tell(self._for(sent, is_redacted=one.is_redacted))
        }

    def _tell(self, event: LiveEvent) -> None:
        """Tell everybody, from any thread."""
        if self._loop is not None:
            plain = event.event, self._writer.encoded(event)
            hidden = self._hidden(event) if self._hides else None
            # The server may have ended a moment ago.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._publish, plain, hidden)

    def _hidden(self, event: LiveEvent) -> tuple[str, bytes]:
        """An event without secrets; where they cannot be hidden, only that something has happened."""
        try:
            if self._hiding is None:
                # Held on to: when a home is gone, which is sent, no other could be opened.
                self._hiding = self._libraries.open_homes()
            return event.event, self._writer.encoded(event, self._hiding)
        except (GeminidsError, OSError):
            return _BEGIN_ANEW

    # In the thread

    def sync(self) -> None:
        """Bring the index up to date, and tell if something came of it."""
        before = self._libraries.generation
        try:
            self._libraries.sync()
        except EndingError:
            return
        except (GeminidsError, OSError) as error:
            self._tell(LiveEvent(event="trouble", detail=safe.text(str(error))))
            return
        if self._libraries.generation != before:
            self._tell(LiveEvent(event="synced"))

    def _follow(self) -> None:
        if self._libraries.syncs:
            if self._are_there_any():
                # The page shows what is there first; it is told when there is more.
                self._stop.wait(HEAD_START)
            self.sync()
        while not self._stop.is_set():
            try:
                self._hear()
            except (GeminidsError, OSError) as error:
                self._tell(LiveEvent(event="trouble", detail=safe.text(str(error))))
                self._stop.wait(PATIENCE)

    def _are_there_any(self) -> bool:
        try:
            return self._libraries.have_sessions()
        except (GeminidsError, OSError):
            # The sync tells why.
            return False

    def _hear(self) -> None:
        from geminids.sync.watch import Pace, Quiet, Watching

        is_behind, synced_at = False, 0.0
        with self._libraries.open_homes() as library:
            for event in library.watch(pace=Pace(heartbeat=LOOK), stop=self._stop):
                # What happened before it watches, a watch does not tell.
                is_behind |= self._libraries.is_lost or isinstance(event, Watching)
                if not isinstance(event, Quiet | Watching):
                    self._tell(self._live_event(event))
                    is_behind = True
                if self._libraries.syncs and time.monotonic() - synced_at >= self._patience(is_behind):
                    self.sync()
                    is_behind, synced_at = False, time.monotonic()

    def _patience(self, is_behind: bool) -> float:
        """Seconds after which the index is brought up to date again."""
        if is_behind:
            return BETWEEN_SYNCS
        return BETWEEN_LOOKS_FOR_ANY if self._libraries.is_empty else BETWEEN_LOOKS

    def _live_event(self, event: AnyEvent) -> LiveEvent:
        from geminids.sync.watch import SessionGone, SessionNews, Trouble

        match event:
            case SessionNews():
                return self._news(event)
            case SessionGone(session_id=session_id):
                return LiveEvent(event="gone", session_id=session_id)
            case Trouble(problem=problem):
                return LiveEvent(event="trouble", detail=safe.text(f"{problem.file}: {problem.detail}"))
            case _:
                return LiveEvent(event="reset")

    def _news(self, event: SessionNews) -> LiveEvent:
        from geminids.sync.watch import Happened

        session, happened = event.session, [one.happened for one in event.news]
        return LiveEvent(
            event="news",
            session_id=session.id,
            parent_id=session.parent_id,
            agent=session.agent,
            added=happened.count(Happened.ADDED),
            changed=happened.count(Happened.CHANGED),
            dropped=happened.count(Happened.DROPPED),
        )
