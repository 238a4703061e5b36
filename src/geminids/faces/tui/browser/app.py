"""The browser as textual runs it: one canvas on which the view on top is drawn, and dialogs in front of it.

Only lines that differ from what is shown are drawn again, so that a key is answered at once and nothing
flickers over a slow line. What views and dialogs are is told without textual; here keys and the mouse come in
and words go out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from geminids.faces.shell_line import OURS, shell_words
from geminids.faces.tui.browser.failures import in_words
from geminids.faces.tui.browser.questions import Failed, Questions
from geminids.faces.tui.browser.styles import style_of
from geminids.faces.tui.browser.view import Dialog, Row, Seen, View
from geminids.faces.tui.keys import Key, Typed
from geminids.faces.tui.lines import Piece, fitted

if TYPE_CHECKING:
    from textual.driver import Driver

    from geminids.faces.tui.asker import OpenLibrary
    from geminids.library import Library

    Value = TypeVar("Value")

SMALLEST = (40, 8)
_MARGIN = 2
"""Columns and lines of a view that are seen around a dialog, at least."""
_NAMES = {
    "pageup": "page up",
    "pagedown": "page down",
    "shift+tab": "shift tab",
    "ctrl+a": "home",
    "ctrl+d": "delete",
    "ctrl+e": "end",
    "ctrl+h": "backspace",
    "ctrl+j": "enter",  # what a terminal makes of Enter that is typed before the keys are read one by one
    "ctrl+n": "down",
    "ctrl+u": "clear",
    "ctrl+w": "delete word",
    "f1": "?",
}
"""The keys that are called otherwise in the picker than textual calls them."""


def _as_typed(*words: str) -> str:
    return shell_words((OURS, *words))


class Canvas(Widget):
    """Lines from the top; what is below them is blank."""

    DEFAULT_CSS = "Canvas { width: 1fr; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.strips: list[Strip] = []
        """What is shown."""

    def show(self, strips: Sequence[Strip]) -> None:
        """Draw these lines, as far as they differ from those that are there."""
        before, self.strips = self.strips, list(strips)
        least, most = sorted((len(before), len(strips)))
        changed = [at for at in range(most) if at >= least or before[at] != strips[at]]
        if changed:
            self.refresh(*(Region(0, at, self.size.width, 1) for at in changed))

    def render_line(self, y: int) -> Strip:
        """The line that stands there."""
        width = self.size.width
        if y >= len(self.strips):
            return Strip.blank(width)
        return self.strips[y].adjust_cell_length(width, Style.null())


class Browser(App[object]):
    """The stage on which views are shown."""

    CSS = "Screen { layout: vertical; overflow: hidden; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [
        Binding("ctrl+c", "interrupt", priority=True, show=False),
        Binding("ctrl+q", "interrupt", priority=True, show=False),
        Binding("ctrl+z", "suspend_process", priority=True, show=False),
    ]

    class Woken(Message):
        """A thread has found something."""

    def __init__(
        self,
        open_library: OpenLibrary,
        first: Callable[[Browser], View],
        *,
        now: datetime | None = None,
        has_colour: bool = True,
        spelled: Callable[..., str] = _as_typed,
    ) -> None:
        """`first` makes the view to begin with; where `now` is given, time stands still.

        `spelled` makes a line of a command of ours.
        """
        super().__init__(ansi_color=True)
        self._now = now
        self._has_colour = has_colour
        self._spelled = spelled
        self._first = first
        self.views: list[View] = []
        self._dialog: Dialog | None = None
        self._dialog_region = Region()
        self._said: tuple[str, str] | None = None
        self.pressed = 0
        """How many keys were pressed so far."""
        self._made: dict[int, tuple[Row, Strip]] = {}
        """The lines that are shown, by where in memory they are: while they are kept nothing else is."""
        self._is_woken = False
        self.error: Exception | None = None
        """What ended it."""
        self._quick, self._slow = (Questions(open_library, self.wake, self._failed) for _ in range(2))

    # What is textual's.

    def get_driver_class(self) -> type[Driver]:
        """Return the driver that reads the terminal."""
        if sys.platform == "win32":
            return super().get_driver_class()
        from geminids.faces.tui.browser.driver import TerminalDriver

        return TerminalDriver

    def compose(self) -> ComposeResult:
        """One canvas, and nothing else."""
        yield Canvas()

    def on_mount(self) -> None:
        """Show the first view."""
        self.open(self._first(self))

    def on_unmount(self) -> None:
        """Let go of all that was begun."""
        while self.views:
            self.views.pop().closed()
        for questions in (self._quick, self._slow):
            questions.close()

    def on_key(self, event: events.Key) -> None:
        """A key."""
        event.stop()
        event.prevent_default()
        key = Typed(event.character) if event.is_printable and event.character else event.key
        self._press(key if isinstance(key, Typed) else _NAMES.get(key, key))

    def on_paste(self, event: events.Paste) -> None:
        """Words that were pasted, in one line."""
        event.stop()
        self._press(Typed("".join(filter(str.isprintable, " ".join(event.text.split())))))

    def on_click(self, event: events.Click) -> None:
        """A click, on the dialog if there is one."""
        x, y = event.screen_x, event.screen_y
        if self._dialog is None:
            self.views[-1].click(x, y)
        elif self._dialog_region.contains(x, y):
            self._dialog.click(x - self._dialog_region.x - 2, y - self._dialog_region.y - 1)
        self.draw()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel, towards who turns it."""
        self._wheel(event, 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel, away from who turns it."""
        self._wheel(event, -3)

    def on_resize(self) -> None:
        """Another size."""
        self.call_after_refresh(self.draw)

    def on_driver_signal_resume(self) -> None:
        """The shell gave the terminal back: what is on it is no longer known."""
        self.refresh(layout=True)

    def on_browser_woken(self) -> None:
        """A thread has found something."""
        self._is_woken = False
        self._quick.deliver()
        self._slow.deliver()
        self.draw()

    def action_interrupt(self) -> None:
        """End without anything."""
        self.leave()

    # The stage.

    @property
    def now(self) -> datetime:
        """The time."""
        return self._now or datetime.now(UTC)

    def wake(self) -> None:
        """Have what is new looked at; from any thread."""
        if not self._is_woken:
            # Who has not looked since it was woken the last time will see this, too.
            self._is_woken = True
            if not self.post_message(self.Woken()):
                self._is_woken = False

    def open(self, view: View) -> None:
        """Show another view in front of this one."""
        self.views.append(view)
        self.draw()

    def close(self) -> None:
        """Go back to the view before this one; from the first, end."""
        self.views.pop().closed()
        if self.views:
            self.draw()
        else:
            self.leave()

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
        """Ask the library; the answer comes later."""
        (self._slow if is_slow else self._quick).ask(lane, question, then, failed, is_write=is_write)

    def changed(self, told: View | None = None) -> None:
        """Have all views ask again but the one that told it."""
        self.renew()
        for view in self.views:
            if view is not told:
                view.changed()

    def back_to(self, view: View) -> None:
        """Go back to a view that was opened before."""
        while self.views[-1] is not view:
            self.views.pop().closed()
        self.draw()

    def spelled(self, *words: str) -> str:
        """A command of ours to type that looks where this one does."""
        return self._spelled(*words)

    def renew(self) -> None:
        """What is asked from now on is asked of the index as it is by then."""
        self._quick.renew()
        self._slow.renew()

    def show(self, dialog: Dialog | None) -> None:
        """Put a dialog in front of the view, or take it away."""
        self._dialog = dialog
        self.draw()

    def say(self, sentence: str, style: str = "good") -> None:
        """Tell something in the last line, until a key is pressed; nothing takes it away."""
        self._said = (sentence, style) if sentence else None
        self.draw()

    def fail(self, error: Exception) -> None:
        """End the browser with an error."""
        self.error = error
        self.exit()

    def leave(self, result: object = None) -> None:
        """End the browser."""
        self.exit(result)

    def copy(self, text: str) -> None:
        """Put words where other programs can paste them from."""
        # Half a character, which agents do write, cannot be sent.
        self.copy_to_clipboard(text.encode("utf-8", "replace").decode())

    # What is seen.

    def draw(self) -> None:
        """Show what is to be seen now."""
        if not (self.views and self.is_running):
            return
        columns, height = self.size
        view = self.views[-1]
        for one in [*self.views]:
            one.look()
        if not self.views or self.views[-1] is not view:
            return
        if columns < SMALLEST[0] or height < SMALLEST[1]:
            small = f"Too small: {SMALLEST[0]}x{SMALLEST[1]} at least"
            strips = [strip_of(fitted([Piece(small, "warning")], columns))]
        else:
            strips = self._strips(view.seen(columns, height))
            if self._said:
                said, style = self._said
                strips[height - 1 :] = [strip_of(fitted([Piece(f" {said}", style)], columns))]
            if self._dialog:
                self._put(self._dialog, strips, columns, height)
        if not self._has_colour:
            strips = [_uncoloured(strip) for strip in strips]
        self.query_one(Canvas).show(strips)

    def _strips(self, seen: Seen) -> list[Strip]:
        """Its lines; those that are the very same as before are not made again."""
        before, self._made = self._made, {}
        strips = []
        for number, row in enumerate(seen.rows):
            _, strip = self._made[id(row)] = before.get(id(row)) or (row, strip_of(row))
            if number in seen.chosen:
                until = seen.chosen_until or strip.cell_length
                strip = Strip([*_reversed(strip.crop(0, until)), *strip.crop(until)])
            strips.append(strip)
        return strips

    def _put(self, dialog: Dialog, strips: list[Strip], columns: int, height: int) -> None:
        """Put a dialog into the middle of a view."""
        width = min(dialog.width, columns - 2 * _MARGIN - 4)
        rows = dialog.rows(width, height - 2 * _MARGIN - 2)
        x, y = (columns - width - 4) // 2, max((height - len(rows) - 2) // 2, 0)
        self._dialog_region = Region(x, y, width + 4, len(rows) + 2)
        frame = style_of("frame")
        title = fitted([Piece(f" {dialog.title} ", "title")], min(len(dialog.title) + 2, width))
        line = "─" * (width + 1 - sum(piece.cell_length for piece in map(_segment_of, title)))
        boxed = [Strip([Segment("┌─", frame), *map(_segment_of, title), Segment(f"{line}┐", frame)])]
        for number, row in enumerate(rows):
            inside = strip_of(row).adjust_cell_length(width, Style.null())
            inside = _reversed(inside) if number == dialog.chosen else inside
            boxed.append(Strip([Segment("│ ", frame), *inside, Segment(" │", frame)]))
        boxed.append(Strip([Segment(f"└{'─' * (width + 2)}┘", frame)]))
        for at, box in enumerate(boxed, start=y):
            while at >= len(strips):
                strips.append(Strip([]))
            below = strips[at].adjust_cell_length(columns, Style.null())
            strips[at] = Strip.join([below.crop(0, x), box, below.crop(x + box.cell_length, columns)])

    # What comes in.

    def _press(self, key: Key) -> None:
        if not self.views:
            # A key that is pressed after the one that ends the browser.
            return
        self.pressed += 1
        self._said = None
        (self._dialog or self.views[-1]).press(key)
        self.draw()

    def _wheel(self, event: events.MouseEvent, by: int) -> None:
        if self._dialog is None:
            self.views[-1].wheel(event.screen_x, event.screen_y, by)
        else:
            self._dialog.press("down" if by > 0 else "up")
        self.draw()

    def _failed(self, error: Exception) -> None:
        self.say(in_words(error), "bad")


def _segment_of(piece: Piece | Segment) -> Segment:
    return piece if isinstance(piece, Segment) else Segment(piece.text, style_of(piece.style))


def strip_of(row: Row) -> Strip:
    """A line as textual draws it."""
    return Strip([_segment_of(piece) for piece in row if piece.text])


def _reversed(strip: Strip) -> Strip:
    """A chosen line. Colours would be patches of ground in it, and dim letters can hardly be read there."""
    return Strip(
        [
            Segment(text, (style.without_color if style else Style()) + Style(reverse=True, dim=False))
            for text, style, _ in strip
        ]
    )


def _uncoloured(strip: Strip) -> Strip:
    """What is bright, underlined or reversed is no colour."""
    return Strip([Segment(text, _without_colour(style)) for text, style, _ in strip])


def _without_colour(style: Style | None) -> Style | None:
    if style is None or style.color is None:
        return style
    is_match = style.bold and style.color.name == "yellow"
    return style.without_color + Style(underline=True if is_match else None)
