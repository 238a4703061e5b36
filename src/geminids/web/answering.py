"""From a request to an answer: parameters are checked, a thread asks, the answer becomes bytes.

Answers that only change with the index are kept for a moment, as bytes: a page that is opened twice, or by
twenty at once, is worked out once.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import Response

from geminids.errors import GeminidsError
from geminids.library import encode
from geminids.web.documents.base import Document
from geminids.web.endpoints import Asked, Desk, Endpoint, parameters
from geminids.web.faults import fault, fault_of, fault_of_system
from geminids.web.libraries import READERS, Libraries
from geminids.web.opened import OpenedSessions
from geminids.web.redaction import Redaction

LONGEST_KEPT = 15.0
"""Seconds after which an answer is worked out again: `7d` means another moment then, and names may be new."""
MOST_KEPT = 64

JSON = "application/json"
_log = logging.getLogger(__name__)

Answering = Callable[[Request], Awaitable[Response]]


class KeptAnswers:
    """Answers as bytes, the ones that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, tuple[float, bytes]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object) -> bytes | None:
        """An answer that still holds."""
        with self._lock:
            at, answer = self._kept.get(key, (0.0, None))
            return answer if time.monotonic() - at < LONGEST_KEPT else None

    def keep(self, key: object, answer: bytes) -> None:
        """Note an answer."""
        with self._lock:
            self._kept[key] = (time.monotonic(), answer)
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


class Answers:
    """Answers questions of all endpoints."""

    def __init__(self, libraries: Libraries, *, token: str, redacts: bool) -> None:
        self._libraries = libraries
        self._token = token
        self._redacts = redacts
        self._opened = OpenedSessions()
        self._redaction = Redaction()
        self._kept = KeptAnswers()
        self._limiter: CapacityLimiter | None = None

    def to(self, endpoint: Endpoint) -> Answering:
        """What answers the requests of an endpoint."""

        async def answer(request: Request) -> Response:
            try:
                asked = parameters(endpoint.asked, request.query_params)
                return await anyio.to_thread.run_sync(self._answer, endpoint, asked, limiter=self._threads())
            except GeminidsError as error:
                return fault_of(error)
            except OSError as error:
                return fault_of_system(error)
            except Exception:  # noqa: BLE001 - a mistake of ours is logged, and told as all else is
                _log.exception("No answer to %s", endpoint.path)
                return fault(500, "A mistake of geminids: what it says on its terminal belongs in a report.")

        return answer

    def _threads(self) -> CapacityLimiter:
        """As many threads as there are libraries; others wait without one."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(READERS)
        return self._limiter

    def _answer(self, endpoint: Endpoint, asked: Asked) -> Response:
        is_redacted = self._redacts or asked.redact
        key = (endpoint.path, asked, is_redacted, self._libraries.generation)
        if endpoint.is_kept and (kept := self._kept.get(key)):
            return Response(kept, media_type=JSON)
        with self._libraries.borrow() as library:
            desk = Desk(library, self._libraries, self._opened, self._redaction, is_redacted, self._token)
            answer = endpoint.give(desk, asked)
            if isinstance(answer, Document) and is_redacted and not endpoint.hides_itself:
                answer = self._redaction.value(library, answer)
        if isinstance(answer, Response):
            return answer
        written = encode(answer)
        if endpoint.is_kept:
            self._kept.keep(key, written)
        return Response(written, media_type=JSON)
