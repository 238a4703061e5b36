"""The session that somebody chooses on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from geminids.core.agents import available as known_agents
from geminids.core.values import NamedTuple
from geminids.faces.drawing.styles import agent_colours, escape_codes
from geminids.faces.tui.asker import Asker
from geminids.faces.tui.lines import COLOURED, UNCOLOURED, drawn
from geminids.faces.tui.matches import Asked, Scope
from geminids.faces.tui.picker import Picker
from geminids.faces.tui.terminal import Terminal
from geminids.faces.tui.view import screen_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.tui.asker import OpenLibrary


class Chosen(NamedTuple):
    """A session that was chosen."""

    key: str
    """What means it."""
    message: int | None
    """The number of the message in which the words stand, from 1."""
    words: str
    """What was typed to find it."""


def pick(
    open_library: OpenLibrary,
    verb: str,
    scopes: Sequence[Scope],
    now: datetime,
    *,
    has_colour: bool,
) -> Chosen | None:
    """Show the sessions until one is chosen; None if nobody wants one.

    `verb` says what becomes of it.
    """
    with Terminal() as terminal:
        asker = Asker(open_library, now, terminal.wake)
        try:
            return _Loop(terminal, asker, Picker(scopes), _styles(has_colour=has_colour)).run(verb, now)
        finally:
            asker.close()


def _styles(*, has_colour: bool) -> dict[str, str]:
    if not has_colour:
        return UNCOLOURED
    colours = agent_colours(known_agents())
    return {**COLOURED, **{f"agent {name}": escape_codes(colour) for name, colour in colours.items()}}


class _Loop:
    """Hands on keys, questions and answers until the choice is made."""

    def __init__(self, terminal: Terminal, asker: Asker, picker: Picker, styles: dict[str, str]) -> None:
        self._terminal = terminal
        self._asker = asker
        self._picker = picker
        self._styles = styles
        self._asked: Asked | None = None

    def run(self, verb: str, now: datetime) -> Chosen | None:
        """The session that was chosen."""
        while True:
            self._look()
            if line := self._picker.decided:
                return Chosen(line.key, line.message, self._picker.box.text)
            self._draw(verb, now)
            if not all(map(self._picker.press, self._terminal.keys())):
                return None

    def _look(self) -> None:
        """Take in what is new: the size of the screen, an answer, an error; ask what is to be asked."""
        if self._asker.error:
            raise self._asker.error
        self._picker.resize(*self._terminal.size)
        listed = self._asker.listed
        if listed is not None and listed is not self._picker.listed:
            self._picker.take(listed)
        if self._picker.asked != self._asked:
            self._asked = self._picker.asked
            self._asker.ask(self._asked)

    def _draw(self, verb: str, now: datetime) -> None:
        screen = screen_of(self._picker, verb, now, self._asker.said)
        lines = [
            drawn(pieces, self._styles, is_chosen=number == screen.chosen)
            for number, pieces in enumerate(screen.lines)
        ]
        self._terminal.draw(lines, screen.cursor)
