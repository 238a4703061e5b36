"""The page of one session: its heading, the outline of its prompts, its story."""

from __future__ import annotations

from collections.abc import Iterator

from geminids.core.model import Session
from geminids.sharing.export.base import Manner, agent_title, title_of
from geminids.sharing.export.html.document import THEME_BUTTON, closing, opening
from geminids.sharing.export.html.heading import about, outline, page_title
from geminids.sharing.export.html.markup import Markup, filled
from geminids.sharing.export.html.pieces import PageFacts
from geminids.sharing.export.html.story import entry_markup, turns_of
from geminids.sharing.export.html.tokens import total
from geminids.sharing.transcript.entries import transcript

_TOP = """<a class="skip" href="#story">To the conversation</a>
<header class="top">
<div class="tools" hidden>
<label class="search"><span>Search</span>
<input type="search" id="search" autocomplete="off" spellcheck="false" placeholder="Search: press /"></label>
<output id="count" for="search"></output>
<button type="button" id="previous" title="Match before (Shift Enter)">↑<span>Match before</span></button>
<button type="button" id="next" title="Next match (Enter)">↓<span>Next match</span></button>
<button type="button" id="open">Open all</button>
<button type="button" id="close">Close all</button>
{}</div></header>
"""
_BOTTOM = """</main>
</div>
<footer><p>Times are UTC. Written by geminids; this page loads nothing from anywhere.</p></footer>
"""


def session_page(session: Session, manner: Manner) -> Iterator[Markup]:
    """The page, entry by entry."""
    entries = list(transcript(session, manner.detail))
    turns = turns_of(entries)
    facts = PageFacts(
        session=session,
        detail=manner.detail,
        agent_title=agent_title(session, manner),
        numbers={id(message): number for number, message in enumerate(session.messages, 1)},
        most_tokens=max((total(turn.message.usage) for turn in turns), default=0),
    )
    title = title_of(session, manner)
    yield opening(page_title(title, session), "session")
    yield filled(_TOP, THEME_BUTTON)
    yield Markup('<div class="frame">\n')
    yield outline(turns, facts)
    yield Markup('<main id="story">\n')
    yield about(facts, title, manner.redacted)
    for entry in entries:
        yield entry_markup(entry, facts)
    yield Markup(_BOTTOM)
    yield closing("session")
