"""The terminal of the browser: textual's driver, but no byte that a terminal sends ends or freezes it."""

from __future__ import annotations

import os
import re
import select
import time
from codecs import getincrementaldecoder
from collections.abc import Iterator

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

_LONGEST = 64
"""Bytes of the longest escape sequence that a terminal sends."""
_PIECE = re.compile(
    rb"(?s)(?P<raw_mouse>\x1b\[M...)|(?P<sequence>\x1b\[[0-?]*[ -/]*[@-~])"
    rb"|(?P<broken>\x1b\[[0-?]*[ -/]*)|(?P<text>\x1b|[^\x1b]+)"
)
_UNFINISHED = re.compile(rb"(?s)\x1b\[(?:M.{0,2}|[0-?]*[ -/]*)\Z")
_PASTE_BEGINS, _PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"
_INTERRUPT = b"\x03"
_TICK = 0.1
"""Seconds until an unfinished sequence is dropped."""
_PASTE_WAITS = 2.0
"""Seconds without input until a paste that has no end is taken as it is."""


class InputSplitter:
    """Splits what a terminal sends into text and escape sequences, and drops malformed sequences."""

    def __init__(self) -> None:
        self.is_pasting = False
        self._unfinished = b""

    def split(self, content: bytes) -> Iterator[bytes]:
        """Yield text and whole sequences; an unfinished sequence waits for its end."""
        content, self._unfinished = self._unfinished + content, b""
        if unfinished := _UNFINISHED.search(content):
            content, self._unfinished = content[: unfinished.start()], unfinished[0][: _LONGEST + 1]
        for piece in _PIECE.finditer(content):
            is_sequence = piece.lastgroup == "sequence" and len(piece[0]) <= _LONGEST
            if is_sequence and piece[0] in (_PASTE_BEGINS, _PASTE_ENDS):
                self.is_pasting = piece[0] == _PASTE_BEGINS
            if is_sequence or piece.lastgroup == "text":
                yield piece[0]
        if self.is_pasting and _INTERRUPT in content:
            # Ctrl-C ends a paste that has no end.
            self.is_pasting = False
            yield from (_PASTE_ENDS, _INTERRUPT)

    def nothing_follows(self) -> None:
        """Drop an unfinished sequence."""
        self._unfinished = b""


class TerminalDriver(LinuxDriver):
    """Textual's driver with a reader of input that survives what textual's own does not."""

    def run_input_thread(self) -> None:
        """Hand on keys, pastes and mouse events until the app ends."""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser()
        splitter = InputSplitter()
        last = time.monotonic()
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], _TICK)[0]:
                last = time.monotonic()
                content = os.read(self.fileno, 4096)
                if not content:
                    return
                for piece in splitter.split(content):
                    self._take(piece)
                continue
            splitter.nothing_follows()
            if splitter.is_pasting and time.monotonic() - last > _PASTE_WAITS:
                splitter.is_pasting = False
                self._take(_PASTE_ENDS)
            for event in self._parser.tick():
                self.process_message(event)

    def _take(self, piece: bytes) -> None:
        try:
            for event in self._parser.feed(self._decode(piece)):
                self.process_message(event)
        except (ValueError, OverflowError):
            # A sequence that names no character; textual's parser is of no use afterwards.
            self._parser = XTermParser()
