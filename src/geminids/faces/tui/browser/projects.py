"""The projects that sessions were worked in: type to find one, Enter lists its sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.faces.drawing.amounts import dollars, short
from geminids.faces.drawing.projects import is_guessed, known_by, sessions_in
from geminids.faces.tui.box import TextBox
from geminids.faces.tui.browser.columns import Column, heading_row, table_row
from geminids.faces.tui.browser.dialogs import worded
from geminids.faces.tui.browser.view import Help, Row, Seen, Stage, View, footer, with_cursor
from geminids.faces.tui.cursor import Cursor
from geminids.faces.tui.keys import Key
from geminids.faces.tui.lines import Piece, fitted
from geminids.faces.tui.rows import box_row, cursor_column
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.model import Project
    from geminids.library import Library
    from geminids.query.projects.report import ProjectReport
    from geminids.query.usage.figures import Figures

COLUMNS = (
    Column("project", 16, grows=True),
    Column("sessions", 9, is_number=True),
    Column("prompts", 8, 70, is_number=True),
    Column("tokens", 8, 110, is_number=True),
    Column("cost", 11, 76, is_number=True),
    Column("last used", 13),
    Column("folder", 17, 76, grows=True, keeps_end=True),
    Column("", 2),
)
_ABOUT = 4
"""Lines on the chosen project: a rule, its folder, two on what is wrong with that."""
_ABOUT_FROM = 14
"""Lines of the screen from which on there is room for them."""
_ABOVE = 2
"""The box and the headings."""
MARKS = {"gone": "✗", "guessed": "?", "unknown": "–"}


class ProjectLine(NamedTuple):
    """A project of the list."""

    name: str
    wanted: str
    """What means it where sessions are asked for."""
    report: ProjectReport
    used: Figures
    state: str = ""
    """Of its folder: `gone`, `guessed`, `unknown`; nothing where all is well."""

    @property
    def folder(self) -> str:
        """Its folder as people write it; nothing if it is not known."""
        path = self.report.project.path
        return words.path(path) if path else ""

    def has(self, typed: Sequence[str]) -> bool:
        """Whether all words that were typed stand in what is told of it."""
        told = " ".join((self.name, self.folder, *self.report.agents)).casefold()
        return all(word in told for word in typed)


class Projects(View):
    """All projects, the last used first."""

    keys = (
        Help("Enter", "its sessions"),
        Help("↑↓", "choose"),
        Help("Esc", "clear, then back"),
    )

    def __init__(self, stage: Stage, open_project: Callable[[str], None]) -> None:
        super().__init__(stage)
        self._open_project = open_project
        self._box = TextBox()
        self._cursor = Cursor()
        self._all: Sequence[ProjectLine] | None = None
        self._trouble = ""
        self._list_rows = 1
        self.changed()

    def changed(self) -> None:
        """Ask, also for what is new."""
        now = self.stage.now
        self.stage.ask(
            "projects", lambda library: project_lines(library, now), self._take, self._failed, is_slow=True
        )

    @property
    def lines(self) -> list[ProjectLine]:
        """Those that have what was typed."""
        typed = self._box.text.casefold().split()
        return [line for line in self._all or () if line.has(typed)]

    @property
    def chosen(self) -> ProjectLine | None:
        """The one that Enter opens."""
        lines = self.lines
        return lines[self._cursor.number] if self._cursor.number < len(lines) else None

    def _take(self, found: Sequence[ProjectLine]) -> None:
        chosen = self.chosen
        self._all, self._trouble = found, ""
        same = (at for at, line in enumerate(self.lines) if chosen and line.wanted == chosen.wanted)
        self._cursor.number = next(same, self._cursor.number)

    def _failed(self, error: Exception) -> None:
        self._trouble = str(error)

    # What comes in.

    def press(self, key: Key) -> None:
        """Type, choose, open, go back."""
        if key == "escape" and not self._box.text:
            self.stage.close()
        elif key == "escape":
            self._box.press("clear")
            self._cursor = Cursor()
        elif key == "enter" and (line := self.chosen):
            self._open_project(line.wanted)
        elif key in ("up", "down", "page up", "page down"):
            self._cursor.press(key, len(self.lines), self._list_rows)
        elif self._box.press(key):
            self._cursor = Cursor()

    def click(self, column: int, line: int) -> None:
        """A click chooses, and opens the one that is chosen."""
        number = self._cursor.top + line - _ABOVE
        if not (0 <= line - _ABOVE < self._list_rows and number < len(self.lines)):
            return
        if number == self._cursor.number:
            self.press("enter")
        else:
            self._cursor.choose(number, len(self.lines), self._list_rows)

    def wheel(self, column: int, line: int, by: int) -> None:
        """The wheel chooses."""
        self._cursor.choose(self._cursor.number + by, len(self.lines), self._list_rows)

    # What is seen.

    def seen(self, columns: int, height: int) -> Seen:
        """The box, the projects, something on the chosen one, the keys."""
        about = _ABOUT if height >= _ABOUT_FROM else 0
        self._list_rows = max(height - _ABOVE - about - 1, 1)
        lines = self.lines
        self._cursor.choose(self._cursor.number, len(lines), self._list_rows)
        rows: list[Row] = [self._typed(columns), heading_row(COLUMNS, columns)]
        rows += self._listed(lines, columns) if lines else [self._nothing(columns)]
        rows += [[]] * (_ABOVE + self._list_rows - len(rows))
        if about:
            rows += [[Piece("─" * columns, "frame")], *self._about(columns)]
        chosen = _ABOVE + self._cursor.seen
        keys = footer(self.keys, columns)
        return Seen([*rows, keys], range(chosen, chosen + 1) if lines else range(0))

    def _typed(self, columns: int) -> Row:
        told = words.count(len(self.lines), "project") if self._all is not None else ""
        row = box_row(self._box, columns - 1, told)
        return with_cursor(row, cursor_column(self._box, columns - 1))

    def _listed(self, lines: Sequence[ProjectLine], columns: int) -> list[Row]:
        top = self._cursor.top
        now = self.stage.now
        return [_row(line, now, columns) for line in lines[top : top + self._list_rows]]

    def _nothing(self, columns: int) -> Row:
        if self._trouble:
            return fitted([Piece(f"  {self._trouble}", "warning")], columns)
        if self._all is None:
            return fitted([Piece("  Reading what is known of projects …", "quiet")], columns)
        sentence = "No project has these words. Esc clears them." if self._all else "No project is known."
        return fitted([Piece(f"  {sentence}", "warning")], columns)

    def _about(self, columns: int) -> list[Row]:
        line = self.chosen
        if line is None:
            return [[]] * (_ABOUT - 1)
        explained = worded(explained_state(line), columns - 2, "warning") if line.state else []
        rows: list[Row] = [fitted([Piece(f" {facts_of(line)}", "quiet")], columns)]
        rows += [[Piece(" "), *row] for row in explained]
        return [*rows, [], []][: _ABOUT - 1]


def _row(line: ProjectLine, now: datetime, columns: int) -> Row:
    report, tokens = line.report, line.used.tokens
    cells = (
        Piece(line.name, "name"),
        Piece(sessions_in(report)),
        Piece(str(line.used.prompts or ""), "quiet"),
        Piece(short(tokens.total) if tokens.total is not None else "", "quiet"),
        Piece(dollars(tokens.cost) if tokens.cost is not None else "", "quiet"),
        Piece(words.when(report.last, now), "quiet"),
        Piece(line.folder, "quiet"),
        Piece(MARKS.get(line.state, ""), "warning"),
    )
    return table_row(COLUMNS, cells, columns)


def facts_of(line: ProjectLine) -> str:
    """Where it is, how that is known, who worked there and how much there is of it."""
    report = line.report
    pieces = (
        line.folder,
        f"folder from {known_by(report)}" if report.project.known_by else "",
        " ".join(report.agents),
        words.count(report.subagents, "subagent") if report.subagents else "",
        words.size(report.bytes),
    )
    return " · ".join(filter(None, pieces))


def explained_state(line: ProjectLine) -> str:
    """What a mark means, and what one can do about it."""
    hashed = (line.report.project.hash or "")[:8]
    link = f" `geminids projects link {hashed} FOLDER` sets another." if hashed else ""
    match line.state:
        case "gone":
            return f"The folder is not there. Its sessions can be read.{link}"
        case "guessed":
            return f"The folder is a guess.{link}"
        case "unknown" if hashed:
            return f"The folder is not known, only its hash {hashed}. `geminids projects resolve` searches."
        case "unknown":
            return "The folder is not known: no record names it."
        case _:
            return ""


# What is asked, in the thread that asks.


def project_lines(library: Library, now: datetime) -> list[ProjectLine]:
    """The projects that `geminids projects` lists, with the numbers of `geminids stats --by project`."""
    from geminids.core.names import project_names
    from geminids.query.usage.stats import StatsQuestion

    reports = library.projects(now).projects
    found = library.stats(StatsQuestion(by="project"), now)
    groups = {group.key: group for group in found.groups}
    names = project_names(report.project for report in reports)
    lines = []
    for report in reports:
        keys = dict.fromkeys(map(_key, (report.project, *report.also)))
        used = found.together(groups[key] for key in keys if key in groups)
        wanted = _key(report.project)
        lines.append(ProjectLine(names[report.project], wanted, report, used, state_of(report.project)))
    return lines


def state_of(project: Project) -> str:
    """What is to be said of its folder, if anything is."""
    if not project.path:
        return "unknown"
    if is_guessed(project):
        return "guessed"
    # pathlib raises where a folder above it is closed.
    return "" if os.path.isdir(project.path) else "gone"  # noqa: PTH112


def _key(project: Project) -> str:
    return project.path or project.hash or project.slug or ""
