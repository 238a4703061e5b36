"""The beginning of a session, or the message that was found in it, beside the list."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment

from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.tui.browser.view import Row
from geminids.faces.tui.lines import Piece, fitted
from geminids.faces.tui.matches import Line
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.model import Session
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library

LINES = 120
"""Lines that are laid out at most; who wants more opens the session."""
_MESSAGES = 40
"""Messages of which as many lines are made, at most."""
_REMEMBERED = 40


class Wanted(NamedTuple):
    """What is to be seen of a session."""

    key: str
    at: datetime | None
    """When it was last written to: then it is laid out anew."""
    message: int
    """The number of the message with which it begins."""
    words: str
    """What is highlighted."""
    width: int


class Preview:
    """What is seen of the chosen session; what was laid out before is remembered."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._known: OrderedDict[Wanted, Sequence[Sequence[Segment]]] = OrderedDict()
        self._asked: Wanted | None = None
        self.top = 0
        """The first line that is seen."""

    def rows(
        self, line: Line | None, typed: str, columns: int, height: int, hindrance: str = ""
    ) -> list[Row]:
        """What is to be seen of a session, in so many columns and lines; why it cannot be resumed."""
        if line is None or height < 1:
            return []
        wanted = Wanted(line.key, line.session.last_at, line.message or 1, typed, columns)
        body = self._known.get(wanted)
        if self._asked != wanted:
            self.top = 0
            self._asked = wanted
            if body is None:
                self._stage.ask(
                    "preview",
                    lambda library: laid_out(library, wanted),
                    lambda found: self._take(wanted, found),
                    self._failed,
                )
        self.top = max(0, min(self.top, len(body or ()) - 1))
        rows: list[Row] = [*_heading(line, columns, self._stage.now, hindrance), *(body or ())[self.top :]]
        return rows[:height]

    def _take(self, wanted: Wanted, found: Sequence[Sequence[Segment]]) -> None:
        self._known[wanted] = found
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _failed(self, error: Exception) -> None:
        if self._asked:
            self._take(self._asked, _lines_of(str(error), self._asked.width))


def laid_out(library: Library, wanted: Wanted) -> Sequence[Sequence[Segment]]:
    """The lines of what is to be seen: read and made in the thread that asks."""
    from geminids.faces.drawing.story import StoryContext, draw_entries
    from geminids.sharing.transcript.entries import LEVELS, transcript

    session, number = _read(library, wanted)
    page = LaidOutPage(wanted.width)
    detail = LEVELS["conversation"]
    title = library.agent_title(session.agent)
    found = library.places_of(wanted.words) if wanted.words else None
    context = StoryContext(session, detail, title, str, first=number, found=found)
    for entry in transcript(session, detail):
        draw_entries(page, [entry], context)
        if len(page.lines) >= LINES:
            break
    return [line for line in page.lines if line or page.lines[0] is not line][:LINES]


def _read(library: Library, wanted: Wanted) -> tuple[Session, int]:
    """Some messages of a session, and the number of the first."""
    import msgspec

    if wanted.message <= _MESSAGES:
        beginning = library.beginning(wanted.key, wanted.message + _MESSAGES)
        session = beginning.session if beginning else library.session(wanted.key)
    else:
        session = library.session(wanted.key)
    first = min(wanted.message, max(len(session.messages), 1))
    some = session.messages[first - 1 : first - 1 + _MESSAGES]
    return msgspec.structs.replace(session, messages=some), first


def _heading(line: Line, columns: int, now: datetime, hindrance: str) -> list[Row]:
    session = line.session
    place = words.path(session.project.path) if session.project.path else session.project.name
    facts = (
        session.agent,
        place,
        words.count(session.counts.prompts, "prompt"),
        words.when(session.last_at, now),
        f"match in #{line.message}" if line.message else "",
        "deleted, read from a copy" if session.kept else "",
    )
    told = " · ".join(filter(None, facts))
    warning = Piece(f" {hindrance} · ", "bad") if hindrance else Piece("")
    return [fitted([warning, Piece(told, "quiet")], columns)]


def _lines_of(text: str, width: int) -> Sequence[Sequence[Segment]]:
    page = LaidOutPage(width)
    page.words(text, "warning")
    return page.lines
