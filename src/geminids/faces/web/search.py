"""Search: messages with the words around what was found, the best session first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from geminids.faces.documents.base import harmless_all
from geminids.faces.documents.search_page import Search, SearchSession, search_hit, search_page
from geminids.faces.serving.session_lines import session_lines
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, SomeWords, Words
from geminids.faces.web.hidden_snippets import hidden_snippets
from geminids.query.search.found import Found
from geminids.query.search.question import Question

SEARCH_PATIENCE = 5.0
"""Seconds that somebody in front of a page waits; what is left is looked through when he asks for more."""
SearchedPart = Literal["human", "model", "thoughts", "arguments", "paths", "output", "other"]


class AskedForWords(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is looked for, where, and how much of it is shown."""

    q: Words
    """In the language of searches."""
    place: Annotated[tuple[SearchedPart, ...], msgspec.Meta(max_length=7)] = ()
    """In which parts of messages; none means in all."""
    project: Words | None = None
    agent: SomeWords = ()
    since: Words | None = None
    until: Words | None = None
    order: Literal["best", "newest"] = "best"
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    """Sessions on a page."""
    per_session: Annotated[int, msgspec.Meta(ge=1, le=50)] = 3
    width: Annotated[int, msgspec.Meta(ge=40, le=1000)] = 200
    """Characters of a snippet."""
    after: Words | None = None
    """Where the page before ended."""


def search(desk: Desk, asked: AskedForWords) -> Search:
    """Messages that hold what is looked for."""
    found = desk.library.search(_question(asked), desk.now)
    sessions = session_lines(desk.library, [hits.session for hits in found.sessions])
    snippets = hidden_snippets(desk, sessions, found.sessions, asked.width) if desk.is_redacted else None
    shown = [
        SearchSession(
            session=line,
            matches=hits.matches,
            hits=[
                search_hit(
                    hit, hit.snippet if snippets is None else snippets.get((line.id, hit.message.place))
                )
                for hit in hits.hits
            ],
        )
        for line, hits in zip(sessions, found.sessions, strict=True)
    ]
    return search_page(found, shown, near_words(desk, found))


ENDPOINTS = (Endpoint("/api/search", AskedForWords, Search, search, is_cached=True),)


def near_words(desk: Desk, found: Found) -> dict[str, Sequence[str]]:
    """Words like those that stand nowhere; none where secrets are hidden: a word may be a piece of one."""
    return {word: [] if desk.is_redacted else harmless_all(near) for word, near in found.near.items()}


def _question(asked: AskedForWords) -> Question:
    return Question(
        asked.q,
        places=asked.place,
        project=asked.project or None,
        since=asked.since or None,
        until=asked.until or None,
        limit=asked.limit,
        per_session=asked.per_session,
        width=asked.width,
        patience=SEARCH_PATIENCE,
        after=asked.after or None,
        order=asked.order,
        agents=asked.agent,
    )
