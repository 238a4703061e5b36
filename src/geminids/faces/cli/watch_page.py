"""What is written while one watches, drawn as `show` draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from geminids.core.model import Session, SessionSummary, State
from geminids.faces.drawing.page import Page
from geminids.faces.drawing.story import StoryContext, draw_entries
from geminids.query.sessions.ids import short_ids
from geminids.sharing.transcript import words
from geminids.sharing.transcript.entries import Detail, LeftOut, transcript
from geminids.sharing.transcript.labels import MARKS
from geminids.sync.watch import Happened, News, SessionGone, SessionNews

DROPPED = {
    **MARKS,
    State.FAILED: "failed: the agent no longer sees {}",
    State.CANCELLED: "cancelled: the agent no longer sees {}",
    State.SUPERSEDED: "superseded: the agent no longer sees {}",
}
GONE = "gone: {} removed from the file"
BACK = "back: the agent sees {} again"
IMPORTED = "{} copied from another session"


class Drawing(NamedTuple):
    """How news are drawn."""

    page: Page
    detail: Detail
    agent_title: Callable[[str], str]
    show_command: Callable[[str], str]


class LivePage:
    """News of several sessions on one page: whose they are is said where that changes."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._page = drawing.page
        self._shown: str | None = None

    def draw(self, event: SessionNews | SessionGone) -> None:
        """Draw what happened, as far as it belongs to the story."""
        if isinstance(event, SessionGone):
            self._page.line()
            self._page.line((f"✝ {event.session_id}: its file is gone", "warning"))
            self._shown = None
            return
        lines = _lines(event.news)
        session = _as_session(event.session, [news for news in event.news if news.new_parts])
        story = transcript(session, self._drawing.detail)
        # What is left out would be said again with each message.
        entries = [entry for entry in story if not isinstance(entry, LeftOut)]
        if not entries and not lines:
            return
        self._head(event.session)
        for line in lines:
            self._page.line()
            self._page.line((f"⟲ {line}", "warning"))
        drawing = self._drawing
        title = drawing.agent_title(session.agent)
        draw_entries(self._page, entries, StoryContext(session, drawing.detail, title, drawing.show_command))

    def _head(self, session: SessionSummary) -> None:
        """Say whose news follow, if others were told before."""
        if session.id == self._shown:
            return
        if self._shown is not None:
            self._page.line()
        self._shown = session.id
        mark = words.KIND_MARKS.get(session.kind, "─")
        name = short_ids([session.native_id])[session.native_id]
        title = f"  {session.title}" if session.title else ""
        self._page.line((f"{mark} {name}  ", "title"), (session.project.name, "human"), (title, "quiet"))


def _lines(news: Sequence[News]) -> list[str]:
    """What happened to messages that were told before, and what was only taken over."""
    happened: Counter[str] = Counter()
    for one in news:
        if one.same_as:
            # It stands where it was told first.
            continue
        if one.is_back:
            happened[BACK] += 1
        elif one.happened is Happened.DROPPED:
            happened[DROPPED[one.message.state] if one.message else GONE] += 1
        elif one.happened is Happened.ADDED and one.message and one.message.imported:
            happened[IMPORTED] += 1
    return [line.format(words.count(number, "message")) for line, number in happened.items()]


def _as_session(summary: SessionSummary, news: Iterable[News]) -> Session:
    """A session of nothing but what is new; what it took over from another one was told there."""
    messages = tuple(
        msgspec.structs.replace(one.message, parts=one.new_parts)
        for one in news
        if one.message and not (one.message.imported and one.happened is Happened.ADDED)
    )
    return Session(**msgspec.structs.asdict(summary), messages=messages)
