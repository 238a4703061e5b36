"""Keeping the index in step, in another process: what it takes to read sessions does not stay in this one.

Whether anything is new is seen here, which takes as long as a list does. The process that reads it is a
`geminids sync` that nobody ends: it goes on when the agent has gone. Several servers may start one each; one
of them writes, and the others find nothing left to do.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from geminids.core.errors import GeminidsError
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.workers import Workers
from geminids.library import Library

FRESH = 15.0
"""Seconds for which an index counts as up to date: the session that asks is written to all the time."""
PATIENCE = 1.0
"""Seconds that an answer waits for what is new, where an index is there."""
FIRST_PATIENCE = 15.0
"""Seconds after which one that has begun to be read for the first time answers as far as it is."""
OFTEN = 0.5
"""Seconds between two words on how far a first one is."""

Tell = Callable[[int, int, str], Awaitable[None]]
"""Is told how much is done, of how much, and what."""


class Syncing:
    """What is done before a question is answered."""

    def __init__(self, libraries: Libraries, workers: Workers, options: Sequence[str]) -> None:
        self._libraries = libraries
        self._workers = workers
        self._options = options
        """Say which sessions are meant, on the command line of a sync."""
        self._running: asyncio.Task[None] | None = None
        self._looked_at = self._began_at = -FRESH

    def begin(self) -> None:
        """Look whether anything is new, unless that was done a moment ago or goes on already."""
        is_running = self._running is not None and not self._running.done()
        if not is_running and time.monotonic() - self._looked_at >= FRESH:
            self._running, self._began_at = asyncio.create_task(self._run()), time.monotonic()

    async def in_step(self, tell: Tell) -> None:
        """Wait for what is new, for a while; for a first index longer, but not again with each question."""
        self.begin()
        running = self._running
        if running is None or running.done():
            return
        await asyncio.wait([running], timeout=PATIENCE)
        asked_at = time.monotonic()
        while not running.done():
            read, left = await self._workers.run(self._progress)
            # The newest sessions are read first: as soon as there are any, an answer says what is missing.
            waited = time.monotonic() - (self._began_at if read else asked_at)
            if waited >= FIRST_PATIENCE or (read and not left):
                return
            await tell(read, read + left, "Reading sessions for the first time")
            await asyncio.wait([running], timeout=OFTEN)

    async def _run(self) -> None:
        if not await self._workers.run(self._is_current):
            # No process to be had: what is there is the answer.
            with suppress(OSError):
                await self._sync()
            self._libraries.renew()
        self._looked_at = time.monotonic()

    async def _sync(self) -> None:
        line = [sys.executable, "-P", "-m", "geminids", "sync", *self._options]
        nowhere = subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *line, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        while process.returncode is None:
            # It goes on, and so does this.
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), OFTEN)
            # The newest sessions can be asked for while older ones are still read.
            self._libraries.renew()

    def _is_current(self) -> bool:
        # Whatever is wrong with an index, a sync is what mends it.
        with suppress(GeminidsError, OSError), self._libraries.open() as library:
            return library.is_current()
        return False

    def _progress(self) -> tuple[int, int]:
        """How many sessions can be asked for, and about how many cannot yet."""
        # As long as there is no index, nothing can be asked for.
        with suppress(GeminidsError), self._libraries.open() as library:
            return _sessions(library), library.to_come()
        return 0, 0


def _sessions(library: Library) -> int:
    from geminids.query.sessions.listing import Filter

    return library.listing(Filter(), 1).total
