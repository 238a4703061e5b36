"""Conditions of queries that readers heed, so that less is read. Spark looks at what comes once more."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING

from geminids.scale.only import ANYTHING, Only

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

_TIMES = frozenset({"at", "started_at", "ended_at"})
_MICROSECOND = timedelta(microseconds=1)


def heeded(filters: Iterable[Filter]) -> Only:
    """What conditions that all hold leave to be read: never less than they ask for."""
    return reduce(Only.narrowed, map(_heeded, filters), ANYTHING)


def _heeded(one: Filter) -> Only:
    # By their names: releases of Spark before 4.1 have none of them.
    kind = type(one).__name__
    match kind, getattr(one, "attribute", ()), getattr(one, "value", None):
        case "EqualTo" | "EqualNullSafe", (str(column),), str(text):
            return _among(column, frozenset({text}))
        case "In", (str(column),), list() | tuple() as values:
            return _among(column, frozenset(text for text in values if isinstance(text, str)))
        case _, (str(column),), datetime() as at if column in _TIMES:
            return _between(kind, at if at.tzinfo else at.replace(tzinfo=UTC))
        case _:
            return ANYTHING


def _among(column: str, texts: frozenset[str]) -> Only:
    match column:
        case "agent":
            return Only(agents=texts)
        case "machine":
            return Only(machines=texts)
        case "project":
            return Only(projects=texts)
        case _:
            return ANYTHING


def _between(kind: str, at: datetime) -> Only:
    match kind:
        case "GreaterThan" | "GreaterThanOrEqual":
            return Only(since=at)
        case "LessThan":
            return Only(until=at)
        case "LessThanOrEqual":
            return Only(until=_after(at))
        case "EqualTo" | "EqualNullSafe":
            return Only(since=at, until=_after(at))
        case _:
            return ANYTHING


def _after(at: datetime) -> datetime | None:
    """The next moment; None where there is none, so that nothing is left out."""
    try:
        return at + _MICROSECOND
    except OverflowError:
        return None
