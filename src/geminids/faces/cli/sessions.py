"""Rows of sessions, as `list` and the overview draw them, and what is said beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from geminids.core.errors import PARTLY_DONE, Candidate, GeminidsError, Unreadable
from geminids.core.names import project_names
from geminids.faces.cli.page import Column, DrawnPage, Page, Span
from geminids.faces.cli.talk import cut, say, stderr_width
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.model import SessionSummary
    from geminids.faces.cli.options import Choices
    from geminids.library import Library
    from geminids.query.usage.by_session import SessionUse
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.values import SessionRow

    Session = SessionRow | SessionSummary

LOST, CHECKPOINT = "lost", "checkpoint"
KEPT = "kept"
"""What is said of a session whose files are gone: it is read from copies."""
MOST_NAMED = 3
"""So many files that were left unread are named."""
TITLE_LEAST, TITLE_WANTED = 12, 34
"""How wide titles must be; and how wide they are to be before numbers stand beside them."""
_BESIDE_TITLES = 46
"""Columns of a terminal that numbers, times, projects and a cost take together."""
COLUMNS = (
    Column("#", is_number=True),
    Column("when", leaves=9),
    Column("agent", most=8, leaves=8),
    Column("project", least=7, most=20, leaves=7),
    Column("title", least=TITLE_LEAST),
    Column("tags", most=20, leaves=10),
    Column("prompts", is_number=True, leaves=6),
    Column("calls", is_number=True, leaves=4),
    Column("time", is_number=True, leaves=3),
    Column("tokens", is_number=True, leaves=2),
    Column("cost", is_number=True, leaves=5),
    Column("model", most=20, leaves=1),
    Column(""),
)


def draw_sessions(page: Page, library: Library, sessions: Sequence[Session], now: datetime) -> None:
    """Draw numbered rows on a terminal, else one line a session: nothing cut, the title last."""
    names = project_names(session.project for session in sessions)
    marks = marks_of(library, sessions)
    if isinstance(page, DrawnPage) and page.is_terminal:
        used = library.used_by([session.id for session in sessions])
        rows = [_row(s, names[s.project], now, marks.get(s.id), used.get(s.id)) for s in sessions]
        _draw_table(page, rows, with_agents=len({session.agent for session in sessions}) > 1)
    else:
        for session in sessions:
            page.fields(*_line(session, names[session.project], marks.get(session.id)))
    remember(library, sessions, printed=isinstance(page, DrawnPage) and page.is_terminal)


def marks_of(library: Library, sessions: Sequence[Session]) -> Mapping[str, Marks]:
    """What the user said of sessions, by their ids; if that cannot be read, they are shown without."""
    try:
        return library.marks([session.id for session in sessions])
    except (GeminidsError, OSError) as error:
        say(f"Names, tags and notes are not shown. {error}")
        return {}


def _draw_table(page: DrawnPage, rows: Sequence[Sequence[Span]], *, with_agents: bool) -> None:
    """Draw rows under their headings, each with its number; what tells nothing takes no room."""
    # The first column is the number.
    empty = [not any(map(_says, cells)) for cells in zip(*rows, strict=True)]
    left_out = {column.heading for column, is_empty in zip(COLUMNS[1:-1], empty, strict=False) if is_empty}
    left_out |= set() if with_agents else {"agent"}
    title_least = max(TITLE_LEAST, min(TITLE_WANTED, page.width - _BESIDE_TITLES))
    changes: dict[str, dict[str, int]] = {"title": {"least": title_least}}
    if with_agents:
        # Titles need the room that agents take.
        changes["project"] = {"most": 14}
    columns = {
        place: column._replace(**changes.get(column.heading, {}))
        for place, column in enumerate(COLUMNS)
        if column.heading not in left_out
    }
    numbered = [[(str(number), "quiet"), *row] for number, row in enumerate(rows, start=1)]
    page.table(list(columns.values()), [[row[place] for place in columns] for row in numbered])


def _says(cell: Span) -> bool:
    return bool(cell if isinstance(cell, str) else cell[0])


def remember(library: Library, sessions: Sequence[Session], *, printed: bool) -> None:
    """Keep the order of what was shown, so that its numbers mean something to `show`."""
    if not sessions:
        # Those of the list before are worth more than none.
        return
    try:
        library.remember(sessions, printed=printed)
    except OSError as error:
        say(f"Cannot store the numbers of this list ({error.strerror}); give `show` an id instead.")


def sessions_meant(
    choices: Choices, library: Library, wanted: Sequence[str], nothing_to_do: str
) -> list[SessionRow]:
    """The sessions that words name, each once; words that name none are looked for, and that is said."""
    from geminids.query.sessions.listing import Filter

    items, were_searched = library.items_meant(wanted, choices.now)
    meant = {(item.id, item.file) for item in items}
    rows = [row for row in library.listing(Filter()).sessions if (row.id, row.file) in meant]
    if were_searched:
        say(_told_of_search(" ".join(wanted), len(rows)))
    elif not rows:
        say(f"It is a single file, not one of the indexed sessions. {nothing_to_do}")
    return rows


def _told_of_search(query: str, number: int) -> str:
    from geminids.faces.cli.query_words import has_words

    if not has_words(query):
        return f"{words.count(number, 'session')} for {query!r}."
    held = f"the words occur in {words.count(number, 'session')}" if number else "no message has these words"
    return f"No session is named {query!r}; {held}."


def short_names(library: Library, sessions: Iterable[SessionRow | SessionSummary]) -> dict[str, str]:
    """What to type for each session, by its id: no more than tells it from all others that are known."""
    from geminids.query.sessions.ids import short_ids
    from geminids.query.sessions.listing import Filter

    native_ids = {session.id: session.native_id for session in sessions}
    known = {row.id: row.native_id for row in library.listing(Filter()).sessions} | native_ids
    shortest = short_ids(known.values())
    held = Counter(known.values())
    # Agents need not differ in what they call their sessions.
    return {
        session_id: shortest[native_id] if held[native_id] == 1 else session_id
        for session_id, native_id in native_ids.items()
    }


def candidate_line(candidate: Candidate) -> str:
    """A session that may have been meant, in one line."""
    when = words.moment(candidate.at) if candidate.at else "no time"
    told = f"  {candidate.id}  {when}  {candidate.place}  {candidate.title or 'untitled'}"
    return cut(told, stderr_width() or len(told))


def tell_unreadable(problems: Sequence[Unreadable]) -> int:
    """Name each place that could not be read; the exit code that follows from it."""
    for problem in problems:
        say(f"Cannot read {words.path(problem.file)}: {problem.detail}")
    return PARTLY_DONE if problems else 0


def tell_left_unread(problems: Sequence[Unreadable], show: Callable[[str], str]) -> None:
    """Name what was too large to be read for a list, and what shows all of it."""
    for problem in problems[:MOST_NAMED]:
        place = words.path(problem.file)
        say(f"Part of {place} was not read: {problem.detail}. `{show(problem.file)}` shows it.")
    if len(problems) > MOST_NAMED:
        say(f"The same is true of {words.count(len(problems) - MOST_NAMED, 'more file')}.")


def tell_memory(library: Library) -> None:
    """Say that links and what was learnt cannot be read, so that nobody takes them for gone."""
    if library.memory_is_damaged:
        say("Stored project folders and links cannot be read; `projects link` shows why.")


def tell_nothing_found(places: Iterable[str]) -> None:
    """Say where no session is, and where else some are."""
    where = ", ".join(map(words.path, places))
    here = f"No session found in {where}." if where else "No session found."
    say(f"{here} Use `--home DIR` to look elsewhere, or `--sample` to see sample sessions.")


def _row(
    session: Session, project: str, now: datetime, said: Marks | None, used: SessionUse | None
) -> list[Span]:
    return [
        words.when(session.last_at, now),
        (session.agent, "quiet"),
        (project, "human"),
        _title(session, said),
        (words.tags(said.tags) if said else "", "tool"),
        _asked(session),
        _calls(session),
        *(_used(used) if used else [""] * 4),
        _mark(session),
    ]


def _used(used: SessionUse) -> list[Span]:
    """How long somebody was at work, tokens, cost, model: what nobody recorded is left empty."""
    from geminids.faces.cli.amounts import dollars, short

    return [
        words.about(timedelta(microseconds=used.active)) if used.active else "",
        "" if used.tokens is None else short(used.tokens),
        "" if used.cost is None else dollars(used.cost),
        (used.model or "", "quiet"),
    ]


def _mark(session: Session) -> Span:
    """How it ended, and whether its files are damaged or gone; how a lost one ended is lost."""
    mark, style = ("", "") if session.kind == LOST else words.STATUS_MARKS[session.status]
    marks = [mark, "⚠" if session.problems else "", KEPT if session.kept else ""]
    return " ".join(filter(None, marks)), style or ("warning" if session.problems else "quiet")


def _line(session: Session, project: str, said: Marks | None) -> list[Span]:
    at = session.last_at
    return [
        (session.id, "quiet"),
        f"{at.astimezone():%Y-%m-%dT%H:%M}" if at else "-",
        (str(session.status), words.STATUS_MARKS[session.status][1]),
        str(session.counts.prompts),
        str(session.counts.tool_calls),
        (project, "human"),
        _name(session, said) or "",
        *([(KEPT, "quiet")] if session.kept else []),
    ]


def _name(session: Session, said: Marks | None) -> str | None:
    """What the user calls it, else its title."""
    return (said and said.name) or session.title


def _title(session: Session, said: Marks | None) -> Span:
    name = _name(session, said)
    if not name:
        return ("untitled", "quiet")
    mark = words.KIND_MARKS.get(session.kind)
    return f"{mark} {name}" if mark else name


def _asked(session: Session) -> str:
    """How often the human asked; what a saved chat repeats is counted where it was said."""
    is_copy = session.kind == CHECKPOINT and not session.counts.prompts
    return "" if is_copy else str(session.counts.prompts)


def _calls(session: Session) -> str:
    return str(session.counts.tool_calls) if session.counts.tool_calls else ""
