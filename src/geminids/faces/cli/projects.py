"""Projects as `projects` draws them: a table, a timeline, the lines that were typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count

from geminids.core.model import Companion, LineKind, Problem, Project, TypedLine
from geminids.core.names import project_names
from geminids.faces.cli.sessions import kinds_of
from geminids.faces.drawing.companions import KIND_NAMES, draw_companion, shown_beside
from geminids.faces.drawing.page import Column, DrawnPage, Page, Span
from geminids.faces.drawing.projects import known_by, sessions_in
from geminids.query.projects.report import ProjectReport
from geminids.query.projects.timeline import Event, EventKind, ProjectStory
from geminids.query.sessions.ids import short_ids
from geminids.sharing.transcript import words

TextBeside = Callable[[Companion], str | Problem]
"""Gives the words of a file that lies beside sessions."""
_TIMELINE = (Column("when"), Column(""), Column("what", least=20), Column("id", leaves=1))


def draw_projects(page: Page, reports: Sequence[ProjectReport], now: datetime) -> None:
    """Draw a table on a terminal, else one line a project: nothing cut."""
    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for report in reports:
            page.fields(*_fields(report))
        return
    columns = [
        Column("project", least=16, most=32),
        Column("agents", leaves=2),
        Column("sessions", is_number=True),
        Column("last used", leaves=5),
        Column("size", is_number=True, leaves=1),
        Column("folder", least=20, leaves=4, keeps_end=True),
        Column("known by", leaves=3),
    ]
    is_mixed = len({agent for report in reports for agent in report.agents}) > 1
    shown = [place for place, column in enumerate(columns) if is_mixed or column.heading != "agents"]
    names = project_names(report.project for report in reports)
    rows = [_row(report, names[report.project], now) for report in reports]
    page.table([columns[place] for place in shown], [[row[place] for place in shown] for row in rows])


def _row(report: ProjectReport, name: str, now: datetime) -> list[Span]:
    return [
        (name, "human"),
        (" ".join(report.agents), "quiet"),
        sessions_in(report),
        words.when(report.last, now),
        words.size(report.bytes),
        (words.path(report.project.path) if report.project.path else "", "quiet"),
        (known_by(report), "quiet"),
    ]


def _fields(report: ProjectReport) -> Sequence[str]:
    """One line of a pipe: nothing is cut, and what programs take up comes first."""
    project = report.project
    return [
        project.hash or "-",
        project.path or "-",
        known_by(report),
        str(report.sessions),
        str(report.lost),
        words.moment(report.last) if report.last else "-",
        str(report.bytes),
        ",".join(report.agents),
    ]


def _name(report: ProjectReport) -> str:
    project = report.project
    if project.path:
        return words.path(project.path)
    return project.slug or (project.hash or "unknown")[:8]


def draw_story(page: Page, story: ProjectStory, text_beside: TextBeside | None = None) -> bool:
    """Draw what a project holds in order of time, and on request the words of plans, tasks and notes.

    Whether its sessions were numbered, in the order of `story.sessions`: on a terminal they are.
    """
    _draw_head(page, story.report)
    page.line()
    shorts = _shorts(_id_of(event) for event in story.events)
    rows = [_event_row(event, shorts[_id_of(event)]) for event in story.events]
    is_numbered = isinstance(page, DrawnPage) and page.is_terminal
    if isinstance(page, DrawnPage) and is_numbered:
        _draw_numbered(page, story.events, rows)
    else:
        _draw_fields(page, rows)
    companions = [event.companion for event in story.events if event.companion]
    if text_beside:
        for companion in shown_beside(companions):
            draw_companion(page, companion, text_beside(companion))
    return is_numbered


def _draw_numbered(page: DrawnPage, events: Sequence[Event], rows: Iterable[Sequence[Span]]) -> None:
    numbers = count(1)
    told = [str(next(numbers)) if event.tells_session else "" for event in events]
    numbered = [[(number, "quiet"), *row] for number, row in zip(told, rows, strict=True)]
    page.table((Column("#", is_number=True), *_TIMELINE), numbered)


def draw_typed(page: Page, lines: Sequence[TypedLine]) -> None:
    """Draw every line that was typed, with the session it belongs to."""
    shorts = _shorts(line.session_id for line in lines)
    rows: list[Sequence[Span]] = [
        [
            words.moment(line.at) if line.at else "",
            (words.LINE_MARKS[line.kind], "quiet"),
            line.text,
            (f"{shorts[line.session_id]}{_gone(line)}".strip(), "quiet"),
        ]
        for line in lines
    ]
    if isinstance(page, DrawnPage) and page.is_terminal:
        page.table(_TIMELINE, rows)
    else:
        _draw_fields(page, rows)


def _gone(line: TypedLine) -> str:
    """A mark for a prompt that its session does not hold any more."""
    return " ✝" if line.missing is not None and line.kind is LineKind.PROMPT else ""


def _draw_fields(page: Page, rows: Sequence[Sequence[Span]]) -> None:
    for row in rows:
        page.fields(*row)


def _draw_head(page: Page, report: ProjectReport) -> None:
    page.line((_name(report), "title"), "  ", (known_by(report), "quiet"))
    counts = [
        words.sessions(kinds_of(report)),
        words.size(report.bytes),
        *([f"by {words.listed(report.agents)}"] if len(report.agents) > 1 else []),
    ]
    page.words(", ".join(counts))
    for other in report.also:
        if names := ", ".join(_other_names(other, report.project)):
            page.words(f"also {names}", "quiet")


def _other_names(other: Project, known: Project) -> Iterator[str]:
    """What a project is called besides what is said of it already."""
    if other.path and other.path != known.path:
        yield words.path(other.path)
    if other.slug and other.slug != known.slug:
        yield other.slug
    if other.hash and other.hash != known.hash:
        yield other.hash[:8]


def _id_of(event: Event) -> str | None:
    """The session that a line of a timeline is about."""
    return event.session_id or (event.session.id if event.session else None)


def _event_row(event: Event, short_id: str) -> Sequence[Span]:
    when = words.moment(event.at) if event.at else ""
    if event.kind is EventKind.GAP:
        return [when, ("╌", "warning"), (event.title or "", "warning"), (short_id, "quiet")]
    if event.companion is not None:
        return [when, ("·", "quiet"), (_beside(event.companion), "quiet"), ""]
    session = event.session
    if session is None:
        return [when, "", event.title or "", ""]
    mark = words.KIND_MARKS.get(session.kind)
    status = (mark, "quiet") if mark else words.STATUS_MARKS[session.status]
    return [when, status, session.title or "untitled", (short_id, "quiet")]


def _beside(companion: Companion) -> str:
    name = companion.path.replace("\\", "/").rpartition("/")[2]
    return f"{KIND_NAMES[companion.kind][0]} {name}, {words.size(companion.size)}"


def _shorts(session_ids: Iterable[str | None]) -> Mapping[str | None, str]:
    """As much of each id as `show` needs."""
    native = {session_id: session_id.partition(":")[2] for session_id in session_ids if session_id}
    shorts = short_ids(native.values())
    return {None: "", **{session_id: shorts[name] for session_id, name in native.items()}}
