"""A terminal that is drawn on and given back as it was, whatever happens.

Nothing is asked of it, so nothing waits for one that does not answer; and keys that were typed before it was
ready are kept. Only lines that differ are drawn again.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import tty
from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType

from geminids.faces.tui.keys import Key, KeyReader

_ENTER = "\x1b[?1049h\x1b[?2004h"
"""Another screen, and pasted words in brackets."""
_LEAVE = "\x1b[?2004l\x1b[?25h\x1b[?1049l"
_ESCAPE_WAITS = 0.03
"""Seconds until a lone Escape is the key and no beginning of another."""


class Terminal:
    """The terminal that a program was started on, as a screen of its own while it is in use."""

    def __init__(self) -> None:
        self._in, self._out = 0, 1
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._before = termios.tcgetattr(self._in)
        self._reader = KeyReader()
        self._shown: list[str] = []
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> Terminal:
        for number in (signal.SIGWINCH, signal.SIGCONT):
            self._handlers[number] = signal.signal(number, self._has_changed)
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        for descriptor in (self._woken, self._wake):
            os.close(descriptor)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        found = os.get_terminal_size(self._out)
        # Some terminals say that they have none.
        return found.columns or 80, found.lines or 24

    def wake(self) -> None:
        """Have who waits for keys look at what is new; from any thread."""
        try:
            os.write(self._wake, b"!")
        except (BlockingIOError, OSError):
            # It has been woken already, or is gone.
            return

    def keys(self) -> Iterator[Key]:
        """The keys that were pressed, as soon as there is one or somebody calls `wake`."""
        patience = _ESCAPE_WAITS if self._reader.is_waiting else None
        ready, _, _ = select.select([self._in, self._woken], [], [], patience)
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._in in ready:
            content = os.read(self._in, 65536)
            if not content:
                # The terminal is gone.
                yield "interrupt"
            yield from self._reader.read(content)
        elif not ready:
            yield from self._reader.give_up_waiting()

    def draw(self, lines: Sequence[str], cursor: tuple[int, int]) -> None:
        """Show some lines from the top, and the cursor in a column of a line."""
        changed = [
            f"\x1b[{number};1H\x1b[2K{line}"
            for number, line in enumerate(lines, start=1)
            if number > len(self._shown) or self._shown[number - 1] != line
        ]
        cleared = "" if self._shown else "\x1b[2J"
        rest = f"\x1b[{len(lines) + 1};1H\x1b[J" if len(lines) < len(self._shown) else ""
        column, line = cursor
        self._send(f"\x1b[?25l{cleared}{''.join(changed)}{rest}\x1b[{line + 1};{column + 1}H\x1b[?25h")
        self._shown = list(lines)

    def forget(self) -> None:
        """Draw everything next time: what is on the screen is no longer known."""
        self._shown = []

    def suspend(self) -> None:
        """Give the terminal back and stop, as Ctrl-Z does; go on when the shell says so."""
        self._give_back()
        # Where no shell could wake it, the system ignores this signal.
        os.kill(os.getpid(), signal.SIGTSTP)
        self._take()

    def _take(self) -> None:
        # What was typed early is kept: it is not flushed.
        tty.setraw(self._in, termios.TCSADRAIN)
        self._send(_ENTER)
        self.forget()

    def _give_back(self) -> None:
        self._send(_LEAVE)
        termios.tcsetattr(self._in, termios.TCSADRAIN, self._before)

    def _has_changed(self, _: int, __: FrameType | None) -> None:
        self.forget()
        self.wake()

    def _send(self, text: str) -> None:
        content = text.encode("utf-8", "replace")
        while content:
            content = content[os.write(self._out, content) :]
