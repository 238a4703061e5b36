"""What sessions did and used, day by day: summed up when they are written, so that asking is cheap.

Days are those of this machine's zone. If it is another one than the last time, all is summed up anew.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

from geminids.core.price_bands import BANDS
from geminids.storage.index.schema import DAYS, USAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.index.database import Index
    from geminids.storage.index.reader import Condition

IDLE = 5 * 60 * 1_000_000
"""Microseconds: a longer gap between two messages is no work, neither of the human nor of the agent."""
SUMS = ("spent", "estimated", "called", "changed", "days")
"""The tables of what is summed up."""

_BASIS = "basis of sums"
_PROBES = range(1_704_067_200, 2_082_758_400, 30 * 86_400)
"""Moments, a month apart: two zones that agree on all of them have the same days."""


def _basis() -> str:
    """What sums depend on besides messages: the day of a moment, and the sizes of prompts told apart."""
    return f"{zone()} / {BANDS}"


def zone() -> str:
    """The zone of this machine, told by its distance from UTC at many moments."""
    offsets = [time.localtime(probe).tm_gmtoff for probe in _PROBES]
    return " ".join(
        str(offset // 60) if place % 12 == 0 or offset != offsets[place - 1] else "."
        for place, offset in enumerate(offsets)
    )


def is_summed_up(index: Index) -> bool:
    """Whether the days that were summed up are the days of this machine now."""
    return bool(index.meta(_BASIS) == _basis())


def sum_up(index: Index, sessions: Collection[int] | None = None) -> None:
    """Sum up some sessions anew, or all of them; those that are gone leave nothing."""
    if sessions is None or not is_summed_up(index):
        for table in SUMS:
            index.connection.execute(f"DELETE FROM main.{table}")
        _insert_sums(index, "main.", "1")
        _sum_up_days(index, "1")
        index.note(_BASIS, _basis())
        return
    for numbers in few(sorted(sessions)):
        among = f"session IN ({', '.join(map(str, numbers))})"
        touched = _days_of(index, among)
        for table in SUMS:
            index.connection.execute(f"DELETE FROM main.{table} WHERE {among}")
        _insert_sums(index, "main.", f"m.{among}")
        for days in few(sorted(touched | _days_of(index, among))):
            _sum_up_days(index, f"t.day IN ({', '.join(map(str, days))})")


def _days_of(index: Index, which: str) -> set[int]:
    """The days on which some sessions did anything: all else that is summed up is of these."""
    rows = index.connection.execute(f"SELECT DISTINCT day FROM main.days WHERE {which}")
    return {day for (day,) in rows}


def _sum_up_days(index: Index, which: str) -> None:
    """Sum up all sessions of some days (`t.day`) together."""
    for table, select in _DAY_SUMS.items():
        index.connection.execute(f"DELETE FROM main.{table} AS t WHERE {which}")
        index.connection.execute(f"INSERT INTO main.{table} {select.format(which=which)}")


def sum_up_aside(
    index: Index, since: int | None, until: int | None, conditions: Sequence[Condition] = ()
) -> None:
    """Sum up what happened between two moments, beside what is kept: for times that are no whole days.

    Conditions are over a message (`m`) and its session (`s`).
    """
    drop = "".join(f"DROP TABLE IF EXISTS temp.{table};" for table in SUMS)
    index.connection.executescript(drop + DAYS.format(prefix="temp."))
    if since is not None and until is None and not conditions and is_summed_up(index):
        first, last = _days_at(index, since, since + IDLE)
        # The end of time has no next day.
        if first is not None and last is not None:
            _sum_up_from(index, since, first, last)
            return
    bounds = [f"{_SURELY_AT} >= {int(since)}"] if since is not None else []
    bounds += [f"{_SURELY_AT} < {int(until)}"] if until is not None else []
    bounds += [f"({condition.sql})" for condition in conditions]
    values = [value for condition in conditions for value in condition.values]
    _insert_sums(index, "temp.", " AND ".join(bounds) or "1", values)


def _days_at(index: Index, *moments: int) -> Sequence[int | None]:
    """The days of some moments; None for one that is further than SQLite can tell."""
    days: Sequence[int | None] = index.connection.execute(
        "SELECT " + ", ".join(_day_of(str(int(moment))) for moment in moments)
    ).fetchone()
    return days


def _sum_up_from(index: Index, since: int, first: int, last: int) -> None:
    """Sum up the days from that of a moment to the last in which what was done then may go on.

    The days behind these are summed up already.
    """
    that_day = f"m.session IN (SELECT session FROM main.days WHERE day BETWEEN {first} AND {last})"
    _insert_sums(index, "temp.", f"{that_day} AND {_SURELY_AT} >= {int(since)} AND {DAY} <= {last}")
    for table in SUMS:
        index.connection.execute(f"INSERT INTO temp.{table} SELECT * FROM main.{table} WHERE day > {last}")


def _insert_sums(index: Index, prefix: str, which: str, values: Sequence[object] = ()) -> None:
    for table, select in _SUMS.items():
        written = f"INSERT INTO {prefix}{table} {select.format(which=which, prefix=prefix)}"
        index.connection.execute(written, values)


def few(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Numbers in portions that fit into a statement."""
    for start in range(0, len(numbers), 500):
        yield numbers[start : start + 500]


def _day_of(at: str) -> str:
    """The day of a moment, in local time."""
    return f"CAST(strftime('%s', {at} / 1000000, 'unixepoch', 'localtime') AS INTEGER) / 86400"


_SURELY_AT = "coalesce(m.at, s.last)"
AT = "coalesce(m.at, s.last, 0)"
"""When a message (`m`) of a session (`s`) was."""
DAY = _day_of(AT)
"""Its day."""
_OF_MESSAGES = "JOIN messages m ON m.id = message JOIN sessions s ON s.id = m.session WHERE m.imported = 0"


def _band(size: str) -> str:
    return " + ".join(f"({size} > {edge})" for edge in BANDS)


BAND = _band("coalesce(input, 0) + coalesce(tool, 0)")
"""The band of a request: its price goes by how large its prompt was, with what tools added to it."""


def _of_day(column: str, table: str, unknown: str = "0") -> str:
    """What another table holds of the same day of a session."""
    same = f"{{prefix}}{table} AS t WHERE t.session = did.session AND t.day = did.day"
    return f"coalesce((SELECT sum({column}) FROM {same}), {unknown})"


_DAY_SUMS = {
    "day_totals": """
        SELECT day, sum(NOT subagent), sum(subagent), sum(prompts), sum(replies), sum(active),
            sum(calls), sum(errors), sum(cancelled), sum(added), sum(removed),
            (SELECT count(DISTINCT file) FROM main.changed WHERE changed.day = t.day)
        FROM main.days AS t WHERE {which} GROUP BY day""",
    "spent_totals": f"""
        SELECT day, model, band, sum(requests), sum(unmeasured), {", ".join(f"sum({kind})" for kind in USAGE)}
        FROM main.spent AS t WHERE {{which}} GROUP BY day, model, band""",
}
TOKEN_SUMS = ", ".join(f"sum({kind})" for kind in USAGE)
"""All kinds of tokens, added up."""
_SUMS = {
    "spent": f"""
        SELECT m.session, {DAY}, coalesce(m.model, 0), {BAND},
            sum(requests), sum(CASE WHEN total IS NULL THEN requests ELSE 0 END), {TOKEN_SUMS}
        FROM requests {_OF_MESSAGES} AND {{which}} GROUP BY 1, 2, 3, 4""",
    "estimated": f"""
        SELECT m.session, {DAY}, coalesce(m.model, 0), {_band("input")},
            count(*), sum(input), sum(output)
        FROM estimates {_OF_MESSAGES} AND {{which}} GROUP BY 1, 2, 3, 4""",
    "called": f"""
        SELECT m.session, {DAY}, tool, sum(number),
            sum(CASE calls.status WHEN 'error' THEN number ELSE 0 END),
            sum(CASE calls.status WHEN 'cancelled' THEN number ELSE 0 END)
        FROM calls {_OF_MESSAGES} AND {{which}} GROUP BY 1, 2, 3""",
    "changed": f"""
        SELECT m.session, {DAY}, tool, changes.file, sum(added), sum(removed)
        FROM changes {_OF_MESSAGES} AND {{which}} GROUP BY 1, 2, 3, 4""",
    # Last, with what the tables before it hold.
    "days": f"""
        SELECT session, day, subagent, sum(prompt), sum(reply),
            sum(CASE WHEN gap BETWEEN 0 AND {IDLE} THEN gap ELSE 0 END),
            {_of_day("calls", "called")}, {_of_day("errors", "called")}, {_of_day("cancelled", "called")},
            {_of_day("added", "changed", unknown="NULL")}, {_of_day("removed", "changed", unknown="NULL")}
        FROM (
            SELECT m.session AS session, {DAY} AS day, s.kind = 'subagent' AS subagent,
                m.origin = 'human' AS prompt, m.origin = 'model' AND m.says AS reply,
                m.at - lag(m.at) OVER (PARTITION BY m.session ORDER BY m.at) AS gap
            FROM messages m JOIN sessions s ON s.id = m.session WHERE m.imported = 0 AND {{which}}
        ) AS did GROUP BY session, day""",
}
