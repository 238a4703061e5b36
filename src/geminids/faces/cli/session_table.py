"""Sessions one below the other, as `list` and the overview draw them: which columns there are, and what fits.

when    agent  project  title              the columns that are usual leave in an order of their own where
title   cost   model    …                  there is no room; those that were asked for leave from the last
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from geminids.core.names import project_names
from geminids.core.values import NamedTuple
from geminids.faces.cli.sessions import marks_of, short_names
from geminids.faces.cli.talk import say
from geminids.faces.drawing.page import Column, DrawnPage, Page, Span
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.cli.sessions import Session
    from geminids.library import Library
    from geminids.query.usage.by_session import SessionUse
    from geminids.storage.durable.values import Marks

LOST, CHECKPOINT = "lost", "checkpoint"
DELETED = "deleted"
"""What is said of a session whose files are gone: it is read from copies."""
INCOMPLETE = "incomplete"
"""Label of a session whose files could not be read completely: its numbers are lower bounds."""
TITLE_LEAST, TITLE_WANTED = 12, 34
"""How wide titles must be; and how wide they are to be before numbers stand beside them."""
_WHOLE_PROJECT, _LEAST_PROJECT = 14, 7
"""Columns of a project's name that are never cut while other columns can leave; and where none is left to."""
_BESIDE_TITLES = 46
"""Columns of a terminal that numbers, times, projects and a cost take together."""
_ROOM_FOR_TAGS = 8
"""Columns that tags have behind a title that is cut."""


class Row(NamedTuple):
    """A session with all that columns tell of it."""

    session: Session
    project: str
    now: datetime
    said: Marks | None
    used: SessionUse | None
    short_id: str


class Told(NamedTuple):
    """What a column tells: for a person, and whole for a program."""

    layout: Column
    drawn: Callable[[Row], Span]
    whole: Callable[[Row], str]


def _when(at: datetime | None) -> str:
    return f"{at.astimezone():%Y-%m-%dT%H:%M}" if at else "-"


def _name(row: Row) -> str | None:
    """What the user calls it, else its title."""
    return (row.said and row.said.name) or row.session.title


def _title(row: Row) -> Span:
    name = _name(row)
    if not name:
        return ("untitled", "quiet")
    mark = words.KIND_MARKS.get(row.session.kind)
    return f"{mark} {name}" if mark else name


def _tagged(row: Row, width: int, for_tags: int) -> Span:
    """Return the title and its tags in `width` columns; tags have what the title leaves, or `for_tags`."""
    from geminids.faces.drawing.number_tables import cells, cut

    title = _title(row)
    if not (tags := _tags(row)):
        return title
    text, style = (title, "") if isinstance(title, str) else title
    tags = cut(tags, max(width - cells(text) - 1, min(for_tags, width // 2)))
    return f"{cut(text, width - cells(tags) - 1)} {tags}", style


def _tags(row: Row) -> str:
    return words.tags(row.said.tags) if row.said else ""


def _prompts(row: Row) -> str:
    """How often the human asked; what a checkpoint repeats is counted where it was said."""
    prompts = row.session.counts.prompts
    return "" if row.session.kind == CHECKPOINT and not prompts else _bounded(row, str(prompts))


def _time(row: Row) -> str:
    used = row.used
    return words.about(timedelta(microseconds=used.active)) if used and used.active else ""


def _tokens(row: Row) -> str:
    from geminids.faces.drawing.amounts import short

    return _bounded(row, short(row.used.tokens)) if row.used and row.used.tokens is not None else ""


def _cost(row: Row) -> str:
    from geminids.faces.drawing.amounts import dollars

    return _bounded(row, dollars(row.used.cost)) if row.used and row.used.cost is not None else ""


def _bounded(row: Row, number: str) -> str:
    """Return a number with the mark of a lower bound, if files could not be read completely."""
    from geminids.faces.drawing.amounts import MARK, at_least

    is_incomplete = row.session.is_incomplete or (row.used is not None and row.used.is_incomplete)
    return at_least(number, is_bound=is_incomplete and bool(number), mark=MARK)


def _exact_cost(row: Row) -> str:
    return f"{row.used.cost:f}" if row.used and row.used.cost is not None else ""


def _mark(row: Row) -> Span:
    """How it ended, and whether its files are damaged or gone; how a lost one ended is lost."""
    session = row.session
    mark, style = ("", "") if session.kind == LOST else words.STATUS_MARKS[session.status]
    marks = [mark, "⚠" if session.problems else "", DELETED if session.kept else ""]
    return " ".join(filter(None, marks)), style or ("warning" if session.problems else "quiet")


def _status(row: Row) -> str:
    session = row.session
    return " ".join(filter(None, (str(session.status), *_further_words(session))))


def _further_words(session: Session) -> list[str]:
    """Return what is said of a session beside its status."""
    return [DELETED] * session.kept + [INCOMPLETE] * session.is_incomplete


def _number(of: Callable[[SessionUse], int | None]) -> Callable[[Row], str]:
    def whole(row: Row) -> str:
        value = of(row.used) if row.used else None
        return "" if value is None else str(value)

    return whole


COLUMNS = {
    "when": Told(
        Column("when", leaves=9),
        lambda row: words.when(row.session.last_at, row.now),
        lambda row: _when(row.session.last_at),
    ),
    "started": Told(
        Column("started"),
        lambda row: words.when(row.session.started_at, row.now),
        lambda row: _when(row.session.started_at),
    ),
    "agent": Told(
        Column("agent", most=8, leaves=6),
        lambda row: (row.session.agent, "quiet"),
        lambda row: row.session.agent,
    ),
    "project": Told(
        Column("project", least=_WHOLE_PROJECT, most=20, leaves=8, shrinks=_LEAST_PROJECT),
        lambda row: (row.project, "human"),
        lambda row: row.project,
    ),
    "title": Told(Column("title", least=TITLE_LEAST), _title, lambda row: _name(row) or ""),
    "tags": Told(Column("tags", most=20, leaves=10), lambda row: (_tags(row), "tool"), _tags),
    "prompts": Told(
        Column("prompts", is_number=True, leaves=5), _prompts, lambda row: str(row.session.counts.prompts)
    ),
    "calls": Told(
        Column("calls", is_number=True, leaves=4),
        lambda row: _bounded(row, str(row.session.counts.tool_calls or "")),
        lambda row: str(row.session.counts.tool_calls),
    ),
    "time": Told(
        Column("time", is_number=True, leaves=3), _time, _number(lambda used: used.active // 1_000_000)
    ),
    "tokens": Told(Column("tokens", is_number=True, leaves=2), _tokens, _number(lambda used: used.tokens)),
    "cost": Told(Column("cost", is_number=True, leaves=7), _cost, _exact_cost),
    "model": Told(
        Column("model", most=20, leaves=1),
        lambda row: ((row.used.model if row.used else None) or "", "quiet"),
        lambda row: (row.used.model if row.used else None) or "",
    ),
    "status": Told(Column(""), _mark, _status),
    "id": Told(Column("id"), lambda row: (row.short_id, "quiet"), lambda row: row.session.id),
}
"""All that can be told of a session in a list, in the usual order."""
USUAL = tuple(name for name in COLUMNS if name not in ("started", "id"))
_OF_USE = frozenset({"time", "tokens", "cost", "model"})


class UnknownColumnError(ValueError):
    """No column has this name; the message says which there are."""


def columns_named(names: Iterable[str]) -> tuple[str, ...]:
    """The columns that are asked for, each once. Raises UnknownColumnError."""
    wanted = tuple(dict.fromkeys(stripped for name in names if (stripped := name.strip().casefold())))
    for name in wanted:
        if name not in COLUMNS:
            raise UnknownColumnError(f"There is no column {name!r}. Available: {', '.join(COLUMNS)}.")
    if not wanted:
        raise UnknownColumnError(f"No columns given. Available: {', '.join(COLUMNS)}.")
    return wanted


def draw_sessions(
    page: Page, library: Library, sessions: Sequence[Session], now: datetime, asked: Sequence[str] = ()
) -> None:
    """Draw numbered rows on a terminal, else one line a session: nothing cut, the title last.

    `asked` are the names of columns; without any, those that the user settled, or else the usual ones.
    """
    if isinstance(page, DrawnPage) and page.is_terminal:
        wanted = asked or settled_columns(library)
        rows = _rows(library, sessions, now, wanted or USUAL, is_drawn=True)
        _draw_table(page, rows, wanted)
    else:
        rows = _rows(library, sessions, now, asked, is_drawn=False)
        for row in rows:
            page.fields(*([COLUMNS[name].whole(row) for name in asked] or _line(row)))
    remember(library, sessions, printed=isinstance(page, DrawnPage) and page.is_terminal)


def settled_columns(library: Library) -> Sequence[str]:
    """The columns in the settings. Raises BadSettingsError."""
    settled = library.list_settings
    try:
        return columns_named(settled.columns) if settled.columns else ()
    except UnknownColumnError as error:
        from geminids.core.settings import BadSettingsError

        raise BadSettingsError(settled.file, f"in [list]: {str(error).removesuffix('.')}") from error


def _rows(
    library: Library, sessions: Sequence[Session], now: datetime, names: Sequence[str], *, is_drawn: bool
) -> list[Row]:
    projects = project_names(session.project for session in sessions)
    marks = marks_of(library, sessions)
    used = library.used_by([session.id for session in sessions]) if _OF_USE.intersection(names) else {}
    ids = short_names(library, sessions) if is_drawn and "id" in names else {}
    return [
        Row(s, projects[s.project], now, marks.get(s.id), used.get(s.id), ids.get(s.id, "")) for s in sessions
    ]


def _draw_table(page: DrawnPage, rows: Sequence[Row], asked: Sequence[str]) -> None:
    """Draw rows under their headings, each with its number; say which columns found no room.

    Of the usual ones, what tells nothing takes no room, and nothing is said.
    """
    cells = {name: [COLUMNS[name].drawn(row) for row in rows] for name in asked or USUAL}
    if asked:
        # What was asked for first leaves last.
        leaving = {name: len(asked) - place for place, name in enumerate(asked)}
        columns = {name: COLUMNS[name].layout._replace(leaves=leaving[name]) for name in asked}
    else:
        columns = {name: COLUMNS[name].layout for name in _telling(cells, rows)}
    if "title" in columns:
        least = max(TITLE_LEAST, min(TITLE_WANTED, page.width - _BESIDE_TITLES))
        columns["title"] = columns["title"]._replace(least=least, leaves=None)
    if "agent" in columns and "project" in columns:
        # Titles need the room that agents take.
        columns["project"] = columns["project"]._replace(most=_WHOLE_PROJECT)

    def drawn() -> list[list[Span]]:
        return [
            [(str(number), "quiet"), *(cells[name][number - 1] for name in columns)]
            for number in range(1, len(rows) + 1)
        ]

    heading = Column("#", is_number=True)
    if (
        not asked
        and "tags" in columns
        and len(page.widths([heading, *columns.values()], drawn())) <= len(columns)
    ):
        from geminids.faces.drawing.number_tables import cells as width_of

        del columns["tags"]
        # Tags take room of their own: a title is as wide with them as without.
        title = columns["title"]
        for_tags = min(max(width_of(_tags(row)) for row in rows), _ROOM_FOR_TAGS)
        columns["title"] = title._replace(least=(title.least or 0) + 1 + for_tags)
        cells["title"] = [_tagged(row, page.width, for_tags) for row in rows]
        width = page.widths([heading, *columns.values()], drawn())[1 + list(columns).index("title")]
        cells["title"] = [_tagged(row, width, for_tags) for row in rows]
    left_out = page.table([heading, *columns.values()], drawn())
    if asked and left_out:
        names = ", ".join(name for name, column in columns.items() if column in left_out)
        say(f"No room for {names}: the terminal is {words.count(page.width, 'column')} wide.")


def _telling(cells: dict[str, list[Span]], rows: Sequence[Row]) -> list[str]:
    """Those of the usual columns that tell anything; of one agent alone nobody need be told."""
    one_agent = len({row.session.agent for row in rows}) == 1
    return [
        name
        for name, column in cells.items()
        if name == "status" or (any(map(_says, column)) and not (name == "agent" and one_agent))
    ]


def _says(cell: Span) -> bool:
    return bool(cell if isinstance(cell, str) else cell[0])


def _line(row: Row) -> list[Span]:
    """A line for programs, which stays as it is whatever the user settled."""
    session = row.session
    return [
        (session.id, "quiet"),
        _when(session.last_at),
        (str(session.status), words.STATUS_MARKS[session.status][1]),
        str(session.counts.prompts),
        str(session.counts.tool_calls),
        (row.project, "human"),
        _name(row) or "",
        *((word, "quiet") for word in _further_words(session)),
    ]


def remember(library: Library, sessions: Sequence[Session], *, printed: bool) -> None:
    """Keep the order of what was shown, so that its numbers mean something to `show`."""
    if not sessions:
        # Those of the list before are worth more than none.
        return
    try:
        library.remember(sessions, printed=printed)
    except OSError as error:
        say(f"Cannot store the numbers of this list ({error.strerror}); give `show` an id instead.")
