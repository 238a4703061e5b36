"""The lines of a session: the heading, then the story entry by entry, each laid out when it is looked at.

What was laid out is remembered as long as it is the same; of a very long message only as many lines are made
as are looked at.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from geminids.core.model import AnyPart, FileReference, Text, ToolCall
from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.drawing.story import StoryContext, draw_entries, draw_heading
from geminids.sharing.transcript.entries import StoryEntry

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.segment import Segment

    from geminids.faces.drawing.page import Places
    from geminids.faces.tui.browser.told import Told

    Line = Sequence[Segment]

KEYS = {
    "replies": "v",
    "thoughts": "t",
    "notices": "v",
    "rewound": "x",
    "synthetic": "v",
    "unrecognised": "v",
    "tools": "Enter",
    "problems": "v names them",
}
"""What to press to see what is left out, or only begun."""
_REMEMBERED = 600
"""Blocks whose lines are remembered."""
_MARGIN = 500
"""Lines that are laid out beyond those that are needed, before it is stopped."""


class _FullError(Exception):
    """As many lines are there as are needed."""


class _PartPage(LaidOutPage):
    """A page that stops when it has enough lines, and goes on from the pieces that it made the last time."""

    def __init__(self, width: int, enough: int | None, known: Sequence[Sequence[Line]]) -> None:
        super().__init__(width)
        self._enough = enough
        self._known = known
        self.pieces: list[Sequence[Line]] = []

    def _print(self, renderable: RenderableType, indent: int, width: int) -> None:
        if len(self.pieces) < len(self._known):
            self._put(self._known[len(self.pieces)])
        else:
            super()._print(renderable, indent, width)

    def _put(self, lines: Sequence[Line]) -> None:
        super()._put(lines)
        self.pieces.append(lines)
        if self._enough is not None and len(self.lines) >= self._enough:
            raise _FullError


class _Wanted(NamedTuple):
    """What is drawn in a block; if that is the same, so are its lines."""

    entry: StoryEntry | None
    before: AnyPart | None
    is_turned: bool
    use: str


class _Block(NamedTuple):
    """What was made of it."""

    wanted: _Wanted
    lines: Sequence[Line]
    pieces: Sequence[Sequence[Line]]
    is_whole: bool


class Ahead(NamedTuple):
    """Blocks that will be looked at, maybe."""

    state: object
    """Of the lines: what is made for another one is of no use."""
    wanted: Mapping[int, _Wanted]


class StoryLines:
    """The lines of a session, in blocks: the heading is the first, then each entry is one."""

    def __init__(self, told: Told, width: int) -> None:
        self.told = told
        self.width = width
        self._found: Places | None = None
        self._turned: set[int] = set()
        """The places of messages whose calls are told otherwise than those of the others."""
        self.is_unfolded = False
        """Whether all calls are told otherwise than at the level."""
        self._known: OrderedDict[int, _Block] = OrderedDict()
        self._state = object()

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return 1 + len(self.told.story.entries)

    def height(self, block: int, needed: int | None = None) -> int:
        """How many lines a block has; of a very long one maybe only a few more than are needed."""
        return len(self.lines(block, needed))

    def lines(self, block: int, needed: int | None = None) -> Sequence[Line]:
        """The lines of a block, at least as many as are needed, if it has so many."""
        wanted = self._wanted(block)
        known = self._known.get(block)
        if known is None or known.wanted != wanted:
            known = self._laid_out(wanted, needed, ())
        elif not known.is_whole and (needed is None or len(known.lines) < needed):
            known = self._laid_out(wanted, needed, known.pieces)
        self._remember(block, known)
        return known.lines

    def ahead(self, blocks: Iterable[int]) -> Ahead:
        """Those of some blocks that nobody has laid out yet."""
        unknown = [block for block in blocks if 0 <= block < self.count and block not in self._known]
        return Ahead(self._state, {block: self._wanted(block) for block in unknown})

    def made(self, ahead: Ahead) -> tuple[Ahead, Mapping[int, _Block]]:
        """Lay them out; in any thread."""
        return ahead, {block: self._laid_out(one, 0, ()) for block, one in ahead.wanted.items()}

    def keep(self, made: tuple[Ahead, Mapping[int, _Block]]) -> None:
        """Remember what was made for later."""
        ahead, blocks = made
        if ahead.state is self._state:
            for block, known in blocks.items():
                self._remember(block, known)

    def take(self, told: Told) -> None:
        """Show another state of the session, or the same in another detail."""
        if told.telling != self.told.telling:
            self._turned.clear()
            self.is_unfolded = False
            self._forget()
        self._known.pop(0, None)
        self.told = told

    def resize(self, width: int) -> None:
        """Lay out for another width."""
        if width != self.width:
            self.width = width
            self._forget()

    def highlight(self, places: Places | None) -> None:
        """Mark what stands there."""
        self._found = places
        self._forget()

    def turn(self, place: int) -> None:
        """Unfold the calls of a message, or fold them."""
        self._turned ^= {place}

    def turn_all(self) -> None:
        """Unfold all calls, or fold them."""
        self._turned.clear()
        self.is_unfolded = not self.is_unfolded

    def is_told_whole(self, place: int) -> bool:
        """Whether arguments and outputs of a message are told."""
        return self.told.telling.detail.tools != (self.is_unfolded != (place in self._turned))

    def _forget(self) -> None:
        self._known.clear()
        self._state = object()

    def _remember(self, block: int, known: _Block) -> None:
        self._known[block] = known
        self._known.move_to_end(block)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _wanted(self, block: int) -> _Wanted:
        story = self.told.story
        if block == 0:
            return _Wanted(None, None, False, "")
        entry, turn = story.entries[block - 1], story.turn(block - 1)
        if turn is None:
            return _Wanted(entry, None, False, "")
        before = story.turn(block - 2) if turn.continues else None
        used = None if turn.continues else story.used(turn.place)
        return _Wanted(
            entry,
            before.parts[-1] if before else None,
            self.is_told_whole(turn.place) != self.told.telling.detail.tools,
            used.words if used else "",
        )

    def _laid_out(self, wanted: _Wanted, needed: int | None, known: Sequence[Sequence[Line]]) -> _Block:
        page = _PartPage(self.width, None if needed is None else needed + _MARGIN, known)
        context = self._context(wanted)
        is_whole = True
        try:
            if wanted.entry is None:
                draw_heading(page, context._replace(show_command=str))
            else:
                draw_entries(page, [wanted.entry], context, wanted.before)
        except _FullError:
            is_whole = False
        return _Block(wanted, page.lines, page.pieces, is_whole)

    def _context(self, wanted: _Wanted) -> StoryContext:
        told = self.told
        detail = told.telling.detail
        if wanted.is_turned:
            detail = msgspec.structs.replace(detail, tools=not detail.tools)
        return StoryContext(
            told.session,
            detail,
            told.agent_title,
            lambda _: "s opens it",
            told.marks,
            told.cost,
            told.use,
            first=1,
            found=self._found,
            ask_for=KEYS,
            turn_use=lambda _: wanted.use,
        )


def can_be_folded(part: AnyPart) -> bool:
    """Whether more of a part is told where arguments and outputs are."""
    return isinstance(part, ToolCall | FileReference) or (isinstance(part, Text) and "\n" in part.text)
