"""Which sessions are shown, in which order, and what the question hides."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from geminids.core.values import NamedTuple, Value
from geminids.storage.index import reader
from geminids.storage.index.reader import ORDERS, UNREADABLE, Condition
from geminids.storage.index.values import ProblemRow, ProjectRow, SessionRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import TypeVar

    from geminids.core.errors import ProjectNotFoundError, Unreadable
    from geminids.query.projects.lookup import Meant
    from geminids.storage.index.database import Index

    Trouble = TypeVar("Trouble", bound=Unreadable)

LED_BY_HUMANS = frozenset({"main", "checkpoint", "lost"})
"""The kinds of sessions that a list shows unless it is asked for others."""
BY_USE = frozenset({"cost", "tokens", "time"})
"""Orders by what sessions used, which the index alone does not know."""
LEFT_UNREAD = "left-unread"
RUNNING_SECONDS = 180
"""A session that was written to so lately seems to be running."""


def is_running(last: datetime | None, now: datetime) -> bool:
    """Whether somebody seems to be in a session that was written to last at this moment."""
    return last is not None and abs((now - last).total_seconds()) <= RUNNING_SECONDS


class Filter(NamedTuple):
    """Which sessions are asked for, and in which order."""

    project: str | None = None
    """A path, a name, a slug or the beginning of a hash."""
    since: datetime | None = None
    until: datetime | None = None
    kinds: frozenset[str] | None = None
    """None means every kind."""
    tags: Sequence[str] = ()
    """Only sessions that have all of them."""
    order: str = "date"
    """By `date` (of the last word), `started`, `messages`, `title`, `project`, or one of BY_USE."""
    reverse: bool = False
    agents: Sequence[str] = ()
    """Only sessions of one of these; none means of any."""
    kept: bool = False
    """Only sessions whose files are gone, and that are read from copies."""
    titled: str = ""
    """Only sessions in whose title a word begins so."""


class Listing(Value):
    """The sessions that were asked for, in the order that was, and what the question left out."""

    sessions: Sequence[SessionRow]
    """As many of them as were wished."""
    total: int
    considered: Mapping[str, int]
    """How many sessions there are of each kind that was asked for."""
    kinds: Mapping[str, int]
    """How many of each kind, asked for or not, fulfil all else that was asked."""
    hidden: dict[str, int]
    """How many sessions each part of the question left out."""
    projects: Sequence[ProjectRow]
    """All projects, where one was asked for."""
    problems: Sequence[ProblemRow]
    """What could not be looked at."""
    left_unread: Sequence[ProblemRow]
    """What was too large to be read whole."""
    matched: Sequence[ProjectRow] = ()
    """The projects that were meant, where one was asked for."""

    def asked_for(self, wanted: Container[str] | None) -> dict[str, int]:
        """How many sessions of each of the kinds that are wanted; None means all."""
        return {kind: number for kind, number in self.kinds.items() if wanted is None or kind in wanted}

    def nearest_projects(self, wanted: str) -> list[str]:
        """Projects that may have been meant, or else a few of those there are."""
        from geminids.query.projects.lookup import names_of, nearest

        return nearest(names_of(self.projects), wanted)

    def no_such_project(self, wanted: str) -> ProjectNotFoundError:
        """What is to be said where none is meant."""
        from geminids.query.projects.lookup import not_found

        return not_found(self.projects, wanted)


def listing(
    index: Index, wanted: Filter, limit: int | None = None, tagged: Collection[str] = (), skip: int = 0
) -> Listing:
    """The sessions that were asked for, and how many were not; `tagged` are those that have the tags.

    `skip` are so many of the first that stand on the pages before.
    """
    project = _meant(index, wanted)
    conditions = _conditions(wanted, project, tagged)
    shown = reader.sessions(index, conditions.values(), limit, ORDERS[wanted.order][wanted.reverse], skip)
    kinds = reader.session_kinds(index, [held for name, held in conditions.items() if name != "kind"])
    counted, hidden = _sorted_out(index, wanted, conditions, kinds)
    # Another process may have written in between; what is shown counts.
    total = counted if skip or (limit is not None and len(shown) == limit) else len(shown)
    return Listing(
        sessions=shown,
        total=total,
        # Counting takes as long as all else that a list asks for.
        considered=_asked_for(
            wanted, kinds if conditions.keys() <= {"kind"} else reader.session_kinds(index)
        ),
        kinds=kinds,
        hidden=hidden,
        projects=project.known if project else (),
        problems=reader.problems(index, UNREADABLE),
        left_unread=each_file_once(reader.problems(index, LEFT_UNREAD)),
        matched=project.projects if project else (),
    )


def _sorted_out(
    index: Index, wanted: Filter, conditions: Mapping[str, Condition], kinds: Mapping[str, int]
) -> tuple[int, dict[str, int]]:
    """How many sessions are meant, and how many each condition leaves out."""
    if not conditions.keys() <= {"kind"}:
        return reader.sessions_sorted_out(index, conditions)
    meant, every = sum(_asked_for(wanted, kinds).values()), sum(kinds.values())
    return meant, {"kind": every - meant} if every > meant else {}


def _asked_for(wanted: Filter, kinds: Mapping[str, int]) -> dict[str, int]:
    """Those of some counts that are of kinds which were asked for."""
    return {kind: n for kind, n in kinds.items() if wanted.kinds is None or kind in wanted.kinds}


def conditions_of(index: Index, wanted: Filter, tagged: Collection[str] = ()) -> dict[str, Condition]:
    """What the sessions fulfil that are asked for, by what it is about."""
    return _conditions(wanted, _meant(index, wanted), tagged)


def _meant(index: Index, wanted: Filter) -> Meant | None:
    if wanted.project is None:
        return None
    from geminids.query.projects.lookup import meant

    return meant(index, wanted.project)


def _conditions(wanted: Filter, project: Meant | None, tagged: Collection[str]) -> dict[str, Condition]:
    """What a session must fulfil, by what it is about; whatever comes first hides it."""
    conditions: dict[str, Condition] = {}
    if project is not None:
        conditions["project"] = project.condition()
    if wanted.agents:
        conditions["agent"] = reader.one_of("agent", sorted(wanted.agents))
    if wanted.tags:
        conditions["tag"] = reader.among(tagged)
    if wanted.kept:
        conditions["kept"] = Condition("kept")
    if wanted.titled:
        begun = f" {wanted.titled.lower()}"
        conditions["title"] = Condition("instr(lower(' ' || title), ?)", (begun,))
    if wanted.since:
        conditions["since"] = reader.not_over_before(wanted.since)
    if wanted.until:
        conditions["until"] = reader.begun_before(wanted.until)
    if wanted.kinds is not None:
        conditions["kind"] = reader.one_of("kind", sorted(wanted.kinds))
    return conditions


def each_file_once(problems: Iterable[Trouble]) -> tuple[Trouble, ...]:
    """Of the problems of a file, the last."""
    return tuple({problem.file: problem for problem in problems}.values())
