"""Which lines of a long text are seen: only those are made that are looked at.

The text is made of blocks. A position is a block and a line in it, so that nothing moves when blocks far away
turn out to be longer, or are added.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """A line of a block."""

    block: int
    line: int


class Blocks(Protocol):
    """A text whose lines are made when they are asked for."""

    @property
    def count(self) -> int:
        """How many blocks there are."""

    def height(self, block: int, needed: int | None = None) -> int:
        """How many lines a block has; a number that is larger than `needed` may be too small."""


class Window:
    """The lines that are seen, from the first on."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.top = Place(0, 0)
        self.rows = 1

    def seen(self) -> list[Place]:
        """The lines that are seen."""
        seen: list[Place] = []
        block, line = self.top
        while len(seen) < self.rows and block < self._blocks.count:
            left = self.rows - len(seen)
            height = self._blocks.height(block, line + left)
            seen += [Place(block, at) for at in range(line, min(height, line + left))]
            block, line = block + 1, 0
        return seen

    @property
    def is_at_end(self) -> bool:
        """Whether nothing comes after what is seen."""
        seen = self.seen()
        return not seen or self._after(seen[-1], 1) == seen[-1]

    def move(self, by: int) -> bool:
        """Go on by so many lines, or back; whether that was possible."""
        before = self.top
        self.go(self._after(before, by))
        return self.top != before

    def go(self, top: Place) -> None:
        """See the text from there on, without room behind its end."""
        block = max(min(top.block, self._blocks.count - 1), 0)
        height = self._blocks.height(block, top.line + 1)
        self.top = Place(block, max(min(top.line, height - 1), 0))
        if missing := self.rows - len(self.seen()):
            self.top = self._after(self.top, -missing)

    def to_end(self) -> None:
        """See the last lines."""
        last = self._blocks.count - 1
        self.go(Place(last, self._blocks.height(last)))

    def show(self, place: Place, *, above: int = 0) -> None:
        """See a line; where it is not seen yet, with so many lines above it."""
        if place not in self.seen():
            self.go(self._after(place, -above))

    def show_block(self, block: int) -> None:
        """See a block from its beginning, and as much of it as there is room for."""
        places = {place.line for place in self.seen() if place.block == block}
        height = self._blocks.height(block, self.rows)
        if 0 not in places or (height > len(places) and height >= self.rows):
            self.go(Place(block, 0))
        elif height > len(places):
            self.move(height - len(places))

    def row_of(self, block: int) -> int | None:
        """In which row a block begins: less than 0 above what is seen; None if nothing of it is seen."""
        seen = self.seen()
        first = next((row for row, place in enumerate(seen) if place.block == block), None)
        return None if first is None else first - seen[first].line

    def put(self, block: int, row: int) -> None:
        """See a block with its first line in this row."""
        self.go(self._after(Place(block, 0), -row))

    def _after(self, place: Place, by: int) -> Place:
        """The line so many lines further on, or the last or first one."""
        block, line = place.block, place.line + by
        while line < 0 and block > 0:
            block -= 1
            line += self._blocks.height(block)
        while line >= (height := self._blocks.height(block, line + 1)):
            if block >= self._blocks.count - 1:
                return self._last_from(block)
            block, line = block + 1, line - height
        return Place(block, max(line, 0))

    def _last_from(self, block: int) -> Place:
        """The last line of a block, or of one before it that has any."""
        while block > 0 and not self._blocks.height(block):
            block -= 1
        return Place(block, max(self._blocks.height(block) - 1, 0))
