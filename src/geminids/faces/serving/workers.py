"""Threads that work out answers, as many as there are libraries for them; others wait without one.

They end with the process, whatever they are in the middle of: nobody waits for a large file to be read to its
end when the server is told to end. That is why they are our own; those of a pool are waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

Worth = TypeVar("Worth")


class _Work(NamedTuple):
    """Something to be done, and who waits for it where."""

    do: Callable[[], Any]
    done: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Workers:
    """Some threads, started when there is something to do."""

    def __init__(self, number: int) -> None:
        self._waiting: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._work, name=f"geminids-answers-{place}", daemon=True)
            for place in range(number)
        ]
        self._are_started = False

    async def run(self, do: Callable[[], Worth]) -> Worth:
        """What comes of it. Raises what it raises."""
        if not self._are_started:
            self._are_started = True
            for thread in self._threads:
                thread.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Worth] = loop.create_future()
        self._waiting.put(_Work(do, done, loop))
        return await done

    def end(self) -> None:
        """Let the threads go, each when it has done what it is doing."""
        for _ in self._threads:
            self._waiting.put(None)

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            if work.done.cancelled():
                continue
            try:
                tell = _telling(work.done, work.do())
            except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
                tell = _refusing(work.done, error)
            # The server may have ended a moment ago.
            with suppress(RuntimeError):
                work.loop.call_soon_threadsafe(tell)


def _telling(done: asyncio.Future[Any], worth: object) -> Callable[[], None]:
    def tell() -> None:
        if not done.done():
            done.set_result(worth)

    return tell


def _refusing(done: asyncio.Future[Any], error: BaseException) -> Callable[[], None]:
    def tell() -> None:
        if not done.done():
            done.set_exception(error)

    return tell
