"""Reading rows of the index: what is known of files, projects and sessions."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.names import keepable, project_name
from geminids.store.times import moment

if TYPE_CHECKING:
    from geminids.store.index import Index


class ProjectRow(NamedTuple):
    """The best that is known of a project."""

    path: str | None
    hash: str | None
    slug: str | None
    known_by: str | None
    certain: bool

    @property
    def name(self) -> str:
        """What people call it."""
        return project_name(self.path, self.hash, self.slug)


class Counts(NamedTuple):
    """How much there is of what in a session."""

    prompts: int
    replies: int
    tool_calls: int
    tool_errors: int
    dropped: int


class SessionRow(NamedTuple):
    """What a list tells of a session."""

    number: int
    id: str
    agent: str
    native_id: str
    kind: str
    parent_id: str | None
    title: str | None
    status: str
    started_at: datetime | None
    ended_at: datetime | None
    counts: Counts
    file: str | None
    problems: int
    project: ProjectRow

    @property
    def last_at(self) -> datetime | None:
        """The last moment that is known of it."""
        return self.ended_at or self.started_at


class ProblemRow(NamedTuple):
    """Something that could not be read, and where."""

    file: str
    kind: str
    detail: str
    line: int | None
    start: int | None
    end: int | None


SESSION_COLUMNS = (
    "sessions.id, sid, agent, native_id, kind, parent_id, title, status, started, ended, "
    "prompts, replies, tool_calls, tool_errors, dropped, file, problems, "
    "projects.path, told_hash, projects.slug, projects.known_by, projects.certain"
)
"""What `session_row` makes a row of; `sessions` joined with `projects`."""
_SESSIONS = f"SELECT {SESSION_COLUMNS} FROM sessions JOIN projects ON projects.id = project"
NEWEST_FIRST = "ORDER BY last DESC, sid DESC"


def _project_row(values: Sequence[Any]) -> ProjectRow:
    path, project_hash, slug, known_by, certain = values
    return ProjectRow(path, project_hash, slug, known_by, bool(certain))


def session_row(values: Sequence[Any]) -> SessionRow:
    """A row of SESSION_COLUMNS as a value."""
    number, sid, agent, native_id, kind, parent, title, status, started, ended = values[:10]
    return SessionRow(
        number,
        sid,
        agent,
        native_id,
        kind,
        parent,
        title,
        status,
        moment(started),
        moment(ended),
        Counts(*values[10:15]),
        values[15],
        values[16],
        _project_row(values[17:]),
    )


def sessions(
    index: "Index", condition: str = "", values: Sequence[object] = (), limit: int | None = None
) -> list[SessionRow]:
    """The sessions that fulfil a condition, newest first."""
    where = f"WHERE {condition}" if condition else ""
    rows = index.connection.execute(
        f"{_SESSIONS} {where} {NEWEST_FIRST} LIMIT ?", (*values, -1 if limit is None else limit)
    )
    return list(map(session_row, rows))


def sessions_called(index: "Index", beginning: str) -> list[SessionRow]:
    """The sessions whose id, or the agent's own id, begins with these letters in any case."""
    text = keepable(beginning).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return sessions(index, "native_id LIKE ? ESCAPE '\\' OR sid LIKE ? ESCAPE '\\'", (text, text))


def projects(index: "Index") -> dict[int, ProjectRow]:
    """The best that is known of each project, by its number."""
    rows = index.connection.execute("SELECT id, path, told_hash, slug, known_by, certain FROM projects")
    return {number: _project_row(values) for number, *values in rows}


def problems(index: "Index", *kinds: str) -> list[ProblemRow]:
    """What stood in the way, of these kinds or of any; what kept bundles from being found comes first."""
    where = f"WHERE kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = index.connection.execute(
        f'SELECT DISTINCT file, kind, detail, line, start, "end" FROM problems {where} ORDER BY bundle', kinds
    )
    return list(map(ProblemRow._make, rows))


def is_empty(index: "Index") -> bool:
    """Whether there is no file that could hold a session, and none that we were not allowed to see."""
    found = ("SELECT 1 FROM sessions", "SELECT 1 FROM bundles WHERE key <> ''", "SELECT 1 FROM problems")
    return not any(index.connection.execute(f"{one} LIMIT 1").fetchone() for one in found)


def summaries(index: "Index", numbers: Sequence[int]) -> list[bytes]:
    """All of some sessions but their messages, in the same order."""
    found: dict[int, bytes] = {}
    for start in range(0, len(numbers), 500):
        some = ", ".join(map(str, numbers[start : start + 500]))
        found.update(index.connection.execute(f"SELECT id, summary FROM sessions WHERE id IN ({some})"))
    return [found[number] for number in numbers]
