"""Sums over the days of sessions, in groups: the SQL of statistics.

A scope says which sessions and days count. What is asked for is grouped by an expression over a row of days
(`t`) and its session (`s`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date

from geminids.core.values import NamedTuple, Value
from geminids.storage.index.reader import Condition, among, numbered, selection
from geminids.storage.index.schema import USAGE
from geminids.storage.times import microseconds, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Literal

    from geminids.storage.index.database import Index

_EPOCH = date(1970, 1, 1)
_AS_ONE = "coalesce((SELECT one FROM temp.{table} WHERE number = {number}), {number})"
GROUPS = {
    "day": "t.day",
    # Weeks begin on Mondays, and 1970 began on a Thursday.
    "week": "(t.day + 3) / 7 * 7 - 3",
    "month": "CAST(strftime('%s', t.day * 86400, 'unixepoch', 'start of month') AS INTEGER) / 86400",
    "agent": "s.agent",
    "project": "s.project",
    "session": "t.session",
    "model": "t.model",
    "tool": "t.tool",
    "all": "0",
    "one project": _AS_ONE.format(table="one_project", number="s.project"),
    "one session": _AS_ONE.format(table="one_session", number="t.session"),
}
"""What can be grouped by, and how; a span of time is told by its first day."""

Key = int | str
"""A group: a day, or a number or name of what is grouped by; of several groupings, a JSON list of these."""


class Scope(Value):
    """Which sessions, days and models count."""

    conditions: Sequence[Condition] = ()
    """Over the session (`s`)."""
    first: int | None = None
    last: int | None = None
    """Days since 1970, the last one included."""
    models: Sequence[int] | None = None
    """Requests of other models do not count."""
    is_aside: bool = False
    """Whether the days were summed up for this question alone."""

    @property
    def is_of_all(self) -> bool:
        """Whether all sessions count: then what they did on a day is summed up already."""
        return not self.conditions and not self.is_aside

    def source(self, table: str, selected: str) -> tuple[str, tuple[object, ...]]:
        """The table with all that narrows it; sessions stand beside it only if they are needed."""
        bounds = [f"t.day >= {self.first}"] if self.first is not None else []
        bounds += [f"t.day <= {self.last}"] if self.last is not None else []
        if self.models is not None and table in ("spent", "spent_totals", "estimated"):
            bounds.append(f"t.model IN ({', '.join(map(str, self.models))})")
        bounds += [f"({condition.sql})" for condition in self.conditions]
        prefix = "temp" if self.is_aside else "main"
        where = f" WHERE {' AND '.join(bounds)}" if bounds else ""
        values = tuple(value for condition in self.conditions for value in condition.values)
        with_sessions = " JOIN sessions s ON s.id = t.session" if self.conditions or "s." in selected else ""
        return f"FROM {prefix}.{table} t{with_sessions}{where}", values


class Spent(NamedTuple):
    """What requests of one model and size of prompts used in a group on a day."""

    key: Key
    day: int
    model: int
    band: int
    requests: int
    unmeasured: int
    """Requests of which the agent noted no tokens; they are not among the others."""
    input: int | None
    cached: int | None
    cache_write: int | None
    cache_write_hour: int | None
    output: int | None
    thoughts: int | None
    tool: int | None
    total: int | None


class Done(NamedTuple):
    """What was done in a group."""

    key: Key
    sessions: int
    subagents: int
    prompts: int
    replies: int
    active: int
    """Microseconds."""
    calls: int
    errors: int
    cancelled: int
    added: int | None
    removed: int | None


class Called(NamedTuple):
    """Calls of a tool, and the lines that it changed."""

    key: Key
    sessions: int
    subagents: int
    calls: int
    errors: int
    cancelled: int
    added: int | None
    removed: int | None


class Incomplete(NamedTuple):
    """A session that was not read completely, with its first and last day since 1970."""

    session: int
    first: int | None
    last: int | None

    def is_in(self, first: int, last: int) -> bool:
        """Return whether it may hold records of these days."""
        return (self.first is None or self.first <= last) and (self.last is None or first <= self.last)


class BusyHour(NamedTuple):
    """What was said in an hour of a weekday, in local time."""

    weekday: int
    """0 is Monday."""
    hour: int
    prompts: int
    replies: int


def sessions_meant(index: Index, conditions: Sequence[Condition]) -> list[int]:
    """The numbers of the sessions (`s`) that fulfil conditions."""
    held, values = selection(conditions)
    return [number for (number,) in index.connection.execute(f"SELECT s.id FROM sessions s {held}", values)]


def kinds(index: Index, scope: Scope) -> tuple[dict[str, int], dict[str, int]]:
    """How many sessions of each kind did anything that counts; and how many have no message of their own.

    The latter only where no time is chosen: else others did nothing in that time.
    """
    days, _ = scope._replace(conditions=()).source("days", "")
    _, every, _ = days.partition(" WHERE ")
    did = Condition(f"EXISTS (SELECT 1 {days}{' AND' if every else ' WHERE'} t.session = s.id)")
    is_of_time = scope.is_aside or scope.first is not None or scope.last is not None
    counted = _by_kind(index, [*scope.conditions, did])
    return counted, {} if is_of_time else _by_kind(index, [*scope.conditions, did.negated()])


def _by_kind(index: Index, conditions: Sequence[Condition]) -> dict[str, int]:
    held, values = selection(conditions)
    return dict(
        index.connection.execute(f"SELECT s.kind, count(*) FROM sessions s {held} GROUP BY 1", values)
    )


_QUARTER = 900_000_000
"""Microseconds: no zone differs from UTC by a smaller part of an hour."""
_BY_HOUR = f"""
SELECT (strftime('%w', at, 'unixepoch', 'localtime') + 6) % 7 AS weekday,
    CAST(strftime('%H', at, 'unixepoch', 'localtime') AS INTEGER) AS hour,
    sum(prompts), sum(replies)
FROM (
    SELECT m.at / {_QUARTER} * {_QUARTER // 1_000_000} AS at,
        sum(m.origin IN ('human', 'command', 'shell')) AS prompts, sum(m.origin = 'model') AS replies
    FROM messages m JOIN sessions s ON s.id = m.session
    {{held}}
    GROUP BY m.at / {_QUARTER}
) GROUP BY weekday, hour ORDER BY weekday, hour
"""


def by_hour(index: Index, conditions: Sequence[Condition]) -> list[BusyHour]:
    """What was said in each hour of the week in messages (`m`) whose sessions (`s`) fulfil conditions."""
    said = Condition("m.at IS NOT NULL AND NOT m.imported AND m.says")
    held, values = selection([said, *conditions])
    return list(map(BusyHour._make, index.connection.execute(_BY_HOUR.format(held=held), values)))


_TOKENS = ", ".join(f"sum(t.{kind})" for kind in USAGE)


def _led(is_subagent: str) -> str:
    """How many sessions a human led, and how many others did."""
    return (
        f"count(DISTINCT CASE WHEN NOT ({is_subagent}) THEN t.session END), "
        f"count(DISTINCT CASE WHEN {is_subagent} THEN t.session END)"
    )


_KINDS_OF_DEEDS = ("prompts", "replies", "active", "calls", "errors", "cancelled", "added", "removed")
_DEEDS = ", ".join(f"sum(t.{deed})" for deed in _KINDS_OF_DEEDS)
_DONE_ON_DAY = ", ".join(f"t.{column}" for column in ("sessions", "subagents", *_KINDS_OF_DEEDS))
_SPENT_ON_DAY = "t.day, t.model, t.band, t.requests - t.unmeasured, t.unmeasured, " + ", ".join(
    f"t.{kind}" for kind in USAGE
)
"""As they stand in the tables of what is summed up by day."""
_LED, _LED_OF_DAYS = _led("s.kind = 'subagent'"), _led("t.subagent")


_OF_DAYS = frozenset({"day", "week", "month", "model"})
"""Groups that do not tell sessions apart."""


def spent(index: Index, scope: Scope, group: str) -> list[Spent]:
    """What requests used, as finely as prices differ."""
    columns = f"t.day, t.model, t.band, sum(t.requests - t.unmeasured), sum(t.unmeasured), {_TOKENS}"
    if scope.is_of_all and group == "day":
        return list(map(Spent._make, _rows(index, scope, "spent_totals day", _SPENT_ON_DAY, 0)))
    table = "spent_totals" if scope.is_of_all and _OF_DAYS.issuperset(group.split(",")) else "spent"
    return list(map(Spent._make, _rows(index, scope, f"{table} {group}", columns, 4)))


def estimated(index: Index, scope: Scope, group: str) -> list[Spent]:
    """What requests may have used of which the agent recorded no tokens."""
    tokens = {"input": "sum(t.input)", "output": "sum(t.output)", "total": "sum(t.input + t.output)"}
    known = ", ".join(tokens.get(kind, "NULL") for kind in USAGE)
    columns = f"t.day, t.model, t.band, sum(t.requests), 0, {known}"
    return list(map(Spent._make, _rows(index, scope, f"estimated {group}", columns, 4)))


def incomplete_sessions(
    index: Index, scope: Scope, since: datetime | None, before: datetime | None
) -> list[Incomplete]:
    """Return the sessions of a scope that were not read completely and may hold records of that time."""
    known = index.connection.execute("SELECT id FROM sessions WHERE is_incomplete").fetchall()
    if not known:
        return []
    conditions = [numbered((number for (number,) in known), "s.id"), *scope.conditions]
    if since is not None:
        conditions.append(Condition("coalesce(s.last >= ?, 1)", (microseconds(since),)))
    if before is not None:
        conditions.append(Condition("coalesce(s.started < ?, 1)", (microseconds(before),)))
    held, values = selection(conditions)
    rows = index.connection.execute(
        f"SELECT s.id, coalesce(s.started, s.last), s.last FROM sessions s {held}", values
    )
    return [Incomplete(number, _day(started), _day(last)) for number, started, last in rows]


def incomplete_in(index: Index, numbers: Iterable[int], table: str, group: str) -> dict[Key, int]:
    """Return how many of some sessions stand in each group of a table."""
    scope = Scope([numbered(numbers, "s.id")])
    return dict(_rows(index, scope, f"{table} {group}", "count(DISTINCT t.session)"))


def _day(at: int | None) -> int | None:
    """Return the local day of a moment, counted from 1970."""
    local = moment(at)
    return None if local is None else (local.astimezone().date() - _EPOCH).days


_NOTHING_DONE = (0, 0, 0, 0, 0, 0, None, None)


def done(index: Index, scope: Scope, group: str) -> list[Done]:
    """What was done."""
    if scope.is_of_all and group == "day":
        return list(map(Done._make, _rows(index, scope, "day_totals day", _DONE_ON_DAY, 0)))
    if scope.is_of_all and group == "all":
        deeds = _rows(index, scope, "day_totals all", _DEEDS)
        led = _different(index, scope, "days", "session, subagent", "sum(NOT subagent), sum(subagent)")
        # A session may hold nothing but what was injected: then nothing was done in it.
        return [Done(0, *led, *(deeds[0][1:] if deeds else _NOTHING_DONE))] if any(led) else []
    # A day holds a session once.
    sessions = "sum(NOT t.subagent), sum(t.subagent)" if group == "day" else _LED_OF_DAYS
    return list(map(Done._make, _rows(index, scope, f"days {group}", f"{sessions}, {_DEEDS}")))


def called(index: Index, scope: Scope, group: str) -> list[Called]:
    """Return the calls of each group, one of whose groupings is by tool."""
    changed_lines = _rows(index, scope, f"changed {group}", "sum(t.added), sum(t.removed)")
    lines = {key: changed for key, *changed in changed_lines}
    columns = f"{_LED}, sum(t.calls), sum(t.errors), sum(t.cancelled)"
    rows = _rows(index, scope, f"called {group}", columns)
    return [Called(*row, *lines.get(row[0], (None, None))) for row in rows]


def files(index: Index, scope: Scope, group: str) -> dict[Key, int]:
    """How many different files were changed."""
    if scope.is_of_all and group == "day":
        rows = _rows(index, scope, "day_totals day", "t.files", 0)
        return {day: number for day, number in rows if number}
    if group == "all":
        (number,) = _different(index, scope, "changed", "file", "count(*)")
        return {0: number} if number else {}
    return dict(_rows(index, scope, f"changed {group}", "count(DISTINCT t.file)"))


def answered(index: Index, scope: Scope, group: str) -> set[tuple[Key, int, bool]]:
    """Return each group with the sessions that requests in it are of, and whether these are subagents.

    Requests without recorded tokens are among them.
    """
    columns = "t.session, s.kind = 'subagent'"
    rows = (
        row for table in ("spent", "estimated") for row in _rows(index, scope, f"{table} {group}", columns, 3)
    )
    return {(key, session, bool(is_subagent)) for key, session, is_subagent in rows}


def sessions_in(index: Index, scope: Scope, table: str) -> int:
    """How many sessions that a human led a table tells anything of."""
    rows = _rows(index, scope, f"{table} all", _LED)
    return int(rows[0][1]) if rows else 0


def span(index: Index, scope: Scope) -> tuple[int, int] | None:
    """The first and the last day on which anything was done."""
    source, values = scope.source("day_totals" if scope.is_of_all else "days", "")
    first, last = index.connection.execute(f"SELECT min(t.day), max(t.day) {source}", values).fetchone()
    return None if first is None else (first, last)


def agents(index: Index, scope: Scope) -> list[str]:
    """Whose sessions there are."""
    known = index.connection.execute("SELECT DISTINCT agent FROM shelves ORDER BY agent")
    return [agent for (agent,) in known.fetchall() if _has_any(index, scope, agent)]


def _has_any(index: Index, scope: Scope, agent: str) -> bool:
    """Whether an agent did anything: its first day tells."""
    of_agent = scope._replace(conditions=[*scope.conditions, Condition("s.agent = ?", (agent,))])
    source, values = of_agent.source("days", "")
    return bool(index.connection.execute(f"SELECT EXISTS (SELECT 1 {source})", values).fetchone()[0])


def largest(index: Index, scope: Scope, what: str, column: str, most: int) -> list[tuple[Key, int]]:
    """The groups of a table, both of which are named, with the largest sums of a column."""
    table, _, group = what.partition(" ")
    key = GROUPS[group]
    source, values = scope.source(table, key)
    amount = f"sum(t.{column})"
    ranked = f"SELECT {key}, {amount} {source} GROUP BY 1 HAVING {amount} > 0 ORDER BY 2 DESC LIMIT ?"
    return index.connection.execute(ranked, (*values, most)).fetchall()


def count_as_one(
    index: Index, table: Literal["one_project", "one_session"], first: Mapping[int, int]
) -> None:
    """Let some projects or sessions, by their numbers, count as another one."""
    index.connection.executescript(
        f"DROP TABLE IF EXISTS temp.{table}; "
        f"CREATE TABLE temp.{table} (number INTEGER PRIMARY KEY, one INTEGER)"
    )
    index.connection.executemany(f"INSERT INTO temp.{table} VALUES (?, ?)", first.items())


def _rows(index: Index, scope: Scope, what: str, columns: str, grouped: int = 1) -> list[Any]:
    """The columns of a table by a group, both of which are named; of these, so many are grouped by.

    Several groupings have commas between them.
    """
    table, _, group = what.partition(" ")
    several = group.split(",")
    key = GROUPS[group] if len(several) == 1 else f"json_array({', '.join(GROUPS[one] for one in several)})"
    source, values = scope.source(table, f"{key}, {columns}")
    # Tables lie in the order of what is grouped by here, but for a key that comes once more before it.
    first = 2 if grouped > 1 and key in ("t.day", "t.model") else 1
    by = ", ".join(map(str, range(first, grouped + 1)))
    together = f" GROUP BY {by}" if grouped and group != "all" else ""
    rows = index.connection.execute(f"SELECT {key}, {columns} {source}{together}", values).fetchall()
    # Without groups there is a row of nothing if there is nothing.
    return [row for row in rows if any(row[1:])] if group == "all" else rows


def _different(index: Index, scope: Scope, table: str, columns: str, counted: str) -> tuple[Any, ...]:
    """What is counted of the different values in some columns; SQLite finds these in an index, in order."""
    source, values = scope.source(table, "")
    each = ", ".join(f"t.{column}" for column in columns.split(", "))
    found = index.connection.execute(f"SELECT {counted} FROM (SELECT DISTINCT {each} {source})", values)
    row: tuple[Any, ...] = found.fetchone()
    return row


# Names of groups


def names(index: Index, numbers: Sequence[int]) -> dict[int, str]:
    """The names of models or tools."""
    marks = ", ".join(map(str, numbers))
    return dict(index.connection.execute(f"SELECT id, name FROM names WHERE id IN ({marks})"))


def model_names(index: Index) -> list[str]:
    """The models that used anything, in the order of their names."""
    rows = index.connection.execute(
        "SELECT name FROM names WHERE id IN (SELECT model FROM spent_totals) ORDER BY name"
    )
    return [name for (name,) in rows]


def session_numbers(index: Index, session_ids: Sequence[str]) -> dict[int, str]:
    """The numbers of sessions, each with its id."""
    wanted = among(session_ids)
    return dict(index.connection.execute(f"SELECT id, sid FROM sessions WHERE {wanted.sql}", wanted.values))


def models_most_used(index: Index, sessions: Collection[int]) -> dict[int, str]:
    """The model that used most in each of some sessions; if no usage says, the one that said most."""
    most: dict[int, str] = {}
    for weight, table in (("sum(total)", "spent"), ("count(*)", "messages")):
        missing = ", ".join(str(session) for session in sessions if session not in most)
        rows = index.connection.execute(
            f"SELECT session, name, {weight} FROM {table} JOIN names ON names.id = model "
            f"WHERE session IN ({missing}) GROUP BY session, model ORDER BY 3"
        )
        most |= {session: name for session, name, _ in rows}
    return most


def last_request(index: Index, session: int) -> tuple[str | None, int | None] | None:
    """The model of the last request of a session, and the tokens of its prompt; None if it has none."""
    row: tuple[str | None, int | None] | None = index.connection.execute(
        "SELECT names.name, requests.input FROM requests JOIN messages ON messages.id = requests.message "
        "LEFT JOIN names ON names.id = messages.model "
        "WHERE requests.session = ? AND total IS NOT NULL ORDER BY messages.place DESC LIMIT 1",
        (session,),
    ).fetchone()
    return row


def parents(index: Index) -> dict[int, int]:
    """For each subagent, by its number, the session that started it, where it is known."""
    return dict(
        index.connection.execute(
            # Subagents are found in an index: rows are long. So are their parents, by the agents' own ids.
            "SELECT child.id, min(parent.id) FROM sessions AS child JOIN sessions AS parent "
            "ON parent.native_id = substr(child.parent_id, instr(child.parent_id, ':') + 1) COLLATE NOCASE "
            "AND parent.sid = child.parent_id AND parent.id != child.id "
            "WHERE child.id IN (SELECT id FROM sessions WHERE kind = 'subagent') GROUP BY child.id"
        )
    )
