"""What is seen on the whole screen, and what stands in front of it. Neither knows a terminal or textual.

A view says what its lines are and what a key means; the stage shows the one on top. A dialog is a box in the
middle of a view that wants an answer first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from rich.cells import cell_len
from rich.segment import Segment

from geminids.core.values import NamedTuple
from geminids.faces.tui.keys import Key
from geminids.faces.tui.lines import Piece, fitted

if TYPE_CHECKING:
    from geminids.faces.tui.browser.questions import Failed
    from geminids.library import Library

Row = Sequence[Piece | Segment]
"""A line: words with styles, or cells as they were laid out."""
Value = TypeVar("Value")


class Seen(NamedTuple):
    """What is drawn of a view."""

    rows: Sequence[Row]
    chosen: range = range(0)
    """The lines that are chosen; all of each, up to `chosen_until`."""
    chosen_until: int | None = None
    """The column before which a chosen line ends; None: at the edge."""


class Help(NamedTuple):
    """A key, and what it does."""

    key: str
    does: str


class Stage(Protocol):
    """Where views are shown, and what they ask for."""

    @property
    def now(self) -> datetime:
        """The time."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""

    @property
    def pressed(self) -> int:
        """How many keys were pressed so far: who waits for an answer may have gone on to something else."""

    def open(self, view: View) -> None:
        """Show another view in front of this one."""

    def close(self) -> None:
        """Go back to the view before this one."""

    def ask(
        self,
        lane: str,
        question: Callable[[Library], Value],
        then: Callable[[Value], None],
        failed: Failed | None = None,
        *,
        is_slow: bool = False,
        is_write: bool = False,
    ) -> None:
        """Ask the library; the answer comes later, and a newer question in the same lane takes its place.

        What `is_write` is done even if the browser is closed before.
        """

    def changed(self, told: View | None = None) -> None:
        """Something was written that may be seen: have all views ask again but the one that told it."""

    def back_to(self, view: View) -> None:
        """Go back to a view that was opened before."""

    def spelled(self, *words: str) -> str:
        """A command of `geminids` to type that looks where the browser does."""

    def renew(self) -> None:
        """What is asked from now on is asked of the index as it is by then."""

    def wake(self) -> None:
        """Have what is new looked at; from any thread."""

    def fail(self, error: Exception) -> None:
        """End the browser with an error."""

    def show(self, dialog: Dialog | None) -> None:
        """Put a dialog in front of the view, or take it away."""

    def say(self, sentence: str, style: str = "good") -> None:
        """Tell something in the last line, until a key is pressed; nothing takes it away."""

    def leave(self, result: object = None) -> None:
        """End the browser."""

    def copy(self, text: str) -> None:
        """Put words where other programs can paste them from."""


class View:
    """A whole screen."""

    keys: Sequence[Help] = ()
    """What `?` tells of it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def seen(self, columns: int, height: int) -> Seen:
        """What is to be seen on so many columns and lines, the footer included."""
        raise NotImplementedError

    def press(self, key: Key) -> None:
        """Do what a key says."""

    def click(self, column: int, line: int) -> None:
        """Do what a click there says."""

    def wheel(self, column: int, line: int, by: int) -> None:
        """Go on by so many lines."""

    def look(self) -> None:
        """Take in what is new: called before anything is drawn, whether this is on top or below."""

    def changed(self) -> None:
        """Ask again: something was written that may be seen here."""

    def closed(self) -> None:
        """Let go of what was begun for it."""


class Dialog:
    """A box in the middle of a view."""

    title = ""
    width = 60
    """How wide it likes to be."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """What stands in it, in so many columns; no more lines than there is room for."""
        raise NotImplementedError

    def press(self, key: Key) -> None:
        """Do what a key says."""

    def click(self, column: int, line: int) -> None:
        """Do what a click there, within it, says."""

    @property
    def chosen(self) -> int | None:
        """Which of its rows is chosen; None if none is."""
        return None


def footer(keys: Sequence[Help], columns: int) -> list[Piece]:
    """The keys for which there is room."""
    told: list[Piece] = []
    used = 0
    for key, does in keys:
        size = cell_len(f"  {key} {does}")
        if used + size > columns:
            break
        told += [Piece("  " if told else " ", "quiet"), Piece(key, "key"), Piece(f" {does}", "quiet")]
        used += size
    return fitted(told, columns)


def with_cursor(row: Sequence[Piece], column: int) -> Row:
    """A line in which the place where the next letter comes is marked."""
    pieces: list[Piece] = []
    at = 0
    for piece in row:
        for letter in piece.text:
            style = "cursor" if at <= column < at + max(cell_len(letter), 1) else piece.style
            if pieces and pieces[-1].style == style:
                pieces[-1] = Piece(pieces[-1].text + letter, style)
            else:
                pieces.append(Piece(letter, style))
            at += cell_len(letter)
    if at <= column:
        pieces.append(Piece(" ", "cursor"))
    return pieces
