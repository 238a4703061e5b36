"""From a call to an answer: arguments are checked, a thread works it out, and what leaves fits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Event
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from geminids.core.errors import GeminidsError
from geminids.faces.documents.recalled import Recalled
from geminids.faces.mcp.callers import Call, caller_of
from geminids.faces.mcp.desk import Desk
from geminids.faces.mcp.resources import completed
from geminids.faces.mcp.room import size
from geminids.faces.mcp.syncing import Syncing, Tell
from geminids.faces.mcp.tools import Tool, arguments
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.opened_sessions import OpenedSessions
from geminids.faces.serving.outgoing import JsonWriter, harmless
from geminids.faces.serving.redaction import Redaction
from geminids.faces.serving.workers import Workers
from geminids.library import Library
from geminids.sharing.transcript import safe

WORKERS = 3
MOST_BYTES = 8_000_000
"""Bytes of the files of sessions that stay in memory; one stays whatever its size."""
TRIES = 4
"""Hiding secrets changes how long words are: so often an answer is made smaller until it fits."""

Worth = TypeVar("Worth")


class Answer(NamedTuple):
    """What a client gets: the same as text and as JSON."""

    text: str
    structured: dict[str, Any]


class Answers:
    """Answers calls of all tools."""

    def __init__(
        self,
        libraries: Libraries,
        *,
        hides: bool,
        options: Sequence[str] | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
        here: str | None = None,
    ) -> None:
        """Answer from libraries; with `options`, a sync with these is started where something is new."""
        self._libraries = libraries
        self._redaction = Redaction() if hides else None
        self._writer = JsonWriter(self._redaction or Redaction())
        self._opened = OpenedSessions(self._writer, MOST_BYTES)
        self._workers = Workers(WORKERS)
        self._environment = environment
        self._here = here
        self._syncing = Syncing(libraries, self._workers, options) if options is not None else None
        self._warming: asyncio.Task[None] | None = None

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

    async def completed(self, beginning: str, call: Call) -> tuple[list[str], int]:
        """What the beginning of an id may mean, as it may leave, and how many that are."""

        def shown(desk: Desk) -> tuple[list[str], int]:
            keys, total = completed(desk, beginning)
            hidden = self._redaction.value(desk.library, keys) if self._redaction else keys
            marked = (self._writer.mark(desk.library, *pair) for pair in zip(keys, hidden, strict=True))
            return list(marked), total

        return await self.asked(shown, call)

    def end(self) -> None:
        """Answer no more."""
        self._workers.end()

    def begin(self) -> None:
        """Prepare for the first question."""
        if self._syncing is not None:
            self._syncing.begin()
        if self._warming is None and self._redaction is not None:
            self._warming = asyncio.create_task(self._workers.run(self._warm))

    async def _in_step(self, tell: Tell) -> None:
        self.begin()
        if self._syncing is not None:
            await self._syncing.in_step(tell)

    # In a thread

    def _warm(self) -> None:
        """Start what hides secrets, which takes longer than an answer."""
        if self._redaction is not None:
            # What is wrong is said by the first answer.
            with suppress(GeminidsError), self._libraries.open() as library:
                self._redaction.text(library, "")

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
        """Return an answer as it leaves: without secrets, with marks for ids that are not plain."""
        missing = library.to_come()
        if missing:
            note = f"{answer.note} About {missing:,} more sessions are still being read for the first time."
            answer = msgspec.structs.replace(answer, note=note)
        shown = self._writer.hidden(answer, library) if self._redaction else self._writer.marked(answer)
        return msgspec.json.decode(harmless(shown), type=type(answer))

    def _without_secrets(self, error: GeminidsError, library: Library) -> GeminidsError:
        """What is wrong, in words that may leave: sessions that may be meant are named by ids alone."""
        sentence = " ".join([str(error), *(f"{one.id}," for one in error.candidates)]).rstrip(",")
        shown = self._redaction.text(library, sentence) if self._redaction else sentence
        return GeminidsError(safe.line(shown))


class TooLittleRoomError(GeminidsError):
    """Not even one item fits."""

    def __init__(self, most: int) -> None:
        super().__init__(f"Nothing fits into {most:,} bytes. Ask for less of it, or give a larger `size`.")
