"""Tables of a view: columns that leave where there is no room, and words that take the room that is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from geminids.faces.tui.lines import Piece, cut

_MARGIN = "  "
"""What stands before a row."""


class Column(NamedTuple):
    """A column, and what becomes of it on narrow and wide screens."""

    heading: str
    width: int
    """With the blank after it."""
    room_from: int = 0
    """From how many columns of the screen on there is room for it."""
    is_number: bool = False
    grows: bool = False
    """Whether it takes of the room that is left."""
    keeps_end: bool = False
    """Whether it is cut at its beginning: of a path the end says most."""


def heading_row(columns: Sequence[Column], room: int) -> list[Piece]:
    """What stands above the rows."""
    return table_row(columns, [Piece(column.heading, "quiet") for column in columns], room)


def table_row(columns: Sequence[Column], cells: Sequence[Piece], room: int) -> list[Piece]:
    """One row, as wide as the screen: the cells of the columns for which there is room."""
    shown = [column for column in columns if room >= column.room_from]
    spare = max(room - len(_MARGIN) - sum(column.width for column in shown), 0)
    growing = sum(column.grows for column in shown)
    row = [Piece(_MARGIN)]
    for column, (text, style) in zip(columns, cells, strict=True):
        if column in shown:
            width = column.width - 1
            if column.grows:
                more = spare // growing
                width, spare, growing = width + more, spare - more, growing - 1
            row += [_cell(column, Piece(text, style), width), Piece(" ")]
    return row


def _cell(column: Column, piece: Piece, width: int) -> Piece:
    text = cut(piece.text, width, keeps_end=column.keeps_end)
    return Piece(text.rstrip().rjust(width) if column.is_number else text, piece.style)
