"""Tables of numbers that fit: into any terminal without cutting a number, into a pipe without cutting at all.

Where room is short, numbers become short, then columns leave in their order, and only words are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from geminids.core.values import NamedTuple
from geminids.faces.drawing.amounts import exact, short
from geminids.faces.drawing.page import PlainPage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page, Span

GAP = 2
_OURS = frozenset("≥–…·~≡─▏▎▍▌▋▊▉█▁▂▃▄▅▆▇░▒▓")
"""Characters that we draw with, all of them one column wide."""


class Cell(NamedTuple):
    """What stands in one place of a table."""

    exact: str
    short: str | int | None = None
    """Where there is little room: other words, or a number to be shortened."""
    style: str = ""


EMPTY = Cell("")


def number(value: int | None) -> Cell:
    """A number, short where there is no room for its digits."""
    return Cell(exact(value), value, "quiet" if value is None else "")


class Field(NamedTuple):
    """A column, and what becomes of it where there is little room."""

    heading: str
    is_number: bool = True
    least: int | None = None
    """The width down to which words may be cut; None means that it is never cut."""
    wishes: int | None = None
    """The width that its words should have before numbers may be long."""
    leaves: int | None = None
    """Its place in the order in which columns are left out; None means that it stays."""
    is_extra: bool = False
    """Whether it leaves before numbers become short."""
    is_free: bool = False
    """Whether it holds words of people, which stand last where nothing is cut."""


class Row(NamedTuple):
    """One line of a table."""

    cells: Sequence[Cell]
    style: str = ""
    words: str = ""
    """In place of cells: what stands above the rows that follow, over the whole width."""


RULE = Row(())
"""A line across the table; none in a pipe."""


class Fitted(NamedTuple):
    """A table that was laid out."""

    fields: Sequence[Field]
    rows: Sequence[Row]
    widths: Mapping[int, int]
    """Of the columns that are shown, by their place."""
    is_short: bool
    room: int | None
    """Columns that there are. None if nothing is cut; then the last column may be of any width."""

    @property
    def left_out(self) -> Sequence[Field]:
        """The columns for which there is no room."""
        return [field for place, field in enumerate(self.fields) if place not in self.widths]

    @property
    def width(self) -> int:
        """Of all columns together."""
        return _together(self.widths)


def fit(fields: Sequence[Field], rows: Sequence[Row], width: int | None) -> Fitted:
    """Lay out a table. Without a width nothing is cut, and words that may be long stand last."""
    if width is None:
        return _whole(fields, rows)
    extras = {place for place, field in enumerate(fields) if field.is_extra}
    exact = _natural(fields, rows, is_short=False)
    without = {place: wide for place, wide in exact.items() if place not in extras}
    is_short = _together(_wished(fields, without)) > width
    widths = _natural(fields, rows, is_short=is_short)
    leaving = sorted((p for p in widths if fields[p].leaves is not None), key=lambda p: fields[p].leaves or 0)
    for place in leaving:
        needed = _wished(fields, widths) if fields[place].is_extra else _narrowest(fields, widths)
        if _together(needed) > width:
            del widths[place]
    return Fitted(fields, rows, _widened(fields, widths, width), is_short, width)


def draw(page: Page, table: Fitted, *, is_drawn: bool) -> None:
    """The headings, then a line each row."""
    line = _plain(table) if isinstance(page, PlainPage) else partial(_styled, table)
    page.line(*line(Row([Cell(field.heading) for field in table.fields], "quiet")))
    for row in table.rows:
        if row.cells:
            page.line(*line(row))
        elif row.words:
            for words in folded(row.words, table.room):
                page.line((words, row.style))
        elif is_drawn:
            page.line(("─" * table.width, "quiet"))


def cells(words: str) -> int:
    """The columns of a terminal that words take."""
    if words.isascii() or _OURS.issuperset(words):
        return len(words)
    from rich.cells import cell_len

    return cell_len(words)


def cut(words: str, width: int) -> str:
    """Words that end with … where there is no room for all of them."""
    if cells(words) <= width:
        return words
    from rich.cells import set_cell_size

    return f"{set_cell_size(words, max(width - 1, 0)).rstrip()}…"


def folded(path: str, width: int | None) -> Iterator[str]:
    """A path in lines that end after a `/`; a name that is too long ends after a word, if it can."""
    while width is not None and cells(path) > width:
        end = next(end for end in range(max(width, 1), 0, -1) if end == 1 or cells(path[:end]) <= width)
        after_word = 1 + max(path.rfind(mark, 1, end) for mark in "-_. ")
        end = path.rfind("/", 1, end) + 1 or after_word or end
        yield path[:end]
        path = path[end:]
    yield path


def flow(pieces: Iterable[str], width: int | None, between: str = " · ") -> Iterator[str]:
    """Pieces in lines, as many in each as there is room for."""
    line = ""
    for piece in pieces:
        if not line:
            line = piece
        elif width is None or cells(line) + cells(between) + cells(piece) <= width:
            line += between + piece
        else:
            yield line
            line = piece
    if line:
        yield line


def _whole(fields: Sequence[Field], rows: Sequence[Row]) -> Fitted:
    free = {place: 0 for place, field in enumerate(fields) if field.is_free}
    measured = {place: field for place, field in enumerate(fields) if place not in free}
    widths = {place: _widest(field, rows, place, is_short=False) for place, field in measured.items()}
    return Fitted(fields, rows, widths | free, is_short=False, room=None)


def _natural(fields: Sequence[Field], rows: Sequence[Row], *, is_short: bool) -> dict[int, int]:
    return {place: _widest(field, rows, place, is_short=is_short) for place, field in enumerate(fields)}


def _widest(field: Field, rows: Sequence[Row], place: int, *, is_short: bool) -> int:
    texts = [_text(row.cells[place], is_short=is_short) for row in rows if row.cells]
    # There are thousands in a pipe, and nearly all of them are digits.
    wide = map(len if "".join(texts).isascii() else cells, texts)
    return max(len(field.heading), *wide, 0)


def _narrowest(fields: Sequence[Field], widths: Mapping[int, int]) -> dict[int, int]:
    return {place: min(wide, fields[place].least or wide) for place, wide in widths.items()}


def _wished(fields: Sequence[Field], widths: Mapping[int, int]) -> dict[int, int]:
    return {p: min(wide, fields[p].wishes or fields[p].least or wide) for p, wide in widths.items()}


def _widened(fields: Sequence[Field], widths: Mapping[int, int], width: int) -> dict[int, int]:
    """The room that is left goes to the words, first to those that wish for it."""
    fitting = _narrowest(fields, widths)
    words = [place for place in fitting if fields[place].least]
    for place in sorted(words, key=lambda place: fields[place].wishes is None):
        spare = max(width - _together(fitting), 0)
        fitting[place] += min(widths[place] - fitting[place], spare)
    return fitting


def _together(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + GAP * max(len(widths) - 1, 0)


def _text(cell: Cell, *, is_short: bool) -> str:
    if not is_short or cell.short is None:
        return cell.exact
    return cell.short if isinstance(cell.short, str) else short(cell.short)


def _plain(table: Fitted) -> Callable[[Row], list[str]]:
    """What makes one piece of a row: thousands of them go through a pipe."""
    shown = [(place, table.fields[place], width) for place, width in table.widths.items()]
    # Of most rows every letter is one column wide, and nothing is cut.
    pattern = (" " * GAP).join(
        "{}" if field.is_free else f"{{:{'>' if field.is_number else '<'}{width}}}"
        for _, field, width in shown
    )

    def line(row: Row) -> list[str]:
        texts = [row.cells[place].exact for place, _, _ in shown]
        is_exact = table.room is None and not table.is_short and "".join(texts).isascii()
        return [pattern.format(*texts) if is_exact else (" " * GAP).join(_padded(table, row))]

    return line


def _styled(table: Fitted, row: Row) -> Iterator[Span]:
    for number, (place, words) in enumerate(zip(table.widths, _padded(table, row), strict=True)):
        yield " " * GAP if number else ""
        yield words, row.cells[place].style or row.style


def _padded(table: Fitted, row: Row) -> Iterator[str]:
    """The cells that are shown, as wide as their columns."""
    for place, width in table.widths.items():
        words = _text(row.cells[place], is_short=table.is_short)
        if table.fields[place].is_free and table.room is None:
            yield words
            continue
        words = words if table.room is None else cut(words, width)
        # What is wider than its letters gets fewer blanks.
        room = width - cells(words) + len(words)
        yield words.rjust(room) if table.fields[place].is_number else words.ljust(room)
