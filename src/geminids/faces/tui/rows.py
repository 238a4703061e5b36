"""A session as one line of a list, and the box above the list: for the picker and the browser alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from rich.cells import cell_len

from geminids.core.names import project_name
from geminids.core.values import NamedTuple
from geminids.faces.tui.box import TextBox
from geminids.faces.tui.lines import Piece, cut, fitted
from geminids.faces.tui.matches import Line, Listed, Scope
from geminids.query.sessions.listing import is_running
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.text.values import Snippet

PROMPT = "> "
_AGENT, _AGENT_FROM = 7, 40
"""Columns of what stands before a title, and from how many on there is room for it."""
_MOST_WRITTEN_OUT = 9_999
"""Prompts; more are told in thousands."""
_HASH = 64
"""Letters of the hash of a folder."""
HINDERED = "⊗"
_REMEMBERED = 200


class Told(NamedTuple):
    """What a row is told of."""

    line: Line
    project: str
    now: datetime
    is_hindered: bool = False
    """Whether something stands in the way of resuming it."""


class Cell(NamedTuple):
    """Something that stands beside a title."""

    width: int
    """With the blank that parts it from what stands before it."""
    room_from: int
    """From how many columns on there is room for it."""
    of: Callable[[Told], Piece]
    is_number: bool = False
    keeps_end: bool = False


def _status(told: Told) -> Piece:
    session = told.line.session
    mark, style = ("✝", "warning") if session.kept else words.STATUS_MARKS.get(session.status, ("", ""))
    return Piece(mark, style)


def _state(told: Told) -> Piece:
    """Whether somebody is in it, or it will soon be deleted."""
    if is_running(told.line.session.last_at, told.now):
        return Piece("●", "good")
    return Piece("◷", "warning") if told.line.is_expiring else Piece("")


def _prompts(told: Told) -> Piece:
    prompts = told.line.session.counts.prompts
    return Piece(f"{prompts // 1000}k" if prompts > _MOST_WRITTEN_OUT else str(prompts or ""), "quiet")


def _cost(told: Told) -> Piece:
    from geminids.faces.drawing.amounts import dollars

    use = told.line.use
    return Piece(dollars(use.cost) if use and use.cost is not None else "", "quiet")


def age(at: datetime | None, now: datetime) -> str:
    """How long ago something was, in its largest unit alone."""
    if at is None:
        return ""
    seconds = int((now - at).total_seconds())
    units = (("y", 31_557_600), ("mo", 2_629_800), ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60))
    return next((f"{seconds // length}{unit}" for unit, length in units if seconds >= length), "now")


PROJECT = Cell(15, 66, lambda told: Piece(told.project, "quiet"), keeps_end=True)
WHEN = Cell(13, 50, lambda told: Piece(words.when(told.line.session.last_at, told.now), "quiet"))
AGE = Cell(6, 50, lambda told: Piece(age(told.line.session.last_at, told.now), "quiet"), is_number=True)
PROMPTS = Cell(5, 96, _prompts, is_number=True)
COST = Cell(9, 72, _cost, is_number=True)
STATE = Cell(2, 50, _state)
STATUS = Cell(2, 0, _status)
PICKED: Sequence[Cell] = (PROJECT, WHEN, STATUS)
BROWSED: Sequence[Cell] = (PROJECT, PROMPTS, COST, AGE, STATE, STATUS)


def cells_for(projects: Iterable[str], cells: Sequence[Cell] = PICKED) -> Sequence[Cell]:
    """Return the cells with a column of projects as wide as the longest name; titles have the rest."""
    longest = max(map(cell_len, projects), default=0)
    width = min(longest + 1, PROJECT.width)
    return [cell._replace(width=width) if cell is PROJECT else cell for cell in cells]


def session_row(told: Told, columns: int, cells: Sequence[Cell] = PICKED) -> list[Piece]:
    """A session in one line: its agent, what it is called, and what there is room for."""
    agent = told.line.session.agent
    before = [Piece(f"{HINDERED} ", "bad") if told.is_hindered else Piece("  ")]
    if columns >= _AGENT_FROM:
        before.append(Piece(cut(agent, _AGENT - 1) + " ", f"agent {agent}"))
    after = [_drawn(cell, cell.of(told)) for cell in cells if columns >= cell.room_from]
    room = columns - sum(cell_len(piece.text) for piece in (*before, *after))
    return [*before, *_title(told.line, room), *after]


class SessionRows:
    """Rows as they were drawn before: a list is drawn many times while one types, and seldom changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Told, int, Sequence[Cell], list[Piece]]] = {}

    def row(self, told: Told, columns: int, cells: Sequence[Cell]) -> list[Piece]:
        """A session in one line; made anew if it is told otherwise than before."""
        moment = told._replace(now=told.now.replace(second=0, microsecond=0))
        known = self._known.get(told.line.key)
        if known is None or known[:3] != (moment, columns, cells):
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            row = session_row(told, columns, cells)
            known = self._known[told.line.key] = (moment, columns, cells, row)
        return known[3]


def _drawn(cell: Cell, piece: Piece) -> Piece:
    width = cell.width - 1
    text = cut(piece.text, width, keeps_end=cell.keeps_end)
    return Piece(" " + (text.strip().rjust(width) if cell.is_number else text), piece.style)


def _title(line: Line, room: int) -> list[Piece]:
    mark = words.KIND_MARKS.get(line.session.kind, "")
    title = [Piece(" ".join(filter(None, (mark, line.name))))]
    if line.tags:
        title.append(Piece(f" {words.tags(line.tags)}", "tag"))
    return fitted(title, room)


def box_row(box: TextBox, columns: int, told: str, ghost: str = "") -> list[Piece]:
    """What was typed, what may follow, and on the right what came of it."""
    room = columns - cell_len(PROMPT) - cell_len(told) - 2
    if room < cell_len(box.text + ghost):
        before, widest = box.before_cursor, columns - cell_len(PROMPT) - 1
        if cell_len(before) > widest:
            before = cut(before, widest, keeps_end=True)
        after = box.text[box.cursor :]
        return fitted([Piece(PROMPT, "title"), Piece(before), Piece(after), Piece(ghost, "quiet")], columns)
    typed = [Piece(box.text), Piece(ghost, "quiet")]
    return [Piece(PROMPT, "title"), *fitted(typed, room), Piece(f" {told} ", "quiet")]


def cursor_column(box: TextBox, columns: int) -> int:
    """Where the next letter comes."""
    return min(cell_len(PROMPT + box.before_cursor), columns - 1)


def how_many(listed: Listed | None, scope: Scope) -> str:
    """How much there is, and where was looked."""
    if listed is None:
        return ""
    if listed.kinds is None:
        least = f"{listed.total:,}+ sessions"
        number = words.count(listed.total, "session") if listed.is_exact else least
    else:
        number = words.sessions(listed.kinds)
    where = (scope.agent, _project(scope.project), "deleted" if scope.kept else "")
    return " · ".join(filter(None, (number, *where)))


def _project(wanted: str | None) -> str:
    """What the project is called in which is looked; of a hash as much as tells it from others."""
    if wanted is None or wanted == ".":
        return "this project" if wanted else ""
    is_hash = len(wanted) == _HASH and wanted.isalnum()
    return f"project {project_name(None if is_hash else wanted, wanted, None)}"


def found_in(line: Line, columns: int) -> list[Piece]:
    """The words that it does not have, and a piece in which the others stand."""
    told = f"without {', '.join(line.missing)}  " if line.missing else ""
    missing = [Piece(told, "warning")] if told else []
    return [*missing, *(highlighted(line.snippets[0], columns - cell_len(told)) if line.snippets else [])]


def highlighted(snippet: Snippet, columns: int) -> list[Piece]:
    """Words with those among them that were looked for, of which the first is seen in so many columns."""
    done = _seen_from(snippet, columns)
    pieces = [Piece("…")] if done else []
    for start, end in snippet.spans:
        pieces += [Piece(snippet.text[done:start]), Piece(snippet.text[start:end], "match")]
        done = end
    return [*pieces, Piece(snippet.text[done:])]


def _seen_from(snippet: Snippet, columns: int) -> int:
    """With which letter it begins: with the first, or a word before what was looked for."""
    text = snippet.text
    start, end = snippet.spans[0] if snippet.spans else (0, 0)
    if cell_len(text[:end]) <= columns:
        return 0
    half, rest = columns // 2, columns - 1
    fits = (at for at in range(start) if cell_len(text[at:end]) <= half or cell_len(text[at:]) <= rest)
    begin = next(fits, start)
    return text.find(" ", begin, start) + 1 or begin
