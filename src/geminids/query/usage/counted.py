"""Which sessions, days, hours and models count in statistics."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from geminids.storage.index import totals
from geminids.storage.index.reader import Condition, numbered
from geminids.storage.index.totals import Scope
from geminids.storage.index.usage import AT, is_summed_up, sum_up_aside
from geminids.storage.times import microseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.search.language import Query
    from geminids.storage.index.database import Index

_EPOCH = date(1970, 1, 1)
_OF_TIME = frozenset({"since", "before", "hour"})
"""Filters that narrow what is counted, not which sessions are."""


def scope_of(index: Index, query: Query | None, found: Sequence[int] | None) -> Scope:
    """What a query leaves. `found` are the sessions with its words, if it has any."""
    scope = Scope(sessions_counted(index, query, found))
    if query is None:
        return in_time(index, scope)
    hours = hours_counted(index, query)
    return in_time(index, scope._replace(models=_models(index, query)), query.since, query.before, hours)


def sessions_counted(index: Index, query: Query | None, found: Sequence[int] | None) -> list[Condition]:
    """What is asked of a session (`s`)."""
    conditions = [] if found is None else [numbered(found, "s.id")]
    timeless = tuple(f for f in query.filters if f.name not in _OF_TIME) if query is not None else ()
    if query is None or not timeless:
        return conditions
    from geminids.query.search.scope import narrowings

    asked = [narrowing.condition for narrowing in narrowings(index, query._replace(filters=timeless))]
    if all("m." not in condition.sql for condition in asked):
        return [*conditions, *asked]
    # Messages are looked at once, not for each of the sums.
    sessions = totals.sessions_meant(index, [*conditions, *map(_of_session, asked)])
    return [numbered(sessions, "s.id")]


def requests_counted(index: Index, query: Query | None, found: Sequence[int] | None) -> list[Condition]:
    """All that is asked of a message (`m`) and its session (`s`), where nothing is summed up beforehand."""
    models = _models(index, query) if query is not None else None
    asked = [*sessions_counted(index, query, found), *times_counted(index, query)]
    return asked if models is None else [*asked, numbered(models, "coalesce(m.model, 0)")]


def times_counted(index: Index, query: Query | None) -> list[Condition]:
    """What is asked of when a message (`m`) of a session (`s`) was."""
    if query is None:
        return []
    since, before = microseconds(query.since), microseconds(query.before)
    bounds = [Condition(f"{AT} >= ?", (since,))] if since is not None else []
    bounds += [Condition(f"{AT} < ?", (before,))] if before is not None else []
    return bounds + hours_counted(index, query)


def hours_counted(index: Index, query: Query) -> list[Condition]:
    """What is asked of the hour of a message (`m`)."""
    hours = tuple(f for f in query.filters if f.name == "hour")
    if not hours:
        return []
    from geminids.query.search.scope import narrowings

    return [narrowing.condition for narrowing in narrowings(index, query._replace(filters=hours))]


def _of_session(condition: Condition) -> Condition:
    """What is asked of a message holds for a session if it does for one of its messages."""
    if "m." not in condition.sql:
        return condition
    return Condition(
        f"EXISTS (SELECT 1 FROM messages m WHERE m.session = s.id AND {condition.sql})", condition.values
    )


def _models(index: Index, query: Query) -> list[int] | None:
    """The models that are asked for: then only their requests count."""
    wanted = query.wanted("model")
    if not wanted:
        return None
    from geminids.query.search.scope import numbers_named
    from geminids.storage.index.search import models

    known = models(index)
    return sorted({number for value in wanted for number in numbers_named(known, value)})


def in_time(
    index: Index,
    scope: Scope,
    since: datetime | None = None,
    before: datetime | None = None,
    hours: Sequence[Condition] = (),
) -> Scope:
    """A scope with bounds of time; what is no whole days is summed up for it."""
    first, last = _first_day(since), _last_day(before)
    whole = (since is None or first is not None) and (before is None or last is not None)
    if whole and not hours and is_summed_up(index):
        return scope._replace(first=first, last=last)
    sum_up_aside(index, microseconds(since), microseconds(before), hours)
    return scope._replace(is_aside=True)


def first_day_of(by: str, day: int) -> int:
    """Return the first day of the week or month that a day is in, or that day."""
    match by:
        case "week":
            # Weeks begin on Mondays, and 1970 began on a Thursday.
            return (day + 3) // 7 * 7 - 3
        case "month":
            return day - (_EPOCH + timedelta(days=day)).day + 1
        case _:
            return day


def _first_day(since: datetime | None) -> int | None:
    """The day that begins at a moment; None if none does."""
    if since is None:
        return None
    try:
        local = since.astimezone()
    except OverflowError:
        # At either end of time there is no such moment in this zone.
        return None
    is_midnight = (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)
    return (local.date() - _EPOCH).days if is_midnight else None


def _last_day(before: datetime | None) -> int | None:
    following = _first_day(before)
    return None if following is None else following - 1
