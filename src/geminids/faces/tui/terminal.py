"""A terminal that is drawn on and given back as it was, whatever happens.

Nothing is asked of it, so nothing waits for one that does not answer; and keys that were typed before it was
ready are kept. Only lines that differ are drawn again.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Lock
from types import FrameType, TracebackType

from geminids.faces.tui.keys import Key, KeyReader

_ENTER = "\x1b[?1049h\x1b[?2004h"
"""Another screen, and pasted words in brackets."""
_LEAVE = "\x1b[?2004l\x1b[?25h\x1b[?1049l"


def has_terminal() -> bool:
    """Whether somebody sits at a terminal that can be drawn on."""
    is_there = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    return is_there and os.environ.get("TERM", "dumb") != "dumb"


class Terminal:
    """The terminal that a program was started on, as a screen of its own while it is in use."""

    def __init__(self) -> None:
        self._in, self._out = 0, 1
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._waking = Lock()
        """Held while somebody is woken: nobody may write to a number that another file has by then."""
        self._before = termios.tcgetattr(self._in)
        self._reader = KeyReader()
        self._shown: list[str] = []
        self._handlers: dict[int, object] = {}
        self._is_back = False
        """Whether the program was stopped from elsewhere, and goes on."""

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
        with self._waking:
            for descriptor in (self._woken, self._wake):
                os.close(descriptor)
            self._wake = -1

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        found = os.get_terminal_size(self._out)
        # Some terminals say that they have none.
        return found.columns or 80, found.lines or 24

    def wake(self) -> None:
        """Have who waits for keys look at what is new; from any thread, also when it is too late."""
        with self._waking:
            if self._wake < 0:
                return
            # Who has been woken often enough looks anyway.
            with suppress(BlockingIOError):
                os.write(self._wake, b"!")

    def keys(self, longest: float | None = None) -> Iterator[Key]:
        """The keys that were pressed, as soon as there is one or somebody calls `wake`; after a time none.

        Ctrl-Z gives the terminal to the shell until that gives it back.
        """
        for key in self._pressed(longest):
            if key == "suspend":
                self._suspend()
            elif key == "redraw":
                self.forget()
            else:
                yield key

    def _pressed(self, longest: float | None) -> Iterator[Key]:
        patience = self._reader.patience if self._reader.is_waiting else longest
        ready, _, _ = select.select([self._in, self._woken], [], [], patience)
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._is_back:
            self._take()
        if self._in in ready:
            try:
                content = os.read(self._in, 65536)
            except OSError:
                content = b""
            if not content:
                # The terminal is gone.
                yield "interrupt"
            yield from self._reader.read(content)
        elif not ready and self._reader.is_waiting:
            yield from self._reader.give_up_waiting()

    def draw(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        """Show some lines from the top, and the cursor in a column of a line, if there is to be one."""
        changed = [
            f"\x1b[{number};1H\x1b[2K{line}"
            for number, line in enumerate(lines, start=1)
            if number > len(self._shown) or self._shown[number - 1] != line
        ]
        cleared = "" if self._shown else "\x1b[2J"
        rest = f"\x1b[{len(lines) + 1};1H\x1b[J" if len(lines) < len(self._shown) else ""
        shown = f"\x1b[{cursor[1] + 1};{cursor[0] + 1}H\x1b[?25h" if cursor else ""
        self._send(f"\x1b[?25l{cleared}{''.join(changed)}{rest}{shown}")
        self._shown = list(lines)

    def forget(self) -> None:
        """Draw everything next time: what is on the screen is no longer known."""
        self._shown = []

    def _suspend(self) -> None:
        """Give the terminal back and stop; go on when the shell says so."""
        self._give_back()
        # Where no shell could wake it, the system ignores this signal.
        os.kill(os.getpid(), signal.SIGTSTP)
        self._take()

    def _take(self) -> None:
        self._is_back = False
        # What was typed early is kept: it is not flushed.
        tty.setraw(self._in, termios.TCSADRAIN)
        self._send(_ENTER)
        self.forget()

    def _give_back(self) -> None:
        # A terminal that was closed needs nothing back.
        with suppress(OSError, termios.error):
            self._send(_LEAVE)
            termios.tcsetattr(self._in, termios.TCSADRAIN, self._before)

    def _has_changed(self, number: int, _: FrameType | None) -> None:
        # Whoever had the terminal meanwhile left it in another state.
        self._is_back = self._is_back or number == signal.SIGCONT
        self.forget()
        self.wake()

    def _send(self, text: str) -> None:
        content = text.encode("utf-8", "replace")
        while content:
            content = content[os.write(self._out, content) :]
