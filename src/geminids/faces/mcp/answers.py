"""From a call to an answer: arguments are checked, a thread works it out, and what leaves fits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any, NamedTuple, TypeVar

import msgspec

from geminids.core.errors import GeminidsError
from geminids.faces.documents.recalled import Recalled
from geminids.faces.mcp.callers import Call, caller_of
from geminids.faces.mcp.desk import Desk
from geminids.faces.mcp.room import size
from geminids.faces.mcp.tools import Tool, arguments
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.opened_sessions import OpenedSessions
from geminids.faces.serving.outgoing import JsonWriter, harmless
from geminids.faces.serving.redaction import Redaction
from geminids.faces.serving.workers import Workers
from geminids.library import Library
from geminids.sharing.transcript import safe

WORKERS = 3
FRESH = 2.0
"""Seconds for which an index counts as up to date."""
PATIENCE = 1.0
"""Seconds that an answer waits for a sync, where an index is there."""
FIRST_PATIENCE = 20.0
"""Seconds that it waits for a first one."""
OFTEN = 0.5
"""Seconds between two words on how far a first sync is."""
TRIES = 4
"""Hiding secrets changes how long words are: so often an answer is made smaller until it fits."""

Worth = TypeVar("Worth")
Tell = Callable[[int, int, str], Awaitable[None]]
"""Is told how much is done, of how much, and what."""


class Answer(NamedTuple):
    """What a client gets: the same as text and as JSON."""

    text: str
    structured: dict[str, Any]


class Answers:
    """Answers calls of all tools."""

    def __init__(
        self, libraries: Libraries, *, hides: bool, environment: Mapping[str, str], here: str | None
    ) -> None:
        self._libraries = libraries
        self._redaction = Redaction() if hides else None
        self._writer = JsonWriter(self._redaction or Redaction())
        self._opened = OpenedSessions(self._writer)
        self._workers = Workers(WORKERS)
        self._environment = environment
        self._here = here
        self._syncing: asyncio.Task[Any] | None = None
        self._synced_at = 0.0

    async def answer(self, tool: Tool, given: dict[str, Any], call: Call, tell: Tell) -> Answer:
        """What a tool gives. Raises GeminidsError for what a model can understand and mend."""
        asked = arguments(tool, given)
        await self._in_step(tell)
        return await self.asked(lambda desk: self._given(desk, tool, asked), call)

    async def asked(self, give: Callable[[Desk], Worth], call: Call) -> Worth:
        """What comes of a question that a thread works out; if it is cancelled, the thread is told."""
        stop = Event()
        try:
            return await self._workers.run(partial(self._work_out, give, call, stop))
        finally:
            stop.set()

    async def handles(
        self, give: Callable[[Desk], tuple[list[str], int]], call: Call
    ) -> tuple[list[str], int]:
        """Some of what means sessions, as it may leave, and how many there are."""

        def shown(desk: Desk) -> tuple[list[str], int]:
            keys, total = give(desk)
            hidden = self._redaction.value(desk.library, keys) if self._redaction else keys
            marked = (self._writer.mark(desk.library, *pair) for pair in zip(keys, hidden, strict=True))
            return list(marked), total

        return await self.asked(shown, call)

    def end(self) -> None:
        """Answer no more."""
        self._workers.end()
        self._libraries.close()

    # Being up to date

    def begin(self) -> None:
        """Bring the index up to date, unless that was done a moment ago or goes on already."""
        if not self._libraries.syncs or (self._syncing and not self._syncing.done()):
            return
        if time.monotonic() - self._synced_at >= FRESH:
            self._syncing = asyncio.create_task(self._sync())

    async def _sync(self) -> None:
        # What is wrong is said by who asks next.
        with suppress(GeminidsError, OSError):
            await self._workers.run(self._libraries.sync)
        self._synced_at = time.monotonic()

    async def _in_step(self, tell: Tell) -> None:
        """Wait for the index for a while, and say how far it is."""
        self.begin()
        is_first = not self._synced_at
        end = time.monotonic() + (FIRST_PATIENCE if is_first else PATIENCE)
        while self._syncing and not self._syncing.done() and (left := end - time.monotonic()) > 0:
            await asyncio.wait([self._syncing], timeout=min(OFTEN, left))
            if is_first and not self._syncing.done():
                state = await self._workers.run(self._libraries.state)
                await tell(state.read or 0, state.total or 0, "Reading sessions for the first time")

    # In a thread

    def _work_out(self, give: Callable[[Desk], Worth], call: Call, stop: Event) -> Worth:
        caller = caller_of(call, self._environment, self._here)
        with self._libraries.borrow() as library:
            desk = Desk(library, self._opened, self._redaction, caller, stop)
            try:
                return give(desk)
            except GeminidsError as error:
                raise self._without_secrets(error, library) from error

    def _given(self, desk: Desk, tool: Tool, asked: Any) -> Answer:
        meant = self._writer.meant(asked, desk.library, is_redacted=self._redaction is not None)
        most = min(meant.size, desk.caller.most)
        room = most
        for _ in range(TRIES):
            shown = self._shown(desk.library, tool.give(desk, meant, room))
            text = tool.told(shown)
            taken = size(shown, text)
            if taken <= most:
                return Answer(text, msgspec.to_builtins(shown))
            room = room * most // taken - len(shown.note)
        raise TooLittleRoomError(most)

    def _shown(self, library: Library, answer: Recalled) -> Recalled:
        """An answer as it leaves: without secrets, and with characters that harm nobody."""
        missing = library.to_come()
        if missing:
            note = f"{answer.note} About {missing:,} more sessions are still being read for the first time."
            answer = msgspec.structs.replace(answer, note=note)
        hidden = self._writer.hidden(answer, library) if self._redaction else answer
        return msgspec.json.decode(harmless(hidden), type=type(answer))

    def _without_secrets(self, error: GeminidsError, library: Library) -> GeminidsError:
        """What is wrong, in words that may leave: sessions that may be meant are named by ids alone."""
        sentence = " ".join([str(error), *(f"{one.id}," for one in error.candidates)]).rstrip(",")
        shown = self._redaction.text(library, sentence) if self._redaction else sentence
        return GeminidsError(safe.line(shown))


class TooLittleRoomError(GeminidsError):
    """Not even one item fits."""

    def __init__(self, most: int) -> None:
        super().__init__(f"Nothing fits into {most:,} bytes. Ask for less of it, or give a larger `size`.")
