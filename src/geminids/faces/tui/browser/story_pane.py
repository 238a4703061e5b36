"""The piece of a session that is seen, and the message in it at which one is.

It knows no terminal and no library: sessions and sizes go in, lines come out. Whatever changes, what is seen
stays where it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment

from geminids.faces.tui.browser.story_lines import StoryLines, can_be_folded
from geminids.faces.tui.browser.styles import style_of
from geminids.faces.tui.browser.told import Story
from geminids.faces.tui.browser.window import Place, Window
from geminids.faces.tui.lines import Piece
from geminids.sharing.transcript.entries import Turn, is_prompt

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.faces.tui.browser.finding import Found, Match
    from geminids.faces.tui.browser.story_lines import Ahead, Line
    from geminids.faces.tui.browser.told import Told
    from geminids.faces.tui.browser.view import Row

GUTTER = 1
"""Columns for the mark of the message that one is at."""
BAR = 1
"""Columns that tell how far one is."""
_AHEAD = 15
"""Blocks that are laid out before they are looked at: about those of a screen."""
_ABOVE = 3
"""Lines above a place that was found, where it was not seen before."""


class _Marked(NamedTuple):
    """Where in the lines of a block the words stand that one is at."""

    match: Match
    lines: Sequence[Line]
    spans: Sequence[tuple[int, int, int]]
    """Lines, and from which letter to which."""


class StoryPane:
    """A session on a screen."""

    def __init__(self, told: Told, columns: int, rows: int) -> None:
        self.text = StoryLines(told, columns - GUTTER - BAR)
        self._window = Window(self.text)
        self._window.rows = rows
        self.cursor: int | None = self.story.next_turn(-1, 1)
        """The entry of the message that one is at; None if none is told."""
        self.found: Found | None = None
        self.match: Match | None = None
        """The place of the words that one is at."""
        self._marked: _Marked | None = None

    # What is there.

    @property
    def told(self) -> Told:
        """The session."""
        return self.text.told

    @property
    def story(self) -> Story:
        """What is told of it."""
        return self.text.told.story

    @property
    def turn(self) -> Turn | None:
        """The message that one is at."""
        return None if self.cursor is None else self.story.turn(self.cursor)

    @property
    def number(self) -> int | None:
        """Its number, from 1."""
        return self.turn.place + 1 if self.turn else None

    @property
    def percent(self) -> int:
        """How much of the session stands before the end of what is seen."""
        if self._window.is_at_end:
            return 100
        seen = self._window.seen()
        return min(100 * (seen[-1].block + 1) // self.text.count, 99)

    # What becomes of it.

    def resize(self, columns: int, rows: int) -> None:
        """Fit onto a screen."""
        width = columns - GUTTER - BAR
        if (width, rows) == (self.text.width, self._window.rows):
            return
        was_at_end = self._window.is_at_end and self._window.top != Place(0, 0)
        self.text.resize(width)
        self._window.rows = rows
        if was_at_end:
            self._window.to_end()
        else:
            self._window.go(self._window.top)
        self._keep_cursor_seen()

    def take(self, told: Told) -> None:
        """Show another state of the session, or more or less of it; who stands at its end stays there."""
        before, anchor = self.told, self._anchor()
        row = self._row_of(anchor)
        follows = told.telling == before.telling and before.is_whole and self._window.is_at_end
        is_last = self.cursor is not None and self.story.next_turn(self.cursor, 1) is None
        at, place = self._place_of(self.cursor), self._place_of(anchor)
        self.text.take(told)
        if told.telling != before.telling:
            self.found = self.match = None
        self.cursor = self._entry_now(before.session, at)
        if follows:
            self._window.to_end()
            self.cursor = self._last_turn() if is_last else self.cursor
        elif (entry := self._entry_now(before.session, place)) is not None and row is not None:
            self._put(entry, row)
        else:
            self._window.go(self._window.top)
        self._keep_cursor_seen()

    def scroll(self, by: int) -> None:
        """Go on by so many lines; at the end to the last message, at the beginning to the first."""
        if self._window.move(by):
            self._keep_cursor_seen()
        elif abs(by) == 1:
            self.step(by)
        else:
            self.cursor = self._last_turn() if by > 0 else self.story.next_turn(-1, 1)

    def page(self, share: float) -> None:
        """Go on by a part of a screen."""
        rows = max(int(self._window.rows * abs(share)), 1)
        self.scroll(rows if share > 0 else -rows)

    def to_start(self) -> None:
        """See the heading."""
        self._window.go(Place(0, 0))
        self.cursor = self.story.next_turn(-1, 1)

    def to_end(self) -> None:
        """See the last lines."""
        self._window.to_end()
        self.cursor = self._last_turn()

    def to_message(self, number: int) -> bool:
        """See a message by its number, or the last one before it that is told; whether it is that one."""
        entry = self.story.entry_of(number - 1)
        if entry is not None:
            self._to_top(entry)
        return self.story.is_told(number - 1)

    def to_share(self, row: int) -> None:
        """See what stands in the session where this row stands on the screen."""
        if row >= self._window.rows - 1:
            self.to_end()
            return
        block = row * (self.text.count - 1) // max(self._window.rows - 1, 1)
        self._window.go(Place(block, 0))
        self._keep_cursor_seen()

    def step(self, by: int) -> None:
        """Go to the next message, or to the one before."""
        entry = self.story.next_turn(-1 if self.cursor is None else self.cursor, by)
        if entry is None:
            self._window.move(by * self._window.rows)
        else:
            self.cursor = entry
            self._window.show_block(entry + 1)

    def step_prompt(self, by: int) -> None:
        """Go to the next prompt, or to the one before."""
        entry = self.cursor
        while entry is not None and (entry := self.story.next_turn(entry, by)) is not None:
            turn = self.story.turn(entry)
            if turn and is_prompt(turn.message):
                self._to_top(entry)
                return

    def fold(self) -> bool:
        """Unfold the calls of this message, or fold them; whether there is anything to fold."""
        turn = self.turn
        if turn is None or self.cursor is None or not any(map(can_be_folded, turn.parts)):
            return False
        row = self._row_of(self.cursor)
        self.text.turn(turn.place)
        self._put(self.cursor, max(row or 0, 0))
        return True

    def fold_all(self) -> None:
        """Unfold all calls, or fold them."""
        anchor = self._anchor()
        row = self._row_of(anchor)
        self.text.turn_all()
        if anchor is not None and row is not None:
            self._put(anchor, row)

    def choose(self, row: int) -> bool:
        """Be at the message in a row; whether one was there already."""
        seen = self._window.seen()
        entry = seen[row].block - 1 if 0 <= row < len(seen) else -1
        if self.story.turn(entry) is None:
            return False
        was, self.cursor = self.cursor, entry
        return was == entry

    def ahead(self) -> Ahead:
        """What is seen next, whichever way one goes."""
        seen = self._window.seen()
        first, last = (seen[0].block, seen[-1].block) if seen else (0, 0)
        return self.text.ahead([*range(last + 1, last + 1 + _AHEAD), *range(first - _AHEAD, first)])

    # What was looked for.

    def show_found(self, found: Found | None) -> None:
        """Mark what was found; one stays at the same place of it."""
        before, self.found = self.match, found
        self.text.highlight(found.places if found else None)
        self.match = found.match_at(before.entry, before.nth) if found and before else None

    def to_next_match(self, by: int) -> None:
        """Go to the next place, or to the one before; from a message without one to the first after it."""
        if self.found is None:
            return
        at = self.cursor or 0
        if self.match is not None and self.match.entry == self.cursor:
            match = self.found.match(self.match.number + by)
        else:
            match = self.found.first_from(at) if by > 0 else self.found.last_before(at)
        if match:
            self._to_match(match)

    def _to_match(self, match: Match) -> None:
        self.match, self.cursor = match, match.entry
        self._unfold_for(match)
        spans = self._spans(match)
        self._window.show(Place(match.entry + 1, spans[0][0] if spans else 0), above=_ABOVE)

    def _unfold_for(self, match: Match) -> None:
        """Unfold the message of a place, if more places are seen in it then."""
        turn = self.story.turn(match.entry)
        before = len(self._all_spans(match.entry))
        if turn is None or before >= match.times:
            return
        self.text.turn(turn.place)
        if len(self._all_spans(match.entry)) <= before:
            self.text.turn(turn.place)

    def _spans(self, match: Match) -> Sequence[tuple[int, int, int]]:
        """Where in the lines of its message a place stands."""
        lines = self.text.lines(match.entry + 1)
        if self._marked is None or self._marked.lines is not lines or self._marked.match != match:
            every = self._all_spans(match.entry)
            # A word of a call may stand in its line and again below it: the first and the last are found.
            most = max(match.times - 1, 1)
            nth = match.nth if len(every) == match.times else round(match.nth * (len(every) - 1) / most)
            self._marked = _Marked(match, lines, every[max(nth, 0)] if every else ())
        return self._marked.spans

    def _all_spans(self, entry: int) -> Sequence[Sequence[tuple[int, int, int]]]:
        """All places in the lines of a message, each with its pieces where a line ends in it."""
        turn = self.story.turn(entry)
        if self.found is None or turn is None:
            return ()
        skipped = 0 if turn.continues else 2
        texts = ["".join(segment.text for segment in line) for line in self.text.lines(entry + 1)[skipped:]]
        begins = [0, *accumulate(len(text) + 1 for text in texts)]
        return [
            [
                (
                    skipped + at,
                    max(start - begins[at], _indent(texts[at])),
                    min(end - begins[at], len(texts[at])),
                )
                for at in range(bisect_right(begins, start) - 1, bisect_left(begins, end))
            ]
            for start, end in self.found.places("\n".join(texts))
        ]

    # What is seen.

    def rows(self) -> list[Row]:
        """All lines, each with its mark and its piece of the bar."""
        seen = self._window.seen()
        bar = self._bar(seen)
        width = self.text.width
        rows: list[Row] = []
        for number in range(self._window.rows):
            place = seen[number] if number < len(seen) else None
            line = self._line(place) if place else ()
            is_marked = place is not None and place.block - 1 == self.cursor and (line or place.line)
            fitting = Segment.adjust_line_length(list(line), width)
            rows.append([Piece("▌", "bar") if is_marked else Piece(" "), *fitting, bar[number]])
        return rows

    def _line(self, place: Place) -> Line:
        line = self.text.lines(place.block, place.line + 1)[place.line]
        if self.match is None or self.match.entry != place.block - 1:
            return line
        for number, start, end in self._spans(self.match):
            if number == place.line:
                line = _reversed(line, start, end)
        return line

    def _bar(self, seen: Sequence[Place]) -> list[Piece]:
        """How far one is, and how much is seen."""
        rows, count = self._window.rows, self.text.count
        if not seen or (seen[0] == Place(0, 0) and self._window.is_at_end):
            return [Piece(" ")] * rows
        size = min(max(rows * (seen[-1].block - seen[0].block + 1) // count, 1), max(rows - 2, 1))
        first = (rows - size) * seen[0].block // max(count - 1, 1)
        if self._window.is_at_end:
            first = rows - size
        return [Piece("┃" if first <= row < first + size else "│", "frame") for row in range(rows)]

    # Where it is.

    def _to_top(self, entry: int) -> None:
        self.cursor = entry
        self._put(entry, 0)

    def _put(self, entry: int, row: int) -> None:
        """See an entry with its first words in this row."""
        self._window.put(entry + 1, row - self._blanks(entry))

    def _row_of(self, entry: int | None) -> int | None:
        """In which row the first words of an entry stand; None if nothing of it is seen."""
        row = None if entry is None else self._window.row_of(entry + 1)
        return row if row is None or entry is None else row + self._blanks(entry)

    def _blanks(self, entry: int) -> int:
        """The empty lines above its words."""
        begins = self.text.lines(entry + 1, 2)
        return 0 if begins and begins[0] else 1

    def _last_turn(self) -> int | None:
        return self.story.next_turn(len(self.story.entries), -1)

    def _anchor(self) -> int | None:
        """A message that is seen: the one that one is at, else the first."""
        blocks = [place.block for place in self._window.seen()]
        if self.cursor is not None and self.cursor + 1 in blocks:
            return self.cursor
        return next((block - 1 for block in blocks if self.story.turn(block - 1)), None)

    def _place_of(self, entry: int | None) -> int | None:
        turn = None if entry is None else self.story.turn(entry)
        return turn.place if turn else None

    def _entry_now(self, before: Session, place: int | None) -> int | None:
        """The entry of the message that stood in this place of an earlier state of the session."""
        if place is None:
            return self.story.next_turn(-1, 1)
        wanted, messages = before.messages[place].id, self.told.session.messages
        if place >= len(messages) or messages[place].id != wanted:
            place = next((at for at, message in enumerate(messages) if message.id == wanted), place)
        return self.story.entry_of(place)

    def _keep_cursor_seen(self) -> None:
        """Be at a message that is seen, if there is one."""
        entries = [place.block - 1 for place in self._window.seen()]
        if self.cursor in entries:
            return
        turns = [entry for entry in entries if self.story.turn(entry)]
        if turns:
            self.cursor = turns[0] if self.cursor is None or self.cursor < turns[0] else turns[-1]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _reversed(line: Line, start: int, end: int) -> list[Segment]:
    """A line in which some letters are those that one is at."""
    pieces, begin = [], 0
    for text, style, _ in line:
        cuts = sorted({0, len(text), *(min(max(at - begin, 0), len(text)) for at in (start, end))})
        for first, last in pairwise(cuts):
            is_inside = start <= begin + first and begin + last <= end
            pieces.append(Segment(text[first:last], style_of("found") if is_inside else style))
        begin += len(text)
    return pieces
