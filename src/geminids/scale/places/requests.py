"""Requests to object storage, made by an event loop in a thread of its own.

The thread that waits for an answer can be interrupted by Ctrl-C and SIGTERM: it waits in Python, and not in
the library that makes the requests.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Coroutine
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import Any, TypeVar

Answer = TypeVar("Answer")
_LAST_WAIT = 1.0
"""Seconds in which requests that are cancelled at the end of the process may end."""


def answer_of(request: Coroutine[Any, Any, Answer]) -> Answer:
    """Return the result of a request, or raise its error; an interrupt cancels the request."""
    doing = asyncio.run_coroutine_threadsafe(request, _loop(os.getpid()))
    try:
        return doing.result()
    finally:
        doing.cancel()


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the event loop of a process: a fork has none of the threads of its parent."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="storage", daemon=True)
    thread.start()

    def end() -> None:
        if os.getpid() != process:
            return
        # A request that does not end in time ends with the loop.
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(_LAST_WAIT)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    atexit.register(end)
    return loop


async def _cancel_all() -> None:
    """Cancel all requests: those that were interrupted may not have heard of it."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
