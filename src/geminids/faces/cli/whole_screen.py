"""A terminal that is drawn over again and again, and given back as it was; keys that are pressed on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""Another screen without a cursor, and back: what stood there before is there again."""
_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


class WholeScreen:
    """What draws on it."""

    def __init__(self) -> None:
        self._shown = ""

    def draw(self, text: str) -> None:
        """Show lines from the top, as many as there is room for; what is the same is not drawn again."""
        height = os.get_terminal_size(sys.stdout.fileno()).lines
        # Nothing after the last line: it would scroll.
        frame = f"{_CLEAR_LINE}\r\n".join(text.splitlines()[:height])
        if frame != self._shown:
            sys.stdout.write(f"{_HOME}{frame}{_CLEAR_LINE}{_CLEAR_BELOW}")
            sys.stdout.flush()
            self._shown = frame

    def pressed(self) -> str:
        """What was typed since the last time."""
        if not sys.stdin.isatty():
            return ""
        if sys.platform == "win32":
            import msvcrt

            return "".join(iter(lambda: msvcrt.getwch() if msvcrt.kbhit() else "", ""))
        import select

        ready, _, _ = select.select([sys.stdin], [], [], 0)
        return os.read(sys.stdin.fileno(), 1024).decode("utf-8", "replace") if ready else ""


@contextmanager
def whole_screen() -> Iterator[WholeScreen]:
    """The terminal for a while, with keys that are told as they are pressed; Ctrl-C stays what it is."""
    with _unechoed():
        sys.stdout.write(_ENTER)
        try:
            yield WholeScreen()
        finally:
            sys.stdout.write(_LEAVE)
            sys.stdout.flush()


@contextmanager
def _unechoed() -> Iterator[None]:
    """A while in which keys are neither held back until Enter nor shown."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    keys = [*before[:3], before[3] & ~(termios.ICANON | termios.ECHO), *before[4:]]
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, keys)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
