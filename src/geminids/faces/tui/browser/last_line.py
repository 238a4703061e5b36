"""Words that are typed into the last line of the screen, below what is read."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len

from geminids.faces.tui.box import TextBox
from geminids.faces.tui.browser.view import Row, with_cursor
from geminids.faces.tui.keys import Key
from geminids.faces.tui.lines import Piece, cut, fitted


class LastLine:
    """A mark that says what is typed, and the words."""

    def __init__(self, mark: str, run: Callable[[str], None]) -> None:
        self._mark = mark
        self._run = run
        self._box = TextBox()

    def press(self, key: Key) -> bool:
        """Do what a key says; whether somebody goes on typing."""
        if key == "escape" or (key == "backspace" and not self._box.text):
            return False
        if key == "enter":
            self._run(self._box.text.strip())
            return False
        self._box.press(key)
        return True

    def row(self, columns: int) -> Row:
        """What was typed, and where the next letter comes."""
        before = self._box.before_cursor
        room = columns - cell_len(self._mark) - 2
        if cell_len(before) > room:
            before = cut(before, room, keeps_end=True)
        after = self._box.text[self._box.cursor :]
        pieces = fitted([Piece(f" {self._mark}", "title"), Piece(before), Piece(after)], columns)
        return with_cursor(pieces, 1 + cell_len(self._mark) + cell_len(before))
