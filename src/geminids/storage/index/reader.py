"""Reading rows of the index: what is known of files, projects and sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from geminids.core.names import storable
from geminids.core.values import Value
from geminids.storage.index.schema import EVERY_WORD
from geminids.storage.index.values import Counts, ProblemRow, ProjectRow, SessionRow
from geminids.storage.times import microseconds, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from geminids.storage.index.database import Index


class Condition(Value):
    """Something that must hold, and the values in it."""

    sql: str
    values: tuple[object, ...] = ()

    def negated(self) -> Condition:
        """The opposite, which also holds for what is not known."""
        # SQL would call it neither true nor false.
        return Condition(f"NOT coalesce({self.sql}, 0)", self.values)


UNREADABLE = "unreadable"
"""The kind of a problem: the system did not let us read it."""


SESSION_COLUMNS = (
    "sessions.id, sid, agent, native_id, kind, parent_id, title, status, started, ended, "
    "prompts, replies, tool_calls, tool_errors, dropped, file, problems, kept, is_incomplete, "
    "projects.path, told_hash, projects.slug, projects.known_by, projects.certain"
)
"""What `session_row` makes a row of; `sessions` joined with `projects`."""
_SESSIONS = f"SELECT {SESSION_COLUMNS} FROM sessions JOIN projects ON projects.id = project"
_LAST_NAME = "replace(path, rtrim(path, replace(replace(path, '/', ''), '\\', '')), '')"
"""The last name in a path: what is left of it without all that stands before."""
_PROJECT_NAME = f"coalesce(nullif({_LAST_NAME}, ''), path, slug, told_hash) COLLATE NOCASE"
NEWEST_FIRST = "last DESC, sid DESC"
ORDERS = {
    "date": (NEWEST_FIRST, "last, sid"),
    "started": ("started DESC, sid DESC", "started, sid"),
    "messages": (f"prompts + replies DESC, {NEWEST_FIRST}", "prompts + replies, last, sid"),
    "title": (
        f"title IS NULL, title COLLATE NOCASE, {NEWEST_FIRST}",
        "title IS NULL DESC, title COLLATE NOCASE DESC, last, sid",
    ),
    "project": (f"{_PROJECT_NAME}, {NEWEST_FIRST}", f"{_PROJECT_NAME} DESC, last, sid"),
}
"""The orders in which sessions can be had, each with its reverse."""

_FEW = 500
"""So many sessions are looked up one by one sooner than all are looked through."""


def project_row(values: Sequence[Any]) -> ProjectRow:
    """The columns of a project as a value."""
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
        bool(values[17]),
        bool(values[18]),
        project_row(values[19:]),
    )


# Conditions on sessions


def one_of(column: str, values: Collection[object]) -> Condition:
    """A column that must hold one of these values."""
    return Condition(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))


def among(session_ids: Collection[str]) -> Condition:
    """Being one of some sessions, however many."""
    import json

    ids = json.dumps(list(session_ids))
    which = Condition("sid IN (SELECT value FROM json_each(?))", (ids,))
    if len(session_ids) > _FEW:
        return which
    # By what there is an index for: all sessions would be looked through.
    native = "native_id COLLATE NOCASE IN (SELECT substr(value, instr(value, ':') + 1) FROM json_each(?))"
    return Condition(f"{native} AND {which.sql}", (ids, *which.values))


def numbered(numbers: Iterable[int], column: str = "sessions.id") -> Condition:
    """Being one of some sessions by their numbers, however many."""
    return Condition(f"{column} IN (SELECT value FROM json_each(?))", (f"[{', '.join(map(str, numbers))}]",))


def not_over_before(moment: datetime) -> Condition:
    """Having gone on until this time or longer."""
    return Condition("last >= ?", (microseconds(moment),))


def begun_before(moment: datetime) -> Condition:
    """Having begun before this time."""
    return Condition("started < ?", (microseconds(moment),))


# Sessions


def sessions(
    index: Index,
    conditions: Iterable[Condition] = (),
    limit: int | None = None,
    order: str = NEWEST_FIRST,
    skip: int = 0,
) -> list[SessionRow]:
    """The sessions that fulfil all conditions, newest first or in one of the other orders."""
    where, values = selection(conditions)
    rows = index.connection.execute(
        f"{_SESSIONS} {where} ORDER BY {order} LIMIT ? OFFSET ?",
        (*values, -1 if limit is None else limit, skip),
    )
    return list(map(session_row, rows))


def sharing_bundles(index: Index, session_ids: Collection[str]) -> list[SessionRow]:
    """The sessions that were read together with some, these included."""
    together = Condition(
        f"bundle IN (SELECT bundle FROM sessions WHERE {among(session_ids).sql})", among(session_ids).values
    )
    return sessions(index, [together])


def session_count(index: Index, conditions: Iterable[Condition] = ()) -> int:
    """How many sessions fulfil all conditions."""
    where, values = selection(conditions)
    return int(index.connection.execute(f"SELECT count(*) FROM sessions {where}", values).fetchone()[0])


def session_kinds(index: Index, conditions: Iterable[Condition] = ()) -> dict[str, int]:
    """How many sessions of each kind fulfil all conditions."""
    where, values = selection(conditions)
    return dict(
        index.connection.execute(f"SELECT kind, count(*) FROM sessions {where} GROUP BY kind", values)
    )


def sessions_sorted_out(index: Index, conditions: Mapping[str, Condition]) -> tuple[int, dict[str, int]]:
    """How many sessions fulfil all of these, and how many each leaves out: the first that does."""
    if not conditions:
        return session_count(index, ()), {}
    if len(conditions) == 1:
        ((name, condition),) = conditions.items()
        meant, left = session_count(index, [condition]), session_count(index)
        return meant, {name: left - meant} if left > meant else {}
    held = enumerate(conditions.values())
    cases = " ".join(f"WHEN {condition.negated().sql} THEN {place}" for place, condition in held)
    # Summed up and not grouped, for which SQLite would put all rows in order first.
    each = ", ".join(f"sum(reason = {place})" for place in range(len(conditions)))
    every, *left_out = index.connection.execute(
        f"SELECT count(*), {each} FROM (SELECT CASE {cases} ELSE -1 END AS reason FROM sessions)",
        [value for condition in conditions.values() for value in condition.values],
    ).fetchone()
    hidden = {name: number for name, number in zip(conditions, left_out, strict=True) if number}
    return every - sum(hidden.values()), hidden


def sessions_numbered(index: Index, numbers: Iterable[int]) -> dict[int, SessionRow]:
    """Sessions by their numbers."""
    return {row.number: row for row in sessions(index, [numbered(numbers)])}


def selection(conditions: Iterable[Condition]) -> tuple[str, list[object]]:
    """What selects those that fulfil all conditions, and the values in it."""
    held = list(conditions)
    where = " AND ".join(f"({condition.sql})" for condition in held)
    return where and f"WHERE {where}", [value for condition in held for value in condition.values]


def shared_ids(index: Index, session_ids: Collection[str]) -> set[str]:
    """Of some ids, those that several sessions have."""
    which = among(session_ids)
    rows = index.connection.execute(
        f"SELECT sid FROM sessions WHERE {which.sql} GROUP BY sid HAVING count(*) > 1", which.values
    )
    return {sid for (sid,) in rows}


def sessions_called(index: Index, beginning: str) -> list[SessionRow]:
    """The sessions whose id, or the agent's own id, begins with these letters in any case."""
    text = storable(beginning).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    either = "native_id LIKE ? ESCAPE '\\' OR sid LIKE ? ESCAPE '\\'"
    return sessions(index, [Condition(either, (text, text))])


def sessions_meant(index: Index, wanted: str) -> list[SessionRow]:
    """The sessions that have exactly this id, or that their agent calls so; else those whose id begins so."""
    text = storable(wanted)
    # The index by ids holds those of the agents, in any case.
    exactly = "native_id COLLATE NOCASE IN (?, ?) AND ? IN (sid, native_id)"
    found = sessions(index, [Condition(exactly, (text, text.partition(":")[2], text))])
    return found or sessions_called(index, wanted)


def bytes_read_for(index: Index, numbers: Iterable[int]) -> list[int]:
    """How many bytes the files have that some sessions were read from, by their numbers."""
    which = numbered(numbers)
    rows = index.connection.execute(
        f"SELECT bytes FROM bundles WHERE id IN (SELECT bundle FROM sessions WHERE {which.sql})", which.values
    )
    return [size for (size,) in rows]


def native_ids(index: Index) -> list[str]:
    """What the agents themselves call their sessions, each as often as it occurs."""
    return [name for (name,) in index.connection.execute("SELECT native_id FROM sessions")]


# All else


def projects(index: Index) -> dict[int, ProjectRow]:
    """The best that is known of each project that has a session, by its number."""
    rows = index.connection.execute(
        "SELECT id, path, told_hash, slug, known_by, certain FROM projects "
        "WHERE id IN (SELECT project FROM sessions)"
    )
    return {number: project_row(values) for number, *values in rows}


def other_folders(index: Index) -> dict[str, tuple[ProjectRow, ...]]:
    """Return the further folders that sessions were worked in, by their text in `sessions`."""
    import json

    rows = index.connection.execute("SELECT DISTINCT folders FROM sessions WHERE folders IS NOT NULL")
    return {
        written: tuple(ProjectRow(folder, None, None, "directories", True) for folder in json.loads(written))
        for (written,) in rows
    }


def places_of_projects(index: Index) -> list[tuple[int, str | None, str]]:
    """The number, the folder and the slug of each project of which any of these is known."""
    return index.connection.execute(
        "SELECT id, path, coalesce(slug, '') FROM projects WHERE path IS NOT NULL OR slug IS NOT NULL"
    ).fetchall()


def problems(index: Index, *kinds: str) -> list[ProblemRow]:
    """What stood in the way, of these kinds or of any; what kept bundles from being found comes first."""
    where = f"WHERE kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = index.connection.execute(
        f'SELECT DISTINCT file, kind, detail, line, start, "end" FROM problems {where} ORDER BY bundle', kinds
    )
    return list(map(ProblemRow._make, rows))


def problems_of_finding(index: Index) -> list[ProblemRow]:
    """What stood in the way of finding bundles at all."""
    rows = index.connection.execute(
        'SELECT file, kind, detail, line, start, "end" FROM problems WHERE bundle IS NULL'
    )
    return list(map(ProblemRow._make, rows))


def problems_of_bundle(index: Index, bundle: int) -> list[ProblemRow]:
    """What stood in the way of reading a bundle."""
    rows = index.connection.execute(
        'SELECT file, kind, detail, line, start, "end" FROM problems WHERE bundle = ?', (bundle,)
    )
    return list(map(ProblemRow._make, rows))


def is_empty(index: Index) -> bool:
    """Whether there is no file that could hold a session, and none that we were not allowed to see."""
    found = ("SELECT 1 FROM sessions", "SELECT 1 FROM bundles WHERE key <> ''", "SELECT 1 FROM problems")
    return not any(index.connection.execute(f"{one} LIMIT 1").fetchone() for one in found)


def holds_every_word(index: Index) -> bool:
    """Whether all of every output is indexed, and not only its beginning and end."""
    return bool(index.meta(EVERY_WORD))


def stamps(index: Index) -> dict[tuple[str, str | None], bytes]:
    """What each session was read from, in little: if it is the same, so is the session; by id and file."""
    rows = index.connection.execute(
        "SELECT sid, file, bundles.stamp FROM sessions JOIN bundles ON bundles.id = bundle"
    )
    return {(sid, file): stamp for sid, file, stamp in rows}


def summaries(index: Index, numbers: Sequence[int]) -> list[bytes]:
    """All of some sessions but their messages, in the same order."""
    found: dict[int, bytes] = {}
    for start in range(0, len(numbers), 500):
        some = ", ".join(map(str, numbers[start : start + 500]))
        found.update(index.connection.execute(f"SELECT id, summary FROM sessions WHERE id IN ({some})"))
    return [found[number] for number in numbers]
