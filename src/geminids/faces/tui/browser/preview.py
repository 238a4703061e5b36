"""The beginning of a session, or the message that was found in it, beside the list."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from geminids.core.values import NamedTuple
from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.tui.browser.view import Row
from geminids.faces.tui.lines import Piece, cut, fitted
from geminids.faces.tui.matches import Line
from geminids.faces.tui.rows import found_in
from geminids.sharing.transcript import safe, words

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


class Body(NamedTuple):
    """Lines that were laid out."""

    lines: Sequence[Row]
    asked: int
    """How many were wanted: what is laid out takes time, so those that are seen come first."""

    @property
    def is_whole(self) -> bool:
        """Whether there are no more."""
        return len(self.lines) < self.asked or self.asked >= LINES


class Preview:
    """What is seen of the chosen session; what was laid out before is remembered."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._known: OrderedDict[Wanted, Body] = OrderedDict()
        self._asked: Wanted | None = None
        self._lines = 0
        """How many of its lines were asked for."""
        self.top = 0
        """The first line that is seen."""

    def rows(
        self, line: Line | None, typed: str, columns: int, height: int, hindrance: str = ""
    ) -> list[Row]:
        """What is to be seen of a session, in so many columns and lines; why it cannot be resumed."""
        if line is None or height < 1:
            return []
        wanted = Wanted(line.key, line.session.last_at, line.message or 1, typed, columns)
        known = self._known.get(wanted)
        if self._asked != wanted:
            self._asked = wanted
            self.top, self._lines = 0, known.asked if known else 0
        needed = LINES if self.top else min(height, LINES)
        if needed > self._lines and not (known and known.is_whole):
            self._lines = needed
            self._ask(wanted, needed)
        body = known.lines if known else _found_far_down(line, columns)
        self.top = max(0, min(self.top, len(body) - 1))
        rows: list[Row] = [*_heading(line, columns, self._stage.now, hindrance), *body[self.top :]]
        return rows[:height]

    def _ask(self, wanted: Wanted, lines: int) -> None:
        self._stage.ask(
            "preview",
            lambda library: laid_out(library, wanted, lines),
            lambda found: self._take(wanted, Body(found, lines)),
            self._failed,
            is_slow=is_far_down(wanted.message),
        )

    def _take(self, wanted: Wanted, found: Body) -> None:
        self._known[wanted] = found
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _failed(self, error: Exception) -> None:
        if self._asked:
            self._take(self._asked, Body(_lines_of(str(error), self._asked.width), LINES))


class _Glance(LaidOutPage):
    """So many lines: of a long text no more is laid out than they may hold."""

    def __init__(self, width: int, most: int) -> None:
        super().__init__(width)
        self._width, self._most = width, most

    def markdown(self, text: str, indent: int = 0) -> None:
        """Its beginning; marks that are not seen, such as of links, may be as much again."""
        room = max(self._most - len(self.lines), 1)
        super().markdown(text[: 2 * room * self._width], indent)


def laid_out(library: Library, wanted: Wanted, lines: int) -> Sequence[Sequence[Segment]]:
    """So many lines of what is to be seen: read and made in the thread that asks."""
    return _lines_from(library, *_read(library, wanted), wanted, lines)


def laid_out_far_down(library: Library, wanted: Wanted, lines: int) -> Sequence[Sequence[Segment]]:
    """The same of a message for which much would have to be read; nothing where that cannot be avoided."""
    found = library.in_midst(wanted.key, wanted.message, _MESSAGES) if is_far_down(wanted.message) else None
    return _lines_from(library, found.session, wanted.message, wanted, lines) if found else ()


def is_far_down(message: int) -> bool:
    """Whether so much stands before a message that it is read alone."""
    return message > _MESSAGES


def _lines_from(
    library: Library, session: Session, number: int, wanted: Wanted, lines: int
) -> Sequence[Sequence[Segment]]:
    """So many lines of a session that begins with the message of that number."""
    from geminids.faces.drawing.story import StoryContext, draw_entries
    from geminids.sharing.transcript.entries import LEVELS, transcript

    page = _Glance(wanted.width, lines)
    detail = LEVELS["conversation"]
    title = library.agent_title(session.agent)
    found = library.places_of(wanted.words) if wanted.words else None
    context = StoryContext(session, detail, title, str, first=number, found=found)
    for entry in transcript(session, detail):
        draw_entries(page, [entry], context)
        if len(page.lines) > lines:
            break
    return [line for line in page.lines if line or page.lines[0] is not line][:lines]


def _read(library: Library, wanted: Wanted) -> tuple[Session, int]:
    """Some messages of a session, and the number of the first."""
    import msgspec

    far_down = is_far_down(wanted.message)
    if far_down and (found := library.in_midst(wanted.key, wanted.message, _MESSAGES)):
        return found.session, wanted.message
    beginning = library.beginning(wanted.key, wanted.message + _MESSAGES)
    is_there = beginning and len(beginning.session.messages) >= min(wanted.message, beginning.messages)
    session = beginning.session if beginning and is_there else library.session(wanted.key)
    first = min(wanted.message, max(len(session.messages), 1))
    some = session.messages[first - 1 : first - 1 + _MESSAGES]
    return msgspec.structs.replace(session, messages=some), first


def _found_far_down(line: Line, columns: int) -> list[Row]:
    """What was found in a message for which much must be read: that is seen until it is."""
    if not is_far_down(line.message or 0):
        return []
    return [fitted([Piece("  "), *found_in(line, columns - 2)], columns)]


def _heading(line: Line, columns: int, now: datetime, hindrance: str) -> list[Row]:
    session = line.session
    place = words.path(session.project.path) if session.project.path else session.project.name
    match = f"match in #{line.message}" if line.message else ""
    deleted = "deleted, read from a copy" if session.kept else ""
    agent, when = session.agent, words.when(session.last_at, now)
    warning, size = f" {hindrance} · " if hindrance else "", cell_len(safe.line(place))
    # The row of the list has most of these, too, and nothing else has the folder.
    for facts in (
        (agent, match, words.count(session.counts.prompts, "prompt"), when, deleted),
        (agent, match, when, deleted),
        (match, deleted),
    ):
        told = "".join(f"{fact} · " for fact in facts if fact)
        room = columns - cell_len(warning + told)
        if size <= room:
            break
    where = cut(place, min(room, size), keeps_end=True)
    return [fitted([Piece(warning, "bad"), Piece(told, "quiet"), Piece(where, "quiet")], columns)]


def _lines_of(text: str, width: int) -> Sequence[Sequence[Segment]]:
    page = LaidOutPage(width)
    page.words(text, "warning")
    return page.lines
