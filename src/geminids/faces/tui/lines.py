"""Words with styles, cut to the columns of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

from geminids.core.values import NamedTuple
from geminids.faces.drawing.styles import STYLES, escape_codes, without_colour
from geminids.sharing.transcript import safe

COLOURED = {name: escape_codes(style) for name, style in STYLES.items()}
UNCOLOURED = {name: escape_codes(without_colour(name, style)) for name, style in STYLES.items()}

_BRIGHT_OR_UNDERLINED = ("1", "4")


class Piece(NamedTuple):
    """Some words of a line, and the name of their style."""

    text: str
    style: str = ""


def cut(text: str, width: int, *, keeps_end: bool = False) -> str:
    """Harmless words in exactly so many columns; what is longer loses its end, or its beginning."""
    shown = safe.line(text)
    if cell_len(shown) <= width:
        return set_cell_size(shown, width)
    if width < 1:
        return ""
    if not keeps_end:
        kept = set_cell_size(shown, width - 1)
        return set_cell_size(f"{kept.rstrip()}…", width)
    start, used = len(shown), 0
    # One step for each letter that fits: whole lines are pasted into a box.
    while start and (used := used + cell_len(shown[start - 1])) < width:
        start -= 1
    return set_cell_size(f"…{shown[start:]}", width)


def fitted(pieces: Iterable[Piece], width: int) -> list[Piece]:
    """As many of the pieces as there is room for, in exactly so many columns."""
    kept: list[Piece] = []
    left = width
    for piece in pieces:
        shown = safe.line(piece.text)
        size = cell_len(shown)
        if size > left:
            kept.append(Piece(cut(shown, left), piece.style))
            return kept
        kept.append(Piece(shown, piece.style))
        left -= size
    return [*kept, Piece(" " * left)]


def drawn(pieces: Sequence[Piece], styles: dict[str, str], *, is_chosen: bool = False) -> str:
    """A line as it is sent to a terminal."""
    return "".join(_drawn(piece, styles, is_chosen=is_chosen) for piece in pieces)


def _drawn(piece: Piece, styles: dict[str, str], *, is_chosen: bool) -> str:
    code = styles.get(piece.style, "")
    if is_chosen:
        # Colours would be patches of ground in it, and dim letters can hardly be read there.
        code = ";".join([*(one for one in code.split(";") if one in _BRIGHT_OR_UNDERLINED), styles["chosen"]])
    return f"\x1b[{code}m{piece.text}\x1b[0m" if code and piece.text else piece.text
