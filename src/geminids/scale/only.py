"""Which rows are wanted: what engines push down to those who read.

What compares columns is loaded where there is something to compare: many processes start for little work.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from geminids.scale.homes import Wanted
from geminids.scale.schema import SESSIONS, TABLES
from geminids.storage.times import microseconds

_CLOCKS_APART = 24 * 3600 * 1_000_000
"""Microseconds that the clock of who wrote a file may be ahead of the one by which the file has its date."""


class Only(NamedTuple):
    """What rows must have. None is anything; what has no time is among those of any time."""

    agents: frozenset[str] | None = None
    machines: frozenset[str] | None = None
    projects: frozenset[str] | None = None
    since: datetime | None = None
    """Sessions that were not over by then, and what happened from then on."""
    until: datetime | None = None
    """Sessions that had begun before then, and what happened before."""

    def narrowed(self, other: Only) -> Only:
        """What both want."""
        return Only(
            _both(self.agents, other.agents),
            _both(self.machines, other.machines),
            _both(self.projects, other.projects),
            max(filter(None, (self.since, other.since)), default=None),
            min(filter(None, (self.until, other.until)), default=None),
        )

    def files(self) -> Wanted:
        """The files in which such rows may be."""
        since = microseconds(self.since)
        since_ns = None if since is None else (since - _CLOCKS_APART) * 1000
        return Wanted(self.agents, self.machines, self.projects, since_ns)

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table that tell which rows these are."""
        return frozenset(one.column for one in self._conditions(table))

    def of(self, table: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Those of some rows; they have the columns that tell."""
        for one in self._conditions(table):
            rows = rows.filter(one.holds(rows[one.column]))
        return rows

    def _conditions(self, table: str) -> list[_Condition]:
        began, ended = ("started_at", "ended_at") if table == SESSIONS.name else ("at", "at")
        conditions: list[_Condition | None] = [
            None if self.agents is None else _IsIn("agent", self.agents),
            None if self.machines is None else _IsIn("machine", self.machines),
            None if self.projects is None else _IsIn("project", self.projects),
            None if self.since is None else _NotBefore(ended, self.since),
            None if self.until is None else _Before(began, self.until),
        ]
        return [one for one in conditions if one is not None and one.column in TABLES[table].names]


ANYTHING = Only()


class _IsIn(NamedTuple):
    column: str
    wanted: frozenset[str]

    def holds(self, values: pa.Array) -> pa.Array:
        import pyarrow.compute as pc

        return pc.is_in(values, pa.array(sorted(self.wanted), pa.string()))


class _NotBefore(NamedTuple):
    column: str
    since: datetime

    def holds(self, values: pa.Array) -> pa.Array:
        import pyarrow.compute as pc

        return pc.fill_null(pc.greater_equal(values, _moment(self.since)), True)


class _Before(NamedTuple):
    column: str
    until: datetime

    def holds(self, values: pa.Array) -> pa.Array:
        import pyarrow.compute as pc

        return pc.fill_null(pc.less(values, _moment(self.until)), True)


_Condition = _IsIn | _NotBefore | _Before


def _moment(at: datetime) -> pa.Scalar:
    return pa.scalar(at, pa.timestamp("us", tz="UTC"))


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
