"""Sessions counted by what they have in common."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from geminids.storage.index.reader import Condition, among, selection

if TYPE_CHECKING:
    from geminids.storage.index.database import Index


class FacetRow(NamedTuple):
    """Sessions that have all of this in common, and how many they are."""

    agent: str
    project: int
    kind: str
    status: str
    month: str
    """Of their last moment in local time, as 2026-05; empty if there is none."""
    sessions: int


def facet_rows(index: "Index", conditions: Iterable[Condition]) -> list[FacetRow]:
    """The sessions that fulfil all conditions, counted."""
    held, values = selection(conditions)
    rows = index.connection.execute(
        "SELECT agent, project, kind, status, "
        "coalesce(strftime('%Y-%m', last / 1000000, 'unixepoch', 'localtime'), ''), count(*) "
        f"FROM sessions {held} GROUP BY 1, 2, 3, 4, 5",
        values,
    )
    return list(map(FacetRow._make, rows))


def those_among(index: "Index", conditions: Iterable[Condition], ids: Collection[str]) -> list[str]:
    """Those of some sessions, by their ids, that fulfil all conditions."""
    held, values = selection([*conditions, among(ids)])
    return [sid for (sid,) in index.connection.execute(f"SELECT sid FROM sessions {held}", values)]
