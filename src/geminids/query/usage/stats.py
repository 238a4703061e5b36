"""What sessions did, used and cost, in groups, from the sums of the index: no file of an agent is opened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property

from geminids.core.values import NamedTuple, Value
from geminids.query.usage.counted import first_day_of, scope_of, sessions_counted, times_counted
from geminids.query.usage.figures import Figures, Tokens, figures_of, together, used_by
from geminids.query.usage.row_prices import Pricing, RowPrices, Unpriced, date_of
from geminids.storage.index import reader, totals
from geminids.storage.index.totals import Key, Scope, Spent
from geminids.storage.index.values import SessionRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal
    from typing import Any

    from geminids.query.search.language import Query
    from geminids.query.usage.prices import Basis
    from geminids.storage.index.database import Index

STATS_GROUPS = ("day", "week", "month", "model", "agent", "project", "session", "tool")
"""What figures can be grouped by."""
TIMES = frozenset({"day", "week", "month"})


class StatsQuestion(Value):
    """Which sessions, and how they are grouped."""

    by: str = "day"
    """One of `STATS_GROUPS`, or several with commas between."""
    words: str = ""
    """In the language of searches: the sessions that it finds."""
    since: str | None = None
    until: str | None = None
    """A day counts up to its end."""
    project: str | None = None
    agents: Sequence[str] = ()
    fold: bool = True
    """Whether subagents count as their parents, where sessions are told apart."""
    estimate: bool = False
    """Whether tokens that nobody recorded are guessed."""


class GroupName(NamedTuple):
    """What one grouping calls a group."""

    key: str
    """A day as 2026-11-15 (the first of a week or month), a name, or the id of a session."""
    name: str
    """What people call it: the title of a session, the name of a project."""
    agent: str | None = None
    """Of a session."""


class StatsGroup(NamedTuple):
    """One line of a table."""

    names: tuple[GroupName, ...]
    """One for each grouping, in their order."""
    figures: Figures

    @property
    def key(self) -> str:
        """Return its key in the first grouping."""
        return self.names[0].key

    @property
    def name(self) -> str:
        """Return its name in the first grouping."""
        return self.names[0].name

    @property
    def agent(self) -> str | None:
        """Return its agent in the first grouping."""
        return self.names[0].agent


class Statistics(Value):
    """What was asked for."""

    by: str
    """As the question has it."""
    total: Figures
    grouped_sessions: int
    """Those that a human led and that are in any group: not all of them call tools or models."""
    groups: Sequence[StatsGroup]
    """In order of time, or the largest first."""
    days: Sequence[tuple[date, Tokens]]
    """What was used day by day: what a picture shows."""
    since: datetime | None
    until: datetime | None
    basis: Basis
    """Where the prices are from."""
    unpriced: Sequence[Unpriced]
    agents: Sequence[str]
    """Whose sessions there are among them."""
    kinds: Mapping[str, int]
    """How many sessions of each kind are in it."""
    uncounted: Mapping[str, int]
    """How many are not, since all in them was taken over; none where a time is chosen."""
    span: tuple[date, date] | None = None
    """The first and the last day on which anything was done."""

    @property
    def groupings(self) -> Sequence[str]:
        """Return what the figures are grouped by, one after the other."""
        return self.by.split(",")

    def together(self, groups: Iterable[StatsGroup]) -> Figures:
        """What adds up of some of the groups."""
        return together([group.figures for group in groups])


class LargestSessions(NamedTuple):
    """The largest sessions, each with its subagents."""

    by_tokens: Sequence[tuple[SessionRow, int]]
    by_time: Sequence[tuple[SessionRow, int]]
    """With the microseconds in which somebody was at work."""


def statistics(
    index: Index,
    question: StatsQuestion,
    query: Query | None,
    found: Sequence[int] | None,
    pricing: Pricing,
) -> Statistics:
    """The figures that are asked for. `found` are the sessions with the words of the query, if it has any."""
    scope = scope_of(index, query, found)
    times = (query.since, query.before) if query else (None, None)
    counting = _Counting(index, scope, question, group_of(index, question), pricing, times=times)
    return counting.statistics(query)


def figures_by_session(
    index: Index, sessions: Sequence[int], roots: Mapping[int, int], pricing: Pricing
) -> dict[int, Figures]:
    """What each of some sessions did and used, by its number, without all that is told of them together.

    What has a root counts with it.
    """
    totals.count_as_one(index, "one_session", roots)
    scope, question = scope_of(index, None, sessions), StatsQuestion(by="session")
    groups = _Counting(index, scope, question, "one session", pricing).groups()
    return {int(key): figures for key, figures in groups.items()}


def asked(question: StatsQuestion, now: datetime) -> Query | None:
    """What the question says in the language of searches; None if all sessions count.

    Raises QuerySyntaxError or BadTimeError.
    """
    options = (question.words, question.since, question.until, question.project, *question.agents)
    if not any(options):
        return None
    from geminids.query.search.question import Question, query_of

    agents = "".join(f" agent:{agent}" for agent in question.agents)
    search = Question(
        question.words + agents, project=question.project, since=question.since, until=question.until
    )
    return query_of(search, now)


def busy_hours(index: Index, query: Query | None, found: Sequence[int] | None) -> list[totals.BusyHour]:
    """When people typed and models answered. `found` are the sessions with the words of the query."""
    return totals.by_hour(index, [*sessions_counted(index, query, found), *times_counted(index, query)])


def largest_sessions(
    index: Index, query: Query | None, found: Sequence[int] | None, most: int
) -> LargestSessions:
    """The sessions, each with its subagents, that used and that took most."""
    scope = scope_of(index, query, found)
    group = group_of(index, StatsQuestion(by="session"))
    by_tokens = totals.largest(index, scope, f"spent {group}", "total", most)
    by_time = totals.largest(index, scope, f"days {group}", "active", most)
    rows = reader.sessions_numbered(index, [int(key) for key, _ in (*by_tokens, *by_time)])
    return LargestSessions(
        [(rows[int(key)], tokens) for key, tokens in by_tokens if int(key) in rows],
        [(rows[int(key)], active) for key, active in by_time if int(key) in rows],
    )


# Counting


class _Counting:
    """Adds up what is in a scope."""

    def __init__(
        self,
        index: Index,
        scope: Scope,
        question: StatsQuestion,
        group: str,
        pricing: Pricing,
        *,
        times: tuple[datetime | None, datetime | None] = (None, None),
    ) -> None:
        self._index = index
        self._scope = scope
        self._by = question.by
        self._group = group
        self._incomplete = totals.incomplete_sessions(index, scope, *times)
        # Tools use no tokens of their own: their requests are told all together.
        spent_by = "day" if self._is_by("tool") else self._group
        spent = totals.spent(index, scope, spent_by)
        guessed = totals.estimated(index, scope, spent_by)
        self._prices = RowPrices(index, (*spent, *guessed), pricing)
        by_day = spent_by == "day"
        self._used = _Used(spent, self._prices.cost, by_day=by_day)
        self._used.note_unmeasured(guessed)
        self._estimated = _Used(guessed, self._prices.price, by_day=by_day) if question.estimate else None

    def statistics(self, query: Query | None) -> Statistics:
        """All figures."""
        total = self._total()
        kinds, uncounted = totals.kinds(self._index, self._scope)
        return Statistics(
            by=self._by,
            total=total,
            grouped_sessions=self._grouped_sessions(total),
            groups=_named(self._index, self._by, self.groups(), self._prices.models),
            days=[(date_of(int(day)), used) for day, used in sorted(self._used.by_day.items())],
            since=query.since if query else None,
            until=query.before if query else None,
            basis=self._prices.basis,
            unpriced=self._prices.unpriced(),
            agents=totals.agents(self._index, self._scope),
            kinds=kinds,
            uncounted=uncounted,
            span=self._span(),
        )

    def _span(self) -> tuple[date, date] | None:
        days = totals.span(self._index, self._scope)
        return None if days is None else (date_of(days[0]), date_of(days[1]))

    def _total(self) -> Figures:
        done = self._deeds("all").get(0, Figures())
        guessed = self._estimated.total() if self._estimated else None
        return done._replace(tokens=self._used.total(), estimated=guessed, incomplete=len(self._incomplete))

    def _is_by(self, grouping: str) -> bool:
        return grouping in self._by.split(",")

    def _grouped_sessions(self, total: Figures) -> int:
        if self._is_by("tool"):
            return totals.sessions_in(self._index, self._scope, "called")
        if self._is_by("model"):
            return len({session for _, session, is_subagent in self._answered if not is_subagent})
        return total.sessions

    def groups(self) -> dict[Key, Figures]:
        """The figures of each group."""
        if self._is_by("tool"):
            groups, table = self._tools(), "called"
        elif self._is_by("model"):
            groups, table = self._used_in(self._models_led()), "spent"
        else:
            groups, table = self._used_in(self._deeds(self._group)), "days"
        for key, number in self._incomplete_in(groups, table).items():
            groups[key] = groups[key]._replace(incomplete=number)
        return groups

    def _incomplete_in(self, groups: Mapping[Key, Figures], table: str) -> dict[Key, int]:
        """Return how many sessions of each group were not read completely."""
        if not self._incomplete:
            return {}
        if self._by in TIMES:
            # The days of the records that were not read are not known.
            spans = {key: sum(s.is_in(*self._days(int(key))) for s in self._incomplete) for key in groups}
            return {key: number for key, number in spans.items() if number}
        numbers = [session.session for session in self._incomplete]
        found = totals.incomplete_in(self._index, numbers, table, self._group)
        return {key: number for key, number in found.items() if key in groups}

    def _days(self, first: int) -> tuple[int, int]:
        """Return the first and the last day of a group."""
        longest = {"week": 7, "month": 31}.get(self._by, 1)
        following = (day for day in range(first, first + longest) if first_day_of(self._by, day) == first)
        return first, max(following)

    def _tools(self) -> dict[Key, Figures]:
        changed = totals.files(self._index, self._scope, self._group)
        return {
            tool.key: Figures(
                sessions=tool.sessions,
                subagents=tool.subagents,
                calls=tool.calls,
                errors=tool.errors,
                cancelled=tool.cancelled,
                files=changed.get(tool.key, 0),
                added=tool.added,
                removed=tool.removed,
            )
            for tool in totals.called(self._index, self._scope, self._group)
        }

    @cached_property
    def _answered(self) -> set[tuple[Key, int, bool]]:
        return totals.answered(self._index, self._scope, self._group)

    def _models_led(self) -> dict[Key, Figures]:
        known = Counter((key, is_subagent) for key, _, is_subagent in self._answered)
        return {
            key: Figures(sessions=known[key, False], subagents=known[key, True])
            for key in {key for key, _ in known}
        }

    def _used_in(self, groups: dict[Key, Figures]) -> dict[Key, Figures]:
        """The groups with what they used."""
        for key, used in self._used.by_key.items():
            groups[key] = groups.get(key, Figures())._replace(tokens=used)
        for key, used in self._estimated.by_key.items() if self._estimated else ():
            groups[key] = groups.get(key, Figures())._replace(estimated=used)
        return groups

    def _deeds(self, group: str) -> dict[Key, Figures]:
        """What was done in each group."""
        groups = {done.key: figures_of(done) for done in totals.done(self._index, self._scope, group)}
        for key, files in totals.files(self._index, self._scope, group).items():
            groups[key] = groups.get(key, Figures())._replace(files=files)
        return groups


class _Used:
    """Tokens of some rows: all of them, by group and by day."""

    def __init__(
        self, rows: Iterable[Spent], cost: Callable[[Spent], Decimal | None], *, by_day: bool
    ) -> None:
        """Divide them; `by_day` says that the groups are days."""
        self._by_key: defaultdict[Key, list[tuple[Any, ...]]] = defaultdict(list)
        self._by_day: defaultdict[Key, list[tuple[Any, ...]]] | None = None if by_day else defaultdict(list)
        for row in rows:
            self._add(row, used_by(row, cost(row)))

    def note_unmeasured(self, rows: Iterable[Spent]) -> None:
        """Count the replies that are no recorded requests; they are told by what they may have used."""
        for row in rows:
            self._add(row, Tokens(unmeasured=row.requests))

    def _add(self, row: Spent, used: tuple[Any, ...]) -> None:
        self._by_key[row.key].append(used)
        if self._by_day is not None:
            self._by_day[row.day].append(used)

    @cached_property
    def by_key(self) -> dict[Key, Tokens]:
        """Those of each group."""
        return {key: Tokens.sum(used) for key, used in self._by_key.items()}

    @cached_property
    def by_day(self) -> dict[Key, Tokens]:
        """Those of each day."""
        if self._by_day is None:
            return self.by_key
        return {day: Tokens.sum(used) for day, used in self._by_day.items()}

    def total(self) -> Tokens:
        """All of them."""
        return Tokens.sum(self.by_key.values())


# Groups and their names


def group_of(index: Index, question: StatsQuestion) -> str:
    """The group to ask for, after noting what counts as one."""
    return ",".join(_group_of(index, one, fold=question.fold) for one in question.by.split(","))


def _group_of(index: Index, by: str, *, fold: bool) -> str:
    if by == "project":
        totals.count_as_one(index, "one_project", projects_that_are_one(index))
        return "one project"
    if by == "session" and fold:
        totals.count_as_one(index, "one_session", roots_of(totals.parents(index)))
        return "one session"
    return by


def roots_of(parents: dict[int, int]) -> dict[int, int]:
    """For each subagent the session in which a human is; those that start each other in a ring stay alone."""
    roots: dict[int, int] = {}
    for child, parent in parents.items():
        above, seen = parent, {child}
        while above in parents and above not in seen:
            seen.add(above)
            above = parents[above]
        if above not in seen:
            roots[child] = above
    return roots


def projects_that_are_one(index: Index) -> dict[int, int]:
    """For each project that files name, the first of those that are the same folder."""
    known = reader.projects(index)
    first: dict[str, int] = {}
    return {
        number: first.setdefault(project.path or project.hash or project.slug or "", number)
        for number, project in sorted(known.items())
    }


def _named(index: Index, by: str, groups: dict[Key, Figures], models: dict[int, str]) -> list[StatsGroup]:
    """The groups with their names, in order of time or the largest first."""
    several = by.split(",")
    keyed = [(_parts_of(key, several), figures) for key, figures in groups.items()]
    named = [
        NAMING[one](index, list({key[place] for key, _ in keyed}), models)
        for place, one in enumerate(several)
    ]
    found = [
        StatsGroup(tuple(names[part] for names, part in zip(named, key, strict=True)), figures)
        for key, figures in keyed
        if all(part in names for names, part in zip(named, key, strict=True))
    ]
    return _in_order(found, several)


def _parts_of(key: Key, several: Sequence[str]) -> Sequence[Key]:
    """Return the key of a group in each grouping."""
    if len(several) == 1:
        return [key]
    from json import loads

    parts: list[Key] = loads(str(key))
    return parts


def _in_order(groups: Sequence[StatsGroup], several: Sequence[str], place: int = 0) -> list[StatsGroup]:
    """Groups by their first grouping, those of each group there by the next one."""
    if place == len(several):
        return list(groups)
    together: dict[GroupName, list[StatsGroup]] = {}
    for group in groups:
        together.setdefault(group.names[place], []).append(group)
    weight = _calls if "tool" in several else _weight
    if several[place] in TIMES:
        ordered = sorted(together, key=lambda name: name.key)
    else:
        ordered = sorted(together, key=lambda name: (*weight(together[name]), name.name))
    return [group for name in ordered for group in _in_order(together[name], several, place + 1)]


def _weight(groups: Sequence[StatsGroup]) -> tuple[int, int]:
    figures = [group.figures for group in groups]
    return -sum(one.tokens.total or 0 for one in figures), -sum(one.prompts for one in figures)


def _calls(groups: Sequence[StatsGroup]) -> tuple[int, int]:
    figures = [group.figures for group in groups]
    return -sum(one.calls for one in figures), -sum(one.sessions for one in figures)


def _times(_: Index, keys: Sequence[Key], __: dict[int, str]) -> dict[Key, GroupName]:
    days = {key: str(date_of(int(key))) for key in keys}
    return {key: GroupName(day, day) for key, day in days.items()}


def _agents(_: Index, keys: Sequence[Key], __: dict[int, str]) -> dict[Key, GroupName]:
    return {key: GroupName(str(key), str(key)) for key in keys}


def _models_named(_: Index, keys: Sequence[Key], models: dict[int, str]) -> dict[Key, GroupName]:
    names = {key: models.get(int(key), "") for key in keys}
    return {key: GroupName(name, name or "(unknown)") for key, name in names.items()}


def _tools(index: Index, keys: Sequence[Key], _: dict[int, str]) -> dict[Key, GroupName]:
    names = totals.names(index, [int(key) for key in keys])
    return {key: GroupName(names.get(int(key), ""), names.get(int(key), "(unknown)")) for key in keys}


def _projects(index: Index, keys: Sequence[Key], _: dict[int, str]) -> dict[Key, GroupName]:
    from geminids.core.names import project_names

    known = reader.projects(index)
    rows = {key: known[int(key)] for key in keys}
    names = project_names(rows.values())
    return {key: GroupName(row.path or row.hash or row.slug or "", names[row]) for key, row in rows.items()}


def _sessions(index: Index, keys: Sequence[Key], _: dict[int, str]) -> dict[Key, GroupName]:
    rows = reader.sessions_numbered(index, [int(key) for key in keys])
    return {number: GroupName(row.id, row.title or "", row.agent) for number, row in rows.items()}


NAMING: dict[str, Callable[[Index, Sequence[Key], dict[int, str]], dict[Key, GroupName]]] = {
    **dict.fromkeys(("day", "week", "month"), _times),
    "agent": _agents,
    "model": _models_named,
    "tool": _tools,
    "project": _projects,
    "session": _sessions,
}
"""How groups get their names, by their keys."""
