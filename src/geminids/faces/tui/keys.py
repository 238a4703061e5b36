"""What a terminal sends, as keys and words.

A key is a name such as `up`; whatever else is typed or pasted is a `Typed`. Sequences that are not known
here are dropped whole, so that no piece of one is taken for words.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator

from geminids.core.values import NamedTuple


class Typed(NamedTuple):
    """Words that were typed or pasted."""

    text: str


Key = str | Typed

_NAMES = {
    "\r": "enter",
    "\n": "enter",  # what a terminal makes of it that is typed before the keys are read one by one
    "\t": "tab",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x01": "home",
    "\x03": "interrupt",
    "\x04": "delete",
    "\x05": "end",
    "\x0b": "up",  # Ctrl-K
    "\x0c": "redraw",
    "\x0e": "down",
    "\x10": "up",
    "\x14": "scope",
    "\x15": "clear",
    "\x17": "delete word",
    "\x1a": "suspend",
}
_SEQUENCES = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "Z": "shift tab",
    "1~": "home",
    "3~": "delete",
    "4~": "end",
    "5~": "page up",
    "6~": "page down",
    "7~": "home",
    "8~": "end",
}
_SEQUENCE = re.compile(r"(?s)\x1b(?:\[(M...|[0-?]*[ -/]*[@-~])|O([@-~]))")
_UNFINISHED = re.compile(r"(?s)\x1b(?:\[(?:M.{0,2}|[0-?]*[ -/]*)|O)?\Z")
_BROKEN = re.compile(r"\x1b\[[0-?]*[ -/]*")
_PASTE_BEGINS, _PASTE_ENDS = "200~", "\x1b[201~"
_INTERRUPT = "\x03"
_ESCAPE_WAITS = 0.03
"""Seconds until a lone Escape is the key and no beginning of another."""
_PASTE_WAITS = 2.0
"""Seconds until a paste that goes on over a slow line is taken as it is; a line end in it is no Enter."""


class KeyReader:
    """Makes keys of bytes, which may end anywhere."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._waiting = ""

    @property
    def is_waiting(self) -> bool:
        """Whether more may follow that belongs to what is there: else it is Escape, or all of a paste."""
        return bool(self._waiting)

    @property
    def patience(self) -> float:
        """Seconds until nothing follows."""
        return _PASTE_WAITS if self._is_pasting else _ESCAPE_WAITS

    @property
    def _is_pasting(self) -> bool:
        return self._waiting.startswith(f"\x1b[{_PASTE_BEGINS}")

    def read(self, content: bytes) -> Iterator[Key]:
        """The keys in what came, and in what was waiting for it."""
        text = self._waiting + self._decoder.decode(content)
        self._waiting = ""
        while text:
            key, text = self._first(text)
            if key is None:
                self._waiting = text
                return
            if key:
                yield key

    def give_up_waiting(self) -> Iterator[Key]:
        """Nothing follows: an Escape that stands alone is the key of that name."""
        waiting, is_pasting, self._waiting = self._waiting, self._is_pasting, ""
        if waiting == "\x1b":
            yield "escape"
        elif is_pasting:
            yield _pasted(waiting.removeprefix(f"\x1b[{_PASTE_BEGINS}"))

    def _first(self, text: str) -> tuple[Key | None, str]:
        """The first key and what follows it; None if it is not there as a whole, `""` if it is no key."""
        if text[0] == "\x1b":
            return self._sequence(text)
        if text[0] in _NAMES:
            return _NAMES[text[0]], text[1:]
        end = next((at for at, letter in enumerate(text) if not letter.isprintable()), len(text))
        return (Typed(text[:end]), text[end:]) if end else ("", text[1:])

    def _sequence(self, text: str) -> tuple[Key | None, str]:
        found = _SEQUENCE.match(text)
        if found is None and _UNFINISHED.match(text):
            return None, text
        if found is None:
            broken = _BROKEN.match(text)
            return ("", text[broken.end() :]) if broken else ("escape", text[1:])
        sequence, rest = found[1] or found[2], text[found.end() :]
        if sequence != _PASTE_BEGINS:
            return _SEQUENCES.get(sequence, ""), rest
        pasted, ends, rest = rest.partition(_PASTE_ENDS)
        if not ends and _INTERRUPT in pasted:
            # Ctrl-C ends a paste that has no end.
            return _pasted(pasted), _INTERRUPT
        return (_pasted(pasted), rest) if ends else (None, text)


def _pasted(words: str) -> Typed:
    """Words of any lines as one."""
    return Typed("".join(filter(str.isprintable, " ".join(words.split()))))
