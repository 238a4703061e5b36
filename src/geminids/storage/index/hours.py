"""What requests used, hour by hour: for windows of use, which begin and end on the hour.

Hours are counted from 1970 in UTC. Nothing of this is summed up beforehand: windows are asked for of a few
days, or seldom.
"""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.values import NamedTuple
from geminids.storage.index.reader import Condition
from geminids.storage.index.totals import Spent
from geminids.storage.index.usage import AT, BAND, DAY, TOKEN_SUMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.index.database import Index

HOUR = 3_600_000_000
"""Microseconds."""


class SpentInHour(NamedTuple):
    """What requests of an agent used in an hour, of one model and size of prompts."""

    agent: str
    hour: int
    first: int
    """When the first of them was, in microseconds since 1970."""
    last: int
    spent: Spent


# Sessions first: of the last days there are few, and messages are not in order of time.
_OF_MESSAGES = """
FROM sessions s CROSS JOIN {table} r ON r.session = s.id CROSS JOIN messages m ON m.id = r.message
WHERE m.imported = 0 AND {which}"""
_SPENT = f"""
SELECT s.agent, {AT} / {HOUR} AS hour, min({AT}), max({AT}), {DAY}, coalesce(m.model, 0), {BAND},
    sum(requests) - sum(CASE WHEN total IS NULL THEN requests ELSE 0 END),
    sum(CASE WHEN total IS NULL THEN requests ELSE 0 END), {TOKEN_SUMS}
{_OF_MESSAGES.format(table="requests", which="{which}")}
GROUP BY 1, 2, 5, 6, 7 ORDER BY 1, 2"""
_UNMEASURED = f"""
SELECT s.agent, {AT} / {HOUR} AS hour, min({AT}), max({AT}), {DAY}, coalesce(m.model, 0), 0, 0, count(*),
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
{_OF_MESSAGES.format(table="estimates", which="{which}")}
GROUP BY 1, 2, 5, 6 ORDER BY 1, 2"""


def spent_by_hour(
    index: Index, conditions: Sequence[Condition] = (), since: int | None = None
) -> list[SpentInHour]:
    """What was used in each hour, in order of time for each agent; replies without tokens by themselves.

    Conditions are over a message (`m`) and its session (`s`); `since` is a moment.
    """
    held = [condition.sql for condition in conditions]
    held += [f"s.last >= {since} AND {AT} >= {since}"] if since is not None else []
    which = " AND ".join(f"({one})" for one in held) or "1"
    values = [value for condition in conditions for value in condition.values]
    rows = [
        row
        for select in (_SPENT, _UNMEASURED)
        for row in index.connection.execute(select.format(which=which), values)
    ]
    return [
        SpentInHour._make((*row[:4], Spent._make((row[1], *row[4:]))))
        for row in sorted(rows, key=lambda row: row[:3])
    ]
