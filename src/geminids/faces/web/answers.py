"""From a request to an answer: parameters are checked, a thread asks, the answer becomes bytes.

Answers that only change with the index are cached for a moment, as bytes. What is asked by twenty at once is
worked out once: all of them wait for it, and take no thread while they do.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geminids.core.errors import GeminidsError
from geminids.faces.serving.libraries import READERS, Libraries
from geminids.faces.serving.opened_sessions import OpenedSessions
from geminids.faces.serving.outgoing import JsonWriter
from geminids.faces.serving.redaction import Redaction
from geminids.faces.serving.workers import Workers
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, parameters
from geminids.faces.web.faults import fault, fault_of, fault_of_system

LONGEST_CACHED = 15.0
"""Seconds after which an answer is worked out again: `7d` means another moment then, and names may be new."""
MOST_CACHED = 64

JSON = "application/json"
_log = logging.getLogger(__name__)

Answering = Callable[[Request], Awaitable[Response]]


class AnswerCache:
    """Answers as bytes, those that were asked for last, and those that are being worked out."""

    def __init__(self) -> None:
        self._cache: OrderedDict[Any, tuple[float, asyncio.Task[bytes]]] = OrderedDict()

    async def get(self, key: object, work_out: Callable[[], Coroutine[Any, Any, bytes]]) -> bytes:
        """An answer that still holds, else one that is worked out. Raises what that raises."""
        at, answer = self._cache.get(key, (0.0, None))
        if answer is None or time.monotonic() - at >= LONGEST_CACHED:
            answer = asyncio.create_task(work_out())
            self._add(key, answer)
        # Whoever goes away must not take it from the others.
        return await asyncio.shield(answer)

    def _add(self, key: object, answer: asyncio.Task[bytes]) -> None:
        self._cache[key] = (time.monotonic(), answer)
        self._cache.move_to_end(key)
        if len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)

        def forget_if_there_is_none(done: asyncio.Task[bytes]) -> None:
            if (done.cancelled() or done.exception()) and self._cache.get(key, (0.0, None))[1] is done:
                del self._cache[key]

        answer.add_done_callback(forget_if_there_is_none)


class Answers:
    """Answers questions of all endpoints."""

    def __init__(self, libraries: Libraries, *, token: str, redacts: bool) -> None:
        self._libraries = libraries
        self._token = token
        self._redacts = redacts
        self._redaction = Redaction()
        self.writer = JsonWriter(self._redaction)
        self._opened = OpenedSessions(self.writer)
        self._cache = AnswerCache()
        self._workers = Workers(READERS)
        self._patterns = asyncio.Semaphore(READERS // 2)
        """Regular expressions may take their seconds; others are answered meanwhile."""
        self._running: set[asyncio.Task[Any]] = set()
        self._has_ended = False

    def to(self, endpoint: Endpoint) -> Answering:
        """What answers the requests of an endpoint."""

        async def answer(request: Request) -> Response:
            is_redacted = self._redacts
            try:
                with self._noted():
                    asked = parameters(endpoint.asked, request.query_params)
                    is_redacted |= asked.redact
                    return await self._answer(endpoint, asked)
            except asyncio.CancelledError:
                if not self._has_ended:
                    raise
                return fault(503, "The server has ended. Start it again to continue.")
            except GeminidsError as error:
                if is_redacted:
                    return await self._workers.run(partial(self._hidden, error))
                return fault_of(error, self.writer.encoded)
            except OSError as error:
                return fault_of_system(error)
            except Exception:  # noqa: BLE001 - a mistake of ours is logged, and answered as all else is
                _log.exception("No answer to %s", endpoint.path)
                return fault(
                    500, "This is a bug in geminids. Please report it with the message on its terminal."
                )

        return answer

    def end(self) -> None:
        """Answer no more; whoever waits is told so at once."""
        self._has_ended = True
        self._workers.end()
        for task in self._running:
            task.cancel()

    @contextmanager
    def _noted(self) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            yield
        finally:
            self._running.discard(task)

    async def prepare(self, endpoint: Endpoint) -> None:
        """Work out an answer that will be asked for, if there is anything to answer yet."""
        # Whoever asks for it hears what is wrong.
        with suppress(GeminidsError, OSError):
            await self._answer(endpoint, endpoint.asked())

    async def _answer(self, endpoint: Endpoint, asked: Asked) -> Response:
        if not endpoint.is_cached:
            answer = await self._in_a_thread(endpoint, asked)
            return answer if isinstance(answer, Response) else Response(answer, media_type=JSON)
        key = (endpoint.path, asked, self._redacts, self._libraries.generation)
        cached = await self._cache.get(key, partial(self._to_be_cached, endpoint, asked))
        return Response(cached, media_type=JSON)

    async def _to_be_cached(self, endpoint: Endpoint, asked: Asked) -> bytes:
        answer = await self._in_a_thread(endpoint, asked)
        assert isinstance(answer, bytes)
        return answer

    async def _in_a_thread(self, endpoint: Endpoint, asked: Asked) -> Response | bytes:
        async with self._patterns if "/" in getattr(asked, "q", "") else nullcontext():
            return await self._workers.run(partial(self._give, endpoint, asked))

    def _hidden(self, error: GeminidsError) -> Response:
        """Why there is no answer, without secrets: sessions that may have been meant have titles."""
        try:
            with self._libraries.open_homes() as library:
                return fault_of(error, partial(self.writer.encoded, library=library))
        except GeminidsError as reason:
            return fault_of(reason)

    def _give(self, endpoint: Endpoint, asked: Asked) -> Response | bytes:
        is_redacted = self._redacts or asked.redact
        with self._libraries.borrow() as library:
            desk = Desk(
                library,
                self._libraries,
                self._opened,
                self._redaction,
                is_redacted,
                self._token,
                self.writer,
            )
            answer = endpoint.give(desk, self.writer.meant(asked, library, is_redacted=is_redacted))
            if isinstance(answer, Response):
                return answer
            hiding = library if is_redacted else None
            return self.writer.encoded(answer, hiding, hides_itself=endpoint.hides_itself)
