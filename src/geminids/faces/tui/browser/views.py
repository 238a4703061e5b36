"""The views beside the list, each behind a key, with a line above them that tells which is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from geminids.core.values import NamedTuple
from geminids.faces.tui.browser.view import Help, Row, Seen, Stage, View
from geminids.faces.tui.keys import Key
from geminids.faces.tui.lines import Piece, fitted

LIST = "f2"


class Opening(NamedTuple):
    """What the list does for the views beside it."""

    project: Callable[[str], None]
    """List the sessions of the project that is meant."""
    session: Callable[[str], None]
    """Open the session that is meant."""


class Named(NamedTuple):
    """A view beside the list."""

    key: str
    name: str
    make: Callable[[Stage, Opening], View]


# What one of them needs is loaded when it is first seen: the list is there sooner without.


def _projects(stage: Stage, opening: Opening) -> View:
    from geminids.faces.tui.browser.projects import Projects

    return Projects(stage, opening.project)


def _usage(stage: Stage, _: Opening) -> View:
    from geminids.faces.tui.browser.usage import Usage

    return Usage(stage)


def _keeping(stage: Stage, opening: Opening) -> View:
    from geminids.faces.tui.browser.keeping import Keeping

    return Keeping(stage, opening.session)


VIEWS: Sequence[Named] = (
    Named("f3", "Projects", _projects),
    Named("f4", "Usage", _usage),
    Named("f5", "Keeping", _keeping),
)
KEYS = frozenset(view.key for view in VIEWS)
_SWITCHING = Help("F2 to F5", "sessions, projects, usage, what is kept")


class Views(View):
    """One of them at a time; each stays as it was left while others are looked at."""

    def __init__(
        self,
        stage: Stage,
        key: str,
        to_project: Callable[[str, Callable[[], None]], None],
        to_session: Callable[[str], None],
    ) -> None:
        """`to_project` lists the sessions of a project, and calls its second argument to go back."""
        super().__init__(stage)
        self._opening = Opening(self._open_project, to_session)
        self._to_project = to_project
        self._made: dict[str, View] = {}
        self._old: set[str] = set()
        """Those that are to ask again as soon as they are looked at."""
        self._places: Sequence[tuple[range, str]] = ()
        self._show(key)

    @property
    def shown(self) -> View:
        """The one that is seen."""
        return self._made[self._key]

    def _show(self, key: str) -> None:
        self._key = key
        if key not in self._made:
            make = next(view.make for view in VIEWS if view.key == key)
            self._made[key] = make(self.stage, self._opening)
        elif key in self._old:
            self.shown.changed()
        self._old.discard(key)
        self.keys = (*self.shown.keys, _SWITCHING)

    def _open_project(self, wanted: str) -> None:
        """Go back to the list, which shows the sessions of the project."""
        self.stage.close()
        self._to_project(wanted, self._reopen)

    def _reopen(self) -> None:
        """Show the view again as it was left, with what is new."""
        self.stage.open(self)
        self.changed()

    def press(self, key: Key) -> None:
        """Go to another one, or back to the list; everything else is for the one that is seen."""
        if key == LIST:
            self.stage.close()
        elif key in KEYS:
            self._show(str(key))
        else:
            self.shown.press(key)

    def click(self, column: int, line: int) -> None:
        """A click on the name of a view shows it."""
        if line > 0:
            self.shown.click(column, line - 1)
            return
        for columns, key in self._places:
            if column in columns:
                self.press(key)

    def wheel(self, column: int, line: int, by: int) -> None:
        """The wheel is for the one that is seen."""
        self.shown.wheel(column, line - 1, by)

    def look(self) -> None:
        """Take in what is new."""
        self.shown.look()

    def changed(self) -> None:
        """Have the one that is seen ask again; the others when they are."""
        self._old = self._made.keys() - {self._key}
        self.shown.changed()

    def closed(self) -> None:
        """Let go of all of them."""
        for view in self._made.values():
            view.closed()

    def seen(self, columns: int, height: int) -> Seen:
        """The names of all, and the one that is seen below them."""
        below = self.shown.seen(columns, height - 1)
        chosen = range(below.chosen.start + 1, below.chosen.stop + 1) if below.chosen else range(0)
        return Seen([self._names(columns), *below.rows], chosen, below.chosen_until)

    def _names(self, columns: int) -> Row:
        pieces, places, at = [Piece(" ")], [], 1
        for key, name in ((LIST, "Sessions"), *((view.key, view.name) for view in VIEWS)):
            told = f"[{name}]" if key == self._key else f" {name} "
            style = "title" if key == self._key else "quiet"
            pieces += [Piece(key.upper(), "key"), Piece(told, style), Piece(" ")]
            end = at + cell_len(key + told) + 1
            places.append((range(at, end), key))
            at = end
        self._places = places
        return fitted(pieces, columns)
