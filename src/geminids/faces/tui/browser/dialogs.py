"""Boxes that want an answer: one of several, yes or no, some words; or that only tell something."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from geminids.core.values import NamedTuple
from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.tui.box import TextBox
from geminids.faces.tui.browser.view import Dialog, Help, Row, Stage, with_cursor
from geminids.faces.tui.cursor import Cursor
from geminids.faces.tui.keys import Key, Typed
from geminids.faces.tui.lines import Piece, cut, fitted
from geminids.faces.tui.rows import box_row, cursor_column
from geminids.sharing.transcript import safe

_STEPS = {"up": -1, "down": 1, "page up": -10, "page down": 10}
"""How many lines keys go on in a text."""


class Choice(NamedTuple):
    """Something that can be chosen."""

    name: str
    run: Callable[[], None]
    """What is done; the dialog is closed before."""
    hint: str = ""
    """What stands at the right edge: a key, a state."""


class Choose(Dialog):
    """One of several: type to find it, Enter."""

    def __init__(
        self, stage: Stage, title: str, choices: Sequence[Choice], *, width: int = 60, chosen: int = 0
    ) -> None:
        """`chosen` is the number of the one that is chosen first."""
        super().__init__(stage)
        self.title = title
        self.width = width
        self._all = choices
        self._box = TextBox()
        self._cursor = Cursor()
        self._cursor.number = chosen
        self._shown = 10
        self._found: tuple[str, Sequence[Choice]] = ("", choices)

    @property
    def choices(self) -> Sequence[Choice]:
        """Those that have all that was typed in their names."""
        typed = self._box.text
        if typed != self._found[0]:
            words = typed.casefold().split()
            found = [one for one in self._all if all(word in one.name.casefold() for word in words)]
            self._found = typed, found
        return self._found[1]

    @property
    def chosen(self) -> int | None:
        """The row below the box."""
        return 1 + self._cursor.seen if self.choices else None

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The box, and what fits."""
        choices = self.choices
        self._shown = max(min(len(self._all), height - 1), 1)
        self._cursor.choose(self._cursor.number, len(choices), self._shown)
        box = with_cursor(box_row(self._box, width, ""), cursor_column(self._box, width))
        top = self._cursor.top
        seen = [_choice_row(one, width) for one in choices[top : top + self._shown]]
        nothing: list[Row] = [fitted([Piece("  Nothing found.", "quiet")], width)]
        return [box, *(seen or nothing)]

    def press(self, key: Key) -> None:
        """Type, move, choose, or leave it."""
        if key == "escape":
            self.stage.show(None)
        elif key == "enter" and self.choices:
            self._run(self.choices[self._cursor.number])
        elif key in ("up", "down", "page up", "page down"):
            self._cursor.press(key, len(self.choices), self._shown)
        elif self._box.press(key):
            self._cursor = Cursor()

    def click(self, column: int, line: int) -> None:
        """A click chooses."""
        number = self._cursor.top + line - 1
        if line >= 1 and number < len(self.choices):
            self._run(self.choices[number])

    def _run(self, choice: Choice) -> None:
        self.stage.show(None)
        choice.run()


class Explain(Dialog):
    """Something to read, and what can be done about it: arrows, Enter."""

    def __init__(
        self, stage: Stage, title: str, text: str, choices: Sequence[Choice], *, width: int = 70
    ) -> None:
        super().__init__(stage)
        self.title = title
        self.width = width
        self._text, self._choices = text, choices
        self._cursor = Cursor()
        self._above = self._shown = 0

    @property
    def chosen(self) -> int | None:
        """The row below the text."""
        return self._above + self._cursor.seen

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """As much of the text as leaves room to choose."""
        text = [*worded(self._text, width)[: max(height - min(len(self._choices), 4) - 1, 0)], []]
        self._above, self._shown = len(text), max(min(len(self._choices), height - len(text)), 1)
        self._cursor.choose(self._cursor.number, len(self._choices), self._shown)
        top, end = self._cursor.top, self._cursor.top + self._shown
        seen = [*self._choices[top:end]]
        if end < len(self._choices):
            seen[-1] = seen[-1]._replace(hint="↓")
        return [*text, *(_choice_row(one, width) for one in seen)]

    def press(self, key: Key) -> None:
        """Move, choose, or leave it."""
        if key in ("escape", Typed("q")):
            self.stage.show(None)
        elif key == "enter":
            self._run(self._choices[self._cursor.number])
        else:
            self._cursor.press(key, len(self._choices), self._shown)

    def click(self, column: int, line: int) -> None:
        """A click chooses."""
        number = self._cursor.top + line - self._above
        if self._above <= line and number < len(self._choices):
            self._run(self._choices[number])

    def _run(self, choice: Choice) -> None:
        self.stage.show(None)
        choice.run()


class Ask(Dialog):
    """Whether something is to be done: y or Enter does it, n or Escape does not."""

    def __init__(
        self,
        stage: Stage,
        title: str,
        text: str,
        verb: str,
        run: Callable[[], None],
        *,
        width: int = 64,
        is_awaited: bool = True,
    ) -> None:
        """Where it comes while somebody does something else, Enter is for that, and says nothing."""
        super().__init__(stage)
        self._yes = (Typed("y"), Typed("Y"), *(("enter",) if is_awaited else ()))
        self.title = title
        self.width = width
        self._text, self._verb, self._run = text, verb, run
        self._top = 0

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """What is going to happen, and the keys."""
        text, room = worded(self._text, width), max(height - 2, 1)
        self._top = max(0, min(self._top, len(text) - room))
        keys = [
            Piece("y", "key"),
            Piece(f" {self._verb}   ", "quiet"),
            Piece("n", "key"),
            Piece(" cancel", "quiet"),
            *([Piece("   ↑↓", "key"), Piece(" more", "quiet")] if len(text) > room else []),
        ]
        return [*text[self._top : self._top + room], [], fitted(keys, width)]

    def press(self, key: Key) -> None:
        """Yes or no; nothing else is an answer."""
        if key in self._yes:
            self.stage.show(None)
            self._run()
        elif key in ("escape", Typed("n"), Typed("N"), Typed("q")):
            self.stage.show(None)
        elif key in _STEPS:
            self._top += _STEPS[str(key)]


class Type(Dialog):
    """Some words, in one line."""

    def __init__(
        self,
        stage: Stage,
        title: str,
        hint: str,
        run: Callable[[str], None],
        typed: str = "",
        *,
        completions: Sequence[str] = (),
        width: int = 64,
    ) -> None:
        """The last word may become one of the completions, of which the first that fits is offered."""
        super().__init__(stage)
        self.title = title
        self.width = width
        self._hint, self._run = hint, run
        self._completions = completions
        self._box = TextBox(typed)

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The line, and what Enter does with it."""
        row = box_row(self._box, width, "", self._ghost)
        box = with_cursor(row, cursor_column(self._box, width))
        return [box, *worded(self._hint, width, "quiet")[: height - 1]]

    def press(self, key: Key) -> None:
        """Type, take it, or leave it."""
        if key == "escape":
            self.stage.show(None)
        elif key == "enter":
            self.stage.show(None)
            self._run(self._box.text.strip())
        elif key in ("tab", "right") and self._ghost:
            self._box.set(self._box.text + self._ghost)
        else:
            self._box.press(key)

    @property
    def _ghost(self) -> str:
        """What follows the letters of the last word."""
        word = self._box.text.rpartition(" ")[2]
        if not word or self._box.cursor != len(self._box.text):
            return ""
        return next((one[len(word) :] for one in self._completions if one.startswith(word)), "")


class Tell(Dialog):
    """Something to read; any key goes on."""

    def __init__(
        self, stage: Stage, title: str, rows: Callable[[int], Sequence[Row]], *, width: int = 76
    ) -> None:
        super().__init__(stage)
        self.title = title
        self.width = width
        self._rows = rows
        self._top = 0

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """What fits of it."""
        rows = self._rows(width)
        room = height - 1 if len(rows) > height else height
        self._top = max(0, min(self._top, len(rows) - room))
        more: list[Row] = [[Piece("↑↓", "key"), Piece(" more", "quiet")]] if room < height else []
        return [*rows[self._top : self._top + room], *more]

    def press(self, key: Key) -> None:
        """Go on in it, or back."""
        if key in _STEPS:
            self._top += _STEPS[str(key)]
        else:
            self.stage.show(None)


def tell_words(stage: Stage, title: str, text: str) -> Tell:
    """Words to read, broken to the width."""
    return Tell(stage, title, lambda width: worded(text, width))


def tell_keys(stage: Stage, keys: Sequence[Help]) -> Tell:
    """What keys do."""
    widest = max((len(key) for key, _ in keys), default=0)

    def rows(width: int) -> list[Row]:
        return [fitted([Piece(key.ljust(widest + 2), "key"), Piece(does)], width) for key, does in keys]

    return Tell(stage, "Keys", rows)


def _choice_row(choice: Choice, width: int) -> Row:
    """What is chosen, and the hint, which leaves it at least a third where it needs that."""
    told = safe.line(choice.hint)
    room = max(width - cell_len(choice.name) - 4, 2 * width // 3)
    hint = f" {cut(told, min(cell_len(told), room - 2))} " if told else ""
    return [*fitted([Piece(f"  {choice.name}")], width - cell_len(hint)), Piece(hint, "quiet")]


def worded(text: str, width: int, style: str = "") -> list[Row]:
    """Words in lines of a width, broken between words; what is left of an indented line is indented, too."""
    page = LaidOutPage(width)
    for line in text.split("\n"):
        said = line.lstrip(" ")
        page.words(said, style, min(len(line) - len(said), width // 2))
    return [*page.lines]
