"""What the filters of a query mean for the rows of the index.

Several values of one filter are alternatives, what is turned round with `-` may not fit, and different
filters must all fit. What nothing has is answered with what there is.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.storage.index import search
from geminids.storage.index.reader import Condition, among, one_of
from geminids.storage.index.search import NOTHING
from geminids.storage.times import microseconds

if TYPE_CHECKING:
    from geminids.query.search.language import Query
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.database import Index

_MOST_NEAR = 10
"""Tags or names that are told where none is meant."""
KINDS = frozenset({"main", "subagent", "checkpoint", "lost"})


class Narrowing(NamedTuple):
    """The values of one filter as they were typed, and what they ask of a message."""

    typed: str
    condition: Condition
    near: tuple[str, ...] = ()
    """What there is, where nothing has this value."""


class Meaning(NamedTuple):
    """What one value asks of a message."""

    condition: Condition
    near: tuple[str, ...] = ()


def narrowings(index: "Index", query: "Query") -> list[Narrowing]:
    """What the filters ask of a message, one by one; where to look in it (`in:`) is not among them."""
    names = dict.fromkeys(f.name for f in query.filters if f.name != "in")
    return [_narrowing(index, query, name) for name in names]


def _narrowing(index: "Index", query: "Query", name: str) -> Narrowing:
    typed = " ".join(
        f"{'-' if f.is_negated else ''}{name}:{f.value}" for f in query.filters if f.name == name
    )
    if name in _MOMENTS:
        return Narrowing(typed, _MOMENTS[name](query))
    known = {**_MEANINGS, **_said_by_the_user(query.marks)}
    wanted = [known[name](index, value) for value in query.wanted(name)]
    unwanted = [known[name](index, value) for value in query.unwanted(name)]
    near = tuple(dict.fromkeys(other for meaning in wanted for other in meaning.near))
    condition = search.together([one.condition for one in wanted], [one.condition for one in unwanted])
    return Narrowing(typed, condition, near)


def _since(query: "Query") -> Condition:
    return search.not_before(microseconds(query.since) or 0)


def _before(query: "Query") -> Condition:
    return search.before(microseconds(query.before) or 0)


def _agent(index: "Index", value: str) -> Meaning:
    known = search.agents(index)
    matches = [agent for agent in known if value.casefold() in agent.casefold()]
    return Meaning(one_of("s.agent", matches)) if matches else Meaning(NOTHING, tuple(known))


def _project(index: "Index", value: str) -> Meaning:
    """By the same rules as `list --project`."""
    from geminids.query.projects.lookup import meant, names_of, nearest

    found = meant(index, value)
    if found.projects:
        return Meaning(found.condition("s."))
    return Meaning(NOTHING, tuple(nearest(names_of(found.known), value)))


def _tool(index: "Index", value: str) -> Meaning:
    return _part_of_a_name(search.tools(index), value, search.calls_one_of)


def _model(index: "Index", value: str) -> Meaning:
    return _part_of_a_name(search.models(index), value, lambda numbers: one_of("m.model", numbers))


def _part_of_a_name(
    known: dict[str, int], value: str, condition: Callable[[Sequence[int]], Condition]
) -> Meaning:
    matches = numbers_named(known, value)
    if matches:
        return Meaning(condition(matches))
    from geminids.query.projects.lookup import nearest

    return Meaning(NOTHING, tuple(nearest(list(known), value)))


def numbers_named(known: Mapping[str, int], value: str) -> list[int]:
    """Those whose name holds a value; after `=` it is the name itself."""
    if value.startswith("="):
        return [number for name, number in known.items() if name == value[1:]]
    return [number for name, number in known.items() if value.casefold() in name.casefold()]


def _file(_: "Index", value: str) -> Meaning:
    """A path or a piece of one: its words one after the other."""
    from geminids.storage.text.words import spellings

    expressions = [phrase.expression for phrase in spellings(value)]
    if not expressions:
        return Meaning(NOTHING)
    return Meaning(search.says(f"{{path}} : ({' OR '.join(expressions)})"))


def _role(_: "Index", value: str) -> Meaning:
    return Meaning(one_of("m.role", [value]))


def _status(_: "Index", value: str) -> Meaning:
    return Meaning(one_of("s.status", [value]))


def _is(_: "Index", value: str) -> Meaning:
    if value in KINDS:
        return Meaning(one_of("s.kind", [value]))
    if value in ("deleted", "kept"):
        return Meaning(Condition("s.kept"))
    if value == "error":
        return Meaning(search.FAILED_CALL)
    if value == "dropped":
        return Meaning(one_of("m.state", ["current", "unrecorded"]).negated())
    return Meaning(one_of("m.state", [value]))


def _hour(_: "Index", value: str) -> Meaning:
    """A weekday, an hour of any day, or an hour of a weekday."""
    from geminids.query.search.filters import WEEKDAYS

    first, _dash, second = value.partition("-")
    weekday = WEEKDAYS.index(first) if first in WEEKDAYS else None
    hour = second if weekday is not None else first
    return Meaning(search.in_hour(weekday, int(hour) if hour else None))


def _said_by_the_user(marks: "Mapping[str, Marks]") -> "dict[str, Callable[[Index, str], Meaning]]":
    """The filters that ask for marks: whole tags, and any piece of a name."""

    def tag(_: "Index", value: str) -> Meaning:
        wanted = value.casefold()
        known = dict.fromkeys(tag for said in marks.values() for tag in said.tags)
        tagged = [sid for sid, said in marks.items() if wanted in map(str.casefold, said.tags)]
        return Meaning(among(tagged)) if tagged else Meaning(NOTHING, tuple(known)[:_MOST_NEAR])

    def name(_: "Index", value: str) -> Meaning:
        wanted = value.casefold()
        names = {sid: said.name for sid, said in marks.items() if said.name}
        named = [sid for sid, name in names.items() if wanted in name.casefold()]
        return Meaning(among(named)) if named else Meaning(NOTHING, tuple(names.values())[:_MOST_NEAR])

    return {"tag": tag, "name": name}


def _id(_: "Index", value: str) -> Meaning:
    """Any piece of the id of a session."""
    return Meaning(Condition("instr(lower(s.sid), ?)", (value.casefold(),)))


_MOMENTS: "dict[str, Callable[[Query], Condition]]" = {"since": _since, "before": _before}
_MEANINGS: "dict[str, Callable[[Index, str], Meaning]]" = {
    "agent": _agent,
    "project": _project,
    "tool": _tool,
    "file": _file,
    "model": _model,
    "role": _role,
    "status": _status,
    "is": _is,
    "hour": _hour,
    "id": _id,
}
