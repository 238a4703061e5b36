"""Finding words inside one session: every place where they stand, window by window.

Which texts hold them is noted until others are looked for, so that going from place to place reads only the
texts of the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Annotated
from weakref import WeakKeyDictionary

import msgspec

from geminids.faces.documents.search_page import FoundInSession, found_place
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint, Index, Number
from geminids.faces.web.transcript import Level
from geminids.query.search.in_session import Holding, first_from, places_in, texts_holding


class AskedToFind(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is looked for in a session, and which of the places are told."""

    words: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    """As they stand there, in any case."""
    detail: Level = "everything"
    start: Index = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=500)] = 200
    at: Number | None = None
    """The number of a message: the first place in it or after it; then `start` does not count."""


def find(desk: Desk, asked: AskedToFind) -> FoundInSession:
    """The places in a session where some words stand."""
    opened = desk.session(asked.id)
    holding = _lately.holding(opened, asked.words)
    total = sum(one.times for one in holding)
    start = asked.start if asked.at is None else first_from(holding, asked.at)
    places = places_in(opened.session.messages, asked.words, holding, start, asked.count)
    entries = opened.places(asked.detail)
    return FoundInSession(
        total=total,
        messages=len({one.number for one in holding}),
        start=start,
        places=[found_place(found, entries.get(found.holding.number)) for found in places],
    )


ENDPOINTS = (Endpoint("/api/session/find", AskedToFind, FoundInSession, find, hides_itself=True),)


class _Lately:
    """What was looked for last in each session that is still at hand."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[OpenedSession, tuple[str, Sequence[Holding]]] = WeakKeyDictionary()
        self._lock = Lock()

    def holding(self, opened: OpenedSession, words: str) -> Sequence[Holding]:
        """The texts of a session that hold some words."""
        with self._lock:
            asked, holding = self._known.get(opened, ("", ()))
        if asked != words:
            holding = list(texts_holding(opened.session.messages, words))
            with self._lock:
                self._known[opened] = words, holding
        return holding


_lately = _Lately()
