"""The picker: a box to type into, the sessions that fit, and which of them is chosen.

Keys go in, and what is to be listed comes out; it knows no terminal and no library. `view.py` says what it
looks like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geminids.core.agents import available as known_agents
from geminids.core.names import project_names
from geminids.faces.tui.box import TextBox
from geminids.faces.tui.cursor import Cursor
from geminids.faces.tui.keys import Key
from geminids.faces.tui.matches import Asked, Line, Listed, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.index.values import ProjectRow

_ABOUT = 4
"""Lines on the chosen session and the rule above them, where the screen is high enough."""
_HIGH = 14
_AHEAD = 2
"""How many screens of sessions are asked for beyond the one that is seen."""


class Picker:
    """What was typed, what is listed and which line is chosen."""

    def __init__(self, scopes: Sequence[Scope], typed: str = "") -> None:
        """Of the scopes the first is looked in, until another is asked for."""
        self.box = TextBox(typed)
        self.listed: Listed | None = None
        self.projects: Mapping[ProjectRow, str] = {}
        """What those of the sessions that are listed are called."""
        self.columns, self.height = 80, 24
        self.order = "date"
        self.per_session = 1
        """How many messages of each session are looked at."""
        self._scopes = list(scopes)
        self._agents: list[str | None] = [None, *known_agents()]
        self.cursor = Cursor()
        self._is_entered = False
        """Whether Enter was pressed before the answer came to what was typed."""

    @property
    def asked(self) -> Asked:
        """What is to be listed now."""
        needed = self.cursor.number + self.rows * (1 + _AHEAD)
        # In powers of two, so that a step down asks for more only now and then.
        limit = 1 << (needed - 1).bit_length()
        # Who goes down a list that is as long as the screen may want what follows.
        is_awaited = self.cursor.number > 0 and self._there == self.rows
        at_once = limit if is_awaited or self.cursor.number >= self.rows else self.rows
        return Asked(self.box.text, self.scope, limit, self.order, at_once, self.per_session)

    @property
    def scope(self) -> Scope:
        """Among which sessions is looked."""
        return self._scopes[0]._replace(agent=self._agents[0])

    @property
    def next_scope(self) -> Scope | None:
        """Among which others one may look; None if there are none."""
        return self._scopes[1] if len(self._scopes) > 1 else None

    @property
    def chosen(self) -> Line | None:
        """The line that Enter takes."""
        lines = self.listed.lines if self.listed else ()
        return lines[self.cursor.number] if self.cursor.number < len(lines) else None

    @property
    def has_answer(self) -> bool:
        """Whether what is listed is the answer to what was typed."""
        return self.listed is not None and self.listed.asked.is_like(self.asked)

    @property
    def decided(self) -> Line | None:
        """The line that was taken; None as long as none is."""
        return self.chosen if self._is_entered and self.has_answer else None

    @property
    def seen(self) -> Sequence[Line]:
        """The lines for which there is room."""
        return self.listed.lines[self.cursor.top : self.cursor.top + self.rows] if self.listed else ()

    @property
    def has_about(self) -> bool:
        """Whether there is room to tell more of the chosen session."""
        return self.height >= _HIGH

    @property
    def rows(self) -> int:
        """For how many sessions there is room."""
        return max(self.height - 2 - (_ABOUT if self.has_about else 0), 1)

    def resize(self, columns: int, height: int) -> None:
        """Fit onto a screen."""
        self.columns, self.height = columns, height
        self.choose(self.cursor.number)

    def take(self, listed: Listed) -> None:
        """Show an answer. The same session stays chosen and in its place, unless something else was asked."""
        before, line = self.listed, self.chosen
        self.listed = listed
        self.projects = project_names(one.session.project for one in listed.lines)
        is_first = before is None and not listed.asked.typed
        if is_first and not listed.lines and listed.asked.scope.project and self.next_scope:
            # Nothing was done in this folder yet.
            self.to_next_scope()
        if before is None or not before.asked.is_like(listed.asked):
            self.choose(0)
            return
        keys = [one.key for one in listed.lines]
        number = keys.index(line.key) if line is not None and line.key in keys else self.cursor.number
        if self.cursor.top:
            # Who looks at older ones does not see newer ones come.
            self.cursor.top = max(self.cursor.top + number - self.cursor.number, 0)
        self.choose(number)

    def press(self, key: Key) -> bool:
        """Do what a key says; whether somebody wants to go on choosing."""
        self._is_entered = key == "enter"
        if self.box.press(key):
            return True
        match key:
            case "interrupt":
                return False
            case "escape":
                return bool(self.box.text) and self.box.press("clear")
            case "up" | "down" | "page up" | "page down":
                self.cursor.press(key, self._there, self.rows)
            case "tab" | "shift tab":
                self.to_next_agent(1 if key == "tab" else -1)
            case "scope":
                self.to_next_scope()
        return True

    def to_next_agent(self, by: int = 1) -> None:
        """Look at the sessions of another agent, or of all."""
        self._agents = [*self._agents[by:], *self._agents[:by]]

    def to_agent(self, agent: str | None) -> None:
        """Look at the sessions of this agent; None: of all."""
        self.to_next_agent(self._agents.index(agent))

    def settle(self) -> None:
        """What was entered was taken."""
        self._is_entered = False

    def to_next_scope(self) -> None:
        """Look elsewhere."""
        self._scopes = [*self._scopes[1:], self._scopes[0]]

    def choose(self, number: int) -> None:
        """Choose a line by its number, and see it."""
        self.cursor.choose(number, self._there, self.rows)

    @property
    def _there(self) -> int:
        return len(self.listed.lines) if self.listed else 0
