"""Terminals as lines of styled words: no escape reaches a page, and colours are names of classes.

What agents recorded of a screen are cells with colours as numbers; what tools printed holds escapes. Both are
told in the sixteen colours that every theme has; any other colour is the nearest of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from geminids.core.model import Screen
from geminids.faces.documents.parts import Output, Run
from geminids.sharing.transcript import safe

MOST_LINES = 400
MOST_LETTERS = 60_000
"""Of an output in a page; all of it has an address of its own."""

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_COLOURS = (*_NAMES, *(f"bright-{name}" for name in _NAMES))
_VALUES = (
    *((0, 0, 0), (128, 0, 0), (0, 128, 0), (128, 128, 0), (0, 0, 128), (128, 0, 128), (0, 128, 128)),
    *((192, 192, 192), (128, 128, 128), (255, 0, 0), (0, 255, 0), (255, 255, 0), (0, 0, 255)),
    *((255, 0, 255), (0, 255, 255), (255, 255, 255)),
)
_STEPS = (0, 95, 135, 175, 215, 255)
"""Of the cube of 256 colours."""
_SWITCHES = ("bold", "dim", "italic", "underline", "inverse")
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",)}
_HEX = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})")
_ESCAPE = re.compile(
    r"\x1b\[(?P<style>[0-9;:]*)m"  # a style
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # any other control of the screen
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles, links, the clipboard
    r"|\x1b[ -/]*[0-~]"
)


def output(words: str) -> Output | None:
    """What a tool printed; None if that is nothing."""
    if not words.strip():
        return None
    if "\x1b" not in words:
        shown = _beginning(words)
        return Output(text=safe.text(shown), lines=None, is_cut=len(shown) < len(words))
    shown = words[:MOST_LETTERS]
    lines = list(islice(_styled(shown), MOST_LINES))
    is_cut = len(shown) < len(words) or shown.count("\n") >= MOST_LINES
    return Output(text=None, lines=lines, is_cut=is_cut)


def screen(recorded: Screen) -> Output | None:
    """A terminal as an agent recorded it."""
    text = recorded.text
    if not text.strip():
        return None
    height = text.count("\n") + 1
    lines = [_line(line) for line in recorded.cells[: min(height, MOST_LINES)]]
    return Output(text=None, lines=lines, is_cut=height > MOST_LINES)


def _beginning(words: str) -> str:
    """So much of a text as is shown, in whole lines where it can be."""
    cut = words[:MOST_LETTERS]
    lines = cut.split("\n", MOST_LINES)
    return cut if len(lines) <= MOST_LINES else "\n".join(lines[:MOST_LINES])


# Recorded cells


def _line(cells: Any) -> Sequence[Run]:
    runs = [run for cell in cells if (run := _run(cell))] if isinstance(cells, list) else []
    if runs and "inverse" not in runs[-1].style and "bg-" not in runs[-1].style:
        runs[-1] = Run(text=runs[-1].text.rstrip(), style=runs[-1].style)
    return [run for run in runs if run.text]


def _run(cell: Any) -> Run | None:
    match cell:
        case {"text": str(text)}:
            switches = [name for name in _SWITCHES if cell.get(name) is True]
            return Run(text=safe.line(text), style=" ".join([*switches, *_cell_colours(cell)]))
        case str(text):
            return Run(text=safe.line(text), style="")
        case _:
            return None


def _cell_colours(cell: dict[str, Any]) -> Iterator[str]:
    for ground in ("fg", "bg"):
        written = cell.get(ground)
        if isinstance(written, str) and (found := _HEX.fullmatch(written)):
            yield f"{ground}-{_nearest(*(int(part, 16) for part in found.groups()))}"


# Escapes


class _Style:
    """What is switched on."""

    def __init__(self) -> None:
        self._on: dict[str, None] = {}
        self._colours: dict[str, str] = {}

    def __str__(self) -> str:
        return " ".join([*(name for name in _SWITCHES if name in self._on), *self._colours.values()])

    def change(self, written: str) -> None:
        """Follow one escape."""
        codes = iter([int(code[:4]) if code else 0 for code in re.split("[;:]", written)])
        for code in codes:
            self._follow(code, codes)

    def _follow(self, code: int, rest: Iterator[int]) -> None:
        match code:
            case 0:
                self._on, self._colours = {}, {}
            case 1 | 2 | 3 | 4 | 7:
                self._on[_ON[code]] = None
            case 22 | 23 | 24 | 27:
                for name in _OFF[code]:
                    self._on.pop(name, None)
            case 39 | 49:
                self._colours.pop("fg" if code == 39 else "bg", None)
            case 38 | 48:
                self._colour("fg" if code == 38 else "bg", _other_colour(rest))
            case _ if 30 <= code <= 37 or 90 <= code <= 97:
                self._colour("fg", _COLOURS[code - 30 if code < 90 else code - 82])
            case _ if 40 <= code <= 47 or 100 <= code <= 107:
                self._colour("bg", _COLOURS[code - 40 if code < 100 else code - 92])

    def _colour(self, ground: str, name: str | None) -> None:
        if name:
            self._colours[ground] = f"{ground}-{name}"


def _other_colour(rest: Iterator[int]) -> str | None:
    """One of 256 colours, or of all."""
    match next(rest, None):
        case 5:
            return _of_256(next(rest, 0))
        case 2:
            parts = [min(part, 255) for part in islice(rest, 3)]
            return _nearest(*parts) if len(parts) == 3 else None
        case _:
            return None


def _styled(words: str) -> Iterator[list[Run]]:
    style, line = _Style(), list[Run]()
    for piece, change in _pieces(words):
        first, *others = piece.split("\n")
        line += _words(first, str(style))
        for other in others:
            yield line
            line = _words(other, str(style))
        if change is not None:
            style.change(change)
    if line:
        yield line


def _pieces(words: str) -> Iterator[tuple[str, str | None]]:
    """Words between escapes, and the style that begins after them."""
    begin = 0
    for found in _ESCAPE.finditer(words):
        yield words[begin : found.start()], found["style"]
        begin = found.end()
    yield words[begin:], None


def _words(text: str, style: str) -> list[Run]:
    # What a line writes over itself, as bars of progress do, is seen in its last state.
    shown = safe.line(text.rstrip("\r").rpartition("\r")[2])
    return [Run(text=shown, style=style)] if shown else []


@cache
def _of_256(code: int) -> str:
    if code < 16:
        return _COLOURS[max(code, 0)]
    if code >= 232:
        grey = 8 + 10 * (min(code, 255) - 232)
        return _nearest(grey, grey, grey)
    red, green, blue = (code - 16) // 36, (code - 16) // 6 % 6, (code - 16) % 6
    return _nearest(_STEPS[red], _STEPS[green], _STEPS[blue])


@cache
def _nearest(red: int, green: int, blue: int) -> str:
    distances = (_distance(value, (red, green, blue)) for value in _VALUES)
    return min(zip(distances, _COLOURS, strict=True))[1]


def _distance(one: Iterable[int], other: Iterable[int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
