"""Programs on a terminal of their own: what they draw, when they do, and what it takes them.

What comes is kept with its time and drawn afterwards, so that watching costs the watched nothing.
"""

from __future__ import annotations

import os
import pty
import re
import signal
import struct
import termios
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import NamedTuple, Self

from rich.cells import cell_len

COLUMNS, LINES = 100, 30
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_QUIET = 0.15
"""Seconds without a sign after which nothing more is awaited."""

_PIECE = re.compile(
    r"\x1b\[(?P<private>[<=>?]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\)"
    r"|\x1b[P_^X](?:[^\x1b]|\x1b(?!\\))*\x1b\\"
    r"|\x1b[ #%()*+](?s:.)"
    r"|\x1b[^\[\]P_^X #%()*+]"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    r"|(?P<text>[^\x00-\x1f\x7f]+)"
)
"""What programs send: a sequence with numbers, words for the terminal itself, a control letter, text."""
_WITHOUT_EFFECT = frozenset("cghlnpqrstu")
"""Finals of sequences that ask or set something, and draw nothing."""


class Screen:
    """What is to be seen of all that was sent to it."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._line = self._column = 0
        self._style = ""
        self._cells: list[list[tuple[str, str]]] = []
        self._clear()

    def seen(self) -> Seen:
        """The screen as it is now."""
        return Seen([list(line) for line in self._cells])

    def feed(self, content: bytes) -> None:
        """Draw what came; a sequence may be cut anywhere."""
        text = self._rest + self._decoder.decode(content)
        at = 0
        while found := _PIECE.match(text, at):
            at = found.end()
            if found["text"]:
                self._write(found["text"])
            elif found["control"]:
                self._control(found["control"])
            elif found["final"]:
                numbers = [int(number or 0) for number in re.split("[;:]", found["numbers"])]
                self._sequence(found["private"] + found["between"], found["final"], numbers, found["numbers"])
        self._rest = text[at:]

    def _clear(self) -> None:
        self._cells = [[(" ", "")] * COLUMNS for _ in range(LINES)]

    def _write(self, text: str) -> None:
        for letter in text:
            width = cell_len(letter)
            if not width:
                continue
            if self._column + width > COLUMNS:
                self._line, self._column = min(self._line + 1, LINES - 1), 0
            cells = [(letter, self._style), ("", self._style)][:width]
            self._cells[self._line][self._column : self._column + width] = cells
            self._column += width

    def _control(self, letter: str) -> None:
        match letter:
            case "\r":
                self._column = 0
            case "\n":
                self._line = min(self._line + 1, LINES - 1)
            case "\b":
                self._column = max(self._column - 1, 0)

    def _sequence(self, kind: str, final: str, numbers: Sequence[int], told: str) -> None:
        first = max(numbers[0], 1)
        match kind, final:
            case "", "m":
                self._style = "" if told in ("", "0") else f"{self._style};{told}"
            case "", "H" | "f":
                second = numbers[1] if len(numbers) > 1 else 1
                self._go(first - 1, max(second, 1) - 1)
            case "", "A" | "B":
                self._go(self._line + (first if final == "B" else -first), self._column)
            case "", "C" | "D":
                self._go(self._line, self._column + (first if final == "C" else -first))
            case "", "G":
                self._go(self._line, first - 1)
            case "", "d":
                self._go(first - 1, self._column)
            case "", "J" | "K" | "X":
                self._erase(final, numbers[0])
            case "?", "h" if 1049 in numbers:
                self._clear()
            case _ if not kind and final not in _WITHOUT_EFFECT:
                raise ValueError(f"What does {told}{final} draw?")

    def _go(self, line: int, column: int) -> None:
        self._line = max(min(line, LINES - 1), 0)
        self._column = max(min(column, COLUMNS - 1), 0)

    def _erase(self, what: str, how: int) -> None:
        column = min(self._column, COLUMNS)
        start, end = {
            ("J", 0): (0, COLUMNS * LINES),
            ("J", 2): (-COLUMNS * LINES, COLUMNS * LINES),
        }.get((what, how), (0, 0))
        if what == "J":
            here = self._line * COLUMNS + column
            places = range(max(here + start, 0), min(here + end, COLUMNS * LINES))
        elif what == "X":
            places = range(
                self._line * COLUMNS + column, self._line * COLUMNS + min(column + max(how, 1), COLUMNS)
            )
        else:
            begin, until = {0: (column, COLUMNS), 1: (0, column + 1), 2: (0, COLUMNS)}[how]
            places = range(self._line * COLUMNS + begin, self._line * COLUMNS + until)
        for place in places:
            self._cells[place // COLUMNS][place % COLUMNS] = (" ", "")


class Seen(NamedTuple):
    """A screen as it was at a moment: letters with their styles."""

    cells: Sequence[Sequence[tuple[str, str]]]

    @property
    def lines(self) -> list[str]:
        """Its words."""
        return ["".join(letter for letter, _ in line).rstrip() for line in self.cells]


class Moment(NamedTuple):
    """What was seen, and when: seconds after the beginning or after a key."""

    after: float
    seen: Seen


_QUERY = re.compile(
    rb"\x1b\[(?P<mark>[?>]?)(?P<numbers>[0-9;]*)(?P<final>\$p|[cnutq])|\x1b\](?P<colour>1[012]);\?(?:\x07|\x1b\\)"
)


def _answer(found: re.Match[bytes]) -> bytes:
    """What a terminal answers that knows little."""
    if colour := found["colour"]:
        shade = b"cccc" if colour == b"10" else b"0000"
        return b"\x1b]" + colour + b";rgb:" + b"/".join([shade] * 3) + b"\x1b\\"
    numbers = found["numbers"]
    match found["mark"] + found["final"]:
        case b"c":
            return b"\x1b[?62;22c"
        case b">c":
            return b"\x1b[>1;10;0c"
        case b"n":
            return b"\x1b[0n" if numbers == b"5" else b"\x1b[1;1R"
        case b"?$p":
            return b"\x1b[?" + numbers + b";" + (b"2" if numbers == b"2026" else b"0") + b"$y"
        case b"?u":
            return b"\x1b[?0u"
        case b">q":
            return b"\x1bP>|bench(1)\x1b\\"
        case b"t" if numbers == b"18":
            return f"\x1b[8;{LINES};{COLUMNS}t".encode()
        case _:
            return b""


class Program:
    """A program on a terminal that somebody watches."""

    def __init__(
        self, command: Sequence[str | Path], given: Mapping[str, str], *, answers: bool = True
    ) -> None:
        """With `answers` the terminal answers what it is asked."""
        self.began = perf_counter()
        self._pid, self._terminal = pty.fork()
        if not self._pid:
            _become([str(word) for word in command], given)
        ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._answers = answers
        self._came: list[tuple[float, bytes]] = []
        self._drawn = 0
        self._screen = Screen()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)
        deadline = perf_counter() + 3
        while os.waitpid(self._pid, os.WNOHANG) == (0, 0):
            if perf_counter() > deadline:
                os.kill(self._pid, signal.SIGKILL)
            sleep(0.01)
        self._reader.join(2)
        os.close(self._terminal)

    def _read(self) -> None:
        while True:
            try:
                content = os.read(self._terminal, 1 << 16)
            except OSError:
                return
            if not content:
                return
            self._came.append((perf_counter(), content))
            if self._answers:
                for found in _QUERY.finditer(content):
                    os.write(self._terminal, _answer(found))

    def press(
        self,
        keys: str,
        *,
        until: Callable[[Seen], bool] | None = None,
        quiet: float = _QUIET,
        least: float = 0.05,
        most: float = 3.0,
    ) -> list[Moment]:
        """What is seen from now on until nothing more comes; with `until` it must be so in the end."""
        self.drawn()
        since = perf_counter()
        self.send(keys)
        moments: list[Moment] = []
        while not moments or perf_counter() < since + most:
            self.settle(since, quiet=quiet, least=least, most=most)
            moments += self.drawn(since)
            if not moments or until is None or until(moments[-1].seen):
                break
        return moments

    def settle(self, since: float, *, quiet: float = _QUIET, least: float = 0.05, most: float = 10.0) -> None:
        """Wait until nothing has come, and nothing was computed, for a while."""
        cpu, busy = self.cpu(), since
        while (now := perf_counter()) < since + most:
            spent = self.cpu()
            # A tick more or less is no work.
            if spent > cpu + 1.5 * _TICK:
                cpu, busy = spent, now
            came = self._came[-1][0] if self._came else since
            if now >= max(since + least, busy + quiet, came + quiet):
                return
            sleep(0.01)

    def pause(self, seconds: float) -> None:
        """Let it do what it does."""
        sleep(seconds)

    def until(self, is_there: Callable[[Seen], bool], most: float = 10.0) -> bool:
        """Draw what comes until something is to be seen; whether it was in time."""
        deadline = perf_counter() + most
        while perf_counter() < deadline:
            moments = self.drawn()
            if any(is_there(moment.seen) for moment in moments):
                # What is drawn at once may come in pieces.
                sleep(0.004)
                self.drawn()
                return True
            sleep(0.002)
        return False

    def send(self, keys: str) -> None:
        """Press keys, and look later."""
        os.write(self._terminal, keys.encode())

    def drawn(self, since: float = 0.0) -> list[Moment]:
        """What has come since this was asked last, each as it was seen."""
        moments = []
        while self._drawn < len(self._came):
            at, content = self._came[self._drawn]
            self._screen.feed(content)
            moments.append(Moment(at - since, self._screen.seen()))
            self._drawn += 1
        return moments

    @property
    def seen(self) -> Seen:
        """What is to be seen, as far as it was drawn."""
        return self._screen.seen()

    def cpu(self) -> float:
        """Seconds of a processor that it took up to now."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) * _TICK

    def megabytes(self) -> float:
        """The memory that it has now."""
        status = Path(f"/proc/{self._pid}/status").read_text().splitlines()
        (line,) = (one for one in status if one.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024 / 1e6


def _become(command: list[str], given: Mapping[str, str]) -> None:
    try:
        os.execvpe(command[0], command, dict(given))
    finally:
        os._exit(127)
