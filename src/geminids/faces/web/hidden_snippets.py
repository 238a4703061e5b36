"""Snippets of a search where secrets are hidden.

Half of a secret cannot be recognised, and what is one in one message is hidden in all others. So a snippet is
cut from the session after everything in it is hidden, never from what the search itself has cut.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from geminids.core.errors import GeminidsError
from geminids.faces.documents.sessions import SessionLine
from geminids.faces.web.endpoints import Desk
from geminids.query.search.found import Hit, SessionHits
from geminids.query.search.in_session import SnippetCutter
from geminids.storage.text.values import Snippet

BUDGET = 2.0
"""Seconds for the snippets of a page; what is left then is told without."""


def hidden_snippets(
    desk: Desk, lines: Sequence[SessionLine], found: Sequence[SessionHits], width: int
) -> dict[tuple[str, int], Snippet]:
    """The snippets of hits without secrets, by the session and the place of the message in it."""
    end = time.monotonic() + BUDGET
    snippets: dict[tuple[str, int], Snippet] = {}
    with SnippetCutter(BUDGET) as cutter:
        for line, hits in zip(lines, found, strict=True):
            if time.monotonic() > end:
                break
            cuts = _of_session(desk, line.id, hits.hits, width, cutter)
            snippets |= {(line.id, place): one for place, one in cuts}
    return snippets


def _of_session(
    desk: Desk, name: str, hits: Iterable[Hit], width: int, cutter: SnippetCutter
) -> Iterator[tuple[int, Snippet]]:
    try:
        messages = desk.session(name).session.messages
    except GeminidsError:
        # It is gone, or what is in it cannot be hidden: then nothing of it is told.
        return
    for hit in hits:
        place = hit.message.place
        if not hit.snippet or not hit.snippet.spans or place >= len(messages):
            continue
        if cut := cutter.cut(messages[place], hit.snippet, width):
            yield place, cut
