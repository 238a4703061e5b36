"""What agents are going to delete, what of it is kept, and what was deleted and can be read from copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.names import project_names
from geminids.faces.drawing import keeping
from geminids.faces.tui.browser.columns import Column, heading_row, table_row
from geminids.faces.tui.browser.dialogs import worded
from geminids.faces.tui.browser.view import Help, Row, Seen, Stage, View, footer
from geminids.faces.tui.keys import Key, Typed
from geminids.faces.tui.lines import Piece, fitted
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.library import Library
    from geminids.query.health.forecast import Expiring
    from geminids.storage.index.values import SessionRow

EXPIRING = (
    Column("will be deleted", 19),
    Column("agent", 8, 50),
    Column("session", 20, grows=True),
    Column("project", 15, 90),
    Column("why", 18, 70),
    Column("copy", 5),
)
GONE = (
    Column("deleted, last used", 19),
    Column("agent", 8, 50),
    Column("session", 20, grows=True),
    Column("project", 15, 70),
)
_ABOUT = 5
"""Lines on the chosen session, at least: a rule, and what is to be known of it."""
_ABOUT_FROM = 18
"""Lines of the screen from which on there is room for them."""


class Entry(NamedTuple):
    """A line of the list: a session that can be opened, or something else to read."""

    row: Callable[[int], Row]
    """It in so many columns."""
    key: str | None = None
    """What means the session."""
    about: Sequence[str] = ()
    """Sentences on it."""


class State(NamedTuple):
    """How things stand."""

    verdict: str
    entries: Sequence[Entry]


class Keeping(View):
    """A verdict, the copies, the sessions that will be deleted, those that were."""

    keys = (
        Help("Enter", "read"),
        Help("↑↓", "choose"),
        Help("Esc", "back"),
    )

    def __init__(self, stage: Stage, open_session: Callable[[str], None]) -> None:
        super().__init__(stage)
        self._open_session = open_session
        self._state: State | None = None
        self._trouble = ""
        self._choosable: Sequence[int] = ()
        """Which of the lines are sessions."""
        self._number = 0
        """Which of those is chosen."""
        self._top, self._room, self._first_line = 0, 1, 0
        self.changed()

    def changed(self) -> None:
        """Ask, also for what is new."""
        now = self.stage.now
        self.stage.ask("keeping", lambda library: state(library, now), self._take, self._failed, is_slow=True)

    @property
    def chosen(self) -> Entry | None:
        """The session that Enter opens."""
        if self._state is None or not self._choosable:
            return None
        return self._state.entries[self._choosable[self._number]]

    def _take(self, found: State) -> None:
        chosen = self.chosen
        self._state, self._trouble = found, ""
        self._choosable = [at for at, entry in enumerate(found.entries) if entry.key]
        keys = [found.entries[at].key for at in self._choosable]
        number = keys.index(chosen.key) if chosen and chosen.key in keys else self._number
        self._number = max(0, min(number, len(keys) - 1))

    def _failed(self, error: Exception) -> None:
        self._trouble = str(error)

    # What comes in.

    def press(self, key: Key) -> None:
        """Choose, open, go back."""
        page = max(self._room - 1, 1)
        steps = {"up": -1, "down": 1, "page up": -page, "page down": page, "k": -1, "j": 1}
        steps |= {"home": -len(self._choosable), "end": len(self._choosable)}
        name = key.text if isinstance(key, Typed) else key
        if name in ("escape", "q"):
            self.stage.close()
        elif name == "enter" and (entry := self.chosen) and entry.key:
            self._open_session(entry.key)
        elif name in steps:
            self._go(steps[name])

    def click(self, column: int, line: int) -> None:
        """A click chooses a session, and opens the one that is chosen."""
        at = self._top + line - self._first_line
        if not (0 <= line - self._first_line < self._room and at in self._choosable):
            return
        number = self._choosable.index(at)
        if number == self._number:
            self.press("enter")
        self._number = number

    def wheel(self, column: int, line: int, by: int) -> None:
        """The wheel chooses."""
        self._go(by)

    def _go(self, by: int) -> None:
        """Choose another session, or scroll where there is none."""
        if self._choosable:
            self._number = max(0, min(self._number + by, len(self._choosable) - 1))
        else:
            self._top += by

    # What is seen.

    def seen(self, columns: int, height: int) -> Seen:
        """The verdict, the lines that fit, something on the chosen one, the keys."""
        if self._state is None:
            return self._waiting(columns, height)
        verdict = _indented(self._state.verdict, columns, "title")
        about = self._about(columns) if height >= _ABOUT_FROM else []
        # What the list leaves may be taken, too.
        spare = height - len(verdict) - len(self._state.entries) - 1
        about = about[: max(spare, _ABOUT)]
        self._first_line = len(verdict)
        self._room = max(height - len(verdict) - len(about) - 1, 1)
        self._scroll(len(self._state.entries))
        shown = self._state.entries[self._top : self._top + self._room]
        rows = [*verdict, *(entry.row(columns) for entry in shown), *([[]] * (self._room - len(shown)))]
        rows += [*about, footer(self.keys, columns)]
        if not self.chosen:
            return Seen(rows)
        chosen = self._first_line + self._choosable[self._number] - self._top
        return Seen(rows, range(chosen, chosen + 1))

    def _waiting(self, columns: int, height: int) -> Seen:
        told = self._trouble or "Looking at what agents will delete, and what is kept …"
        rows = _indented(told, columns, "warning" if self._trouble else "quiet")
        return Seen([*rows, *([[]] * (height - len(rows) - 1)), footer(self.keys, columns)])

    def _scroll(self, there: int) -> None:
        """See the chosen session; with the first of them all that stands above it, if that fits."""
        if self._choosable:
            at = self._choosable[self._number]
            top = 0 if self._number == 0 else self._top
            self._top = max(min(top, at), at - self._room + 1)
        self._top = max(0, min(self._top, there - self._room))

    def _about(self, columns: int) -> list[Row]:
        """A rule, and what is to be known of the chosen session; nothing where none is."""
        if self.chosen is None:
            return []
        rows = [row for sentence in self.chosen.about for row in _indented(sentence, columns, "quiet")]
        blank: list[Row] = [[]] * (_ABOUT - 1 - len(rows))
        return [[Piece("─" * columns, "frame")], *rows, *blank]


def _indented(text: str, columns: int, style: str) -> list[Row]:
    return [[Piece(" "), *row] for row in worded(text, columns - 2, style)]


# What is asked, in the thread that asks.


def state(library: Library, now: datetime) -> State:
    """What `geminids keep` tells, and the sessions that were deleted."""
    from geminids.query.sessions.listing import LED_BY_HUMANS, Filter

    found = library.kept.status(now)
    gone = library.listing(Filter(kept=True, kinds=LED_BY_HUMANS))
    told = words.sessions(gone.kinds) if gone.kinds else ""
    kept = keeping.Kept(found, told, _spelled, library.agent_title, library.sample)
    entries = [Entry(_fact_row(fact)) for fact in keeping.facts(kept)]
    entries += [Entry(_words_row(trouble, "warning")) for trouble in found.troubles]
    expiring = found.forecast.sessions()
    if expiring:
        entries += [_BLANK, Entry(lambda columns: heading_row(EXPIRING, columns))]
        entries += _expiring(library, expiring, keeping.remedies(kept), now)
    if gone.sessions:
        entries += [_BLANK, Entry(lambda columns: heading_row(GONE, columns))]
        entries += _gone(library, gone.sessions, now)
    return State(keeping.verdict(kept, now), entries)


def _spelled(*command: str) -> str:
    return " ".join(("geminids", *command))


def _expiring(
    library: Library, expiring: Sequence[Expiring], remedies: Mapping[str, str], now: datetime
) -> Iterator[Entry]:
    """The sessions that will be deleted, the soonest first."""
    from geminids.query.sessions.listing import Filter

    rows = {row.file: row for row in library.listing(Filter()).sessions}
    known = [row for one in expiring if (row := rows.get(one.first.file))]
    keys = dict(zip((row.file for row in known), library.keys(known), strict=True))
    for one in expiring:
        first = one.first
        about = [first.reason]
        if keeping.is_rubbish_among([first]):
            about.append(f"{keeping.MAY_BE_REPAIRED} `{_spelled('rescue')}`.")
        about += [remedies[first.agent]] if first.agent in remedies else []
        yield Entry(_expiring_row(one, now), keys.get(first.file, first.session_id), about)


def _gone(library: Library, sessions: Sequence[SessionRow], now: datetime) -> Iterator[Entry]:
    """The sessions of which only copies are left."""
    said = library.marks([session.id for session in sessions])
    names = project_names(session.project for session in sessions)
    for session, key in zip(sessions, library.keys(sessions), strict=True):
        marks = said.get(session.id)
        cells = (
            Piece(words.when(session.last_at, now), "quiet"),
            Piece(session.agent, f"agent {session.agent}"),
            Piece((marks and marks.name) or session.title or "untitled"),
            Piece(names[session.project], "quiet"),
        )
        about = (
            "Its files are gone; it is read from copies.",
            f"`{_spelled('restore', key)}` puts it back for {library.agent_title(session.agent)}.",
        )
        yield Entry(_cells_row(GONE, cells), key, about)


def _expiring_row(one: Expiring, now: datetime) -> Callable[[int], Row]:
    first = one.first
    cells = (
        Piece(keeping.due(first.at, now), "warning"),
        Piece(first.agent, f"agent {first.agent}"),
        Piece(first.title or PurePath(first.file).name),
        Piece(PurePath(first.project).name if first.project else "", "quiet"),
        Piece(keeping.cause_in_words(first.cause), "quiet"),
        Piece("kept", "good") if one.kept else Piece("none", "bad"),
    )
    return _cells_row(EXPIRING, cells)


def _cells_row(columns: Sequence[Column], cells: Sequence[Piece]) -> Callable[[int], Row]:
    return lambda room: table_row(columns, cells, room)


def _fact_row(fact: keeping.Fact) -> Callable[[int], Row]:
    return lambda room: fitted([Piece(f" {fact.label:<{keeping.LABEL}}", "quiet"), Piece(fact.value)], room)


def _words_row(text: str, style: str) -> Callable[[int], Row]:
    return lambda room: fitted([Piece(f" {text}", style)], room)


_BLANK = Entry(lambda _: [])
