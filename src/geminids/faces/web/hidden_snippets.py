"""Snippets of a search where secrets are hidden.

Half of a secret cannot be recognised, and what is one in one message is hidden in all others. So a snippet is
cut from the session after everything in it is hidden, never from what the search itself has cut.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence

from geminids.core.errors import GeminidsError
from geminids.core.model import Message
from geminids.faces.web.documents.sessions import SessionLine
from geminids.faces.web.endpoints import Desk
from geminids.faces.web.finding import texts_of
from geminids.query.search.found import Hit, SessionHits
from geminids.storage.text.patterns import Patterns
from geminids.storage.text.words import Snippet

BUDGET = 2.0
"""Seconds for the snippets of a page; what is left then is told without."""
BEFORE = 3
"""What was found stands this part of a snippet after its beginning: a third."""


def hidden_snippets(
    desk: Desk, lines: Sequence[SessionLine], found: Sequence[SessionHits], width: int
) -> dict[tuple[str, int], Snippet]:
    """The snippets of hits without secrets, by the session and the place of the message in it."""
    end = time.monotonic() + BUDGET
    snippets: dict[tuple[str, int], Snippet] = {}
    with Patterns(BUDGET) as patterns:
        for line, hits in zip(lines, found, strict=True):
            if time.monotonic() > end:
                break
            cuts = _of_session(desk, line.id, hits.hits, width, patterns)
            snippets |= {(line.id, place): one for place, one in cuts}
    return snippets


def _of_session(
    desk: Desk, name: str, hits: Iterable[Hit], width: int, patterns: Patterns
) -> Iterator[tuple[int, Snippet]]:
    try:
        messages = desk.session(name).session.messages
    except GeminidsError:
        # It is gone, or what is in it cannot be hidden: then nothing of it is told.
        return
    for hit in hits:
        place = hit.message.place
        if hit.snippet and hit.snippet.spans and place < len(messages):
            cut = _cut(messages[place], _wanted(hit.snippet), width, patterns)
            if cut:
                yield place, cut


def _wanted(snippet: Snippet) -> str:
    """What was found, wherever lines break in it."""
    matched = {" ".join(snippet.text[start:end].split()) for start, end in snippet.spans}
    longest_first = sorted(filter(None, matched), key=len, reverse=True)
    return "|".join(re.escape(one).replace("\\ ", r"\s+") for one in longest_first)


def _cut(message: Message, wanted: str, width: int, patterns: Patterns) -> Snippet | None:
    """The piece around the first place in a message where it stands; None if all of it is hidden."""
    if not wanted:
        return None
    for words in (words for part in message.parts for words in texts_of(part)):
        if first := patterns.places(words.text, wanted, 1):
            begin = max(0, first[0][0] - width // BEFORE)
            text = words.text[begin : begin + width]
            spans = tuple(patterns.places(text, wanted, width))
            return Snippet(text, spans, begin > 0, begin + width < len(words.text))
    return None
