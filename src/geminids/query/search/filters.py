"""Filters of a query, `name:value`: which there are, which values they take, what a slip was meant for."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geminids.core.agents import available as available_agents
from geminids.core.values import NamedTuple
from geminids.query.search.found import COLUMN_NAMES
from geminids.query.search.mistakes import QuerySyntaxError
from geminids.storage.index.schema import COLUMNS

if TYPE_CHECKING:
    from datetime import datetime

PLACES = {name: column for column, name in COLUMN_NAMES.items()}
"""What `in:` takes, and the column that it means."""

_OTHER_PLACES = {
    **{column: column for column in COLUMNS},
    "humans": "human",
    "models": "model",
    "argument": "tool",
    "tools": "tool",
    "outputs": "output",
    "others": "other",
}

CHOICES: Mapping[str, tuple[str, ...]] = {
    "role": ("user", "assistant", "system"),
    "status": ("success", "failure", "interrupted", "cancelled", "error"),
    "in": tuple(PLACES),
    "is": (
        *("current", "rewound", "compressed", "failed", "cancelled", "superseded", "unrecorded", "dropped"),
        *("main", "subagent", "checkpoint", "lost", "error", "deleted", "kept"),
    ),
}
"""Filters that take one of a few values, or several with commas between."""

MOMENTS = ("since", "before")
_NAMED = ("agent", "tool", "model", "tag")
"""Filters whose values hold no commas; folders and files may."""
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FILTERS = (
    *("agent", "project", "tool", "file", "model", "role", "status", *MOMENTS, "hour", "in", "is", "id"),
    *("tag", "name"),
)

_ELSEWHERE = {
    "after": "since",
    "until": "before",
    "date": "since",
    "path": "file",
    "repo": "project",
    "folder": "project",
    "directory": "project",
    "cwd": "project",
    "session": "id",
    "label": "tag",
    "title": "name",
}
"""What filters are called in other search boxes."""

_LIKE_A_FILTER = re.compile(r'([a-z]+):["“\w~./]')
_HOUR = re.compile(rf"(?:{'|'.join(WEEKDAYS)})(?:-(?:[01]?\d|2[0-3]))?|[01]?\d|2[0-3]")
_NEAR = 0.75
"""How alike a word and the name of a filter are if one is a slip for the other: `proejct`, but not `node`."""


class Filter(NamedTuple):
    """A condition on messages or their sessions."""

    name: str
    value: str
    is_negated: bool = False
    column: int = 1
    """Where it was typed, from 1."""


def refuse_a_slip(text: str, place: int) -> None:
    """Answers a name that is none with those there are, if it was meant for one."""
    named = _LIKE_A_FILTER.match(text, place)
    if not named:
        return
    from difflib import get_close_matches

    near = _ELSEWHERE.get(named[1]) or next(iter(get_close_matches(named[1], FILTERS, 1, _NEAR)), None)
    if near:
        raise QuerySyntaxError(
            text,
            place + 1,
            f"No filter {named[1]}:, did you mean {near}:? Filters are {_listed(FILTERS)}. To search for "
            "it as words, put it in quotes.",
            f"geminids search '{near}:{_example(near)} cors'",
        )


def _example(name: str) -> str:
    """A value that a filter takes."""
    return available_agents()[0] if name == "agent" else _VALUES.get(name, "shop")


_VALUES = {
    "tool": "edit",
    "file": "app.py",
    "model": "pro",
    "since": "7d",
    "before": "2026-05-01",
    "hour": "mon-14",
    "id": "1f0c9a2b",
    "tag": "bug",
    "name": '"login fix"',
}


def checked(text: str, typed: Filter) -> Iterator[Filter]:
    """The filter with each of its values, if they are values that it takes."""
    if typed.name in MOMENTS and typed.is_negated:
        raise QuerySyntaxError(
            text,
            typed.column,
            f"{typed.name}: cannot be negated with -.",
            "geminids search 'cors before:7d'",
        )
    if typed.name in CHOICES:
        for value in typed.value.lower().split(","):
            yield typed._replace(value=_choice(text, typed, value.strip()))
    elif typed.name == "hour":
        for value in typed.value.lower().split(","):
            yield typed._replace(value=_hour(text, typed, value.strip()))
    elif typed.name in _NAMED:
        values = [value.strip() for value in typed.value.split(",") if value.strip()]
        if not values:
            problem, example = (
                f"{typed.name}: needs a value.",
                f"geminids search '{typed.name}:{_example(typed.name)}'",
            )
            raise QuerySyntaxError(text, typed.column, problem, example)
        yield from (typed._replace(value=value) for value in values)
    else:
        yield typed


def _choice(text: str, typed: Filter, value: str) -> str:
    known = CHOICES[typed.name]
    if value in known:
        return value
    if typed.name == "in" and value in _OTHER_PLACES:
        return next(place for place, column in PLACES.items() if column == _OTHER_PLACES[value])
    problem = f"{typed.name}: takes {_listed(known)}, not {value or 'nothing'}."
    raise QuerySyntaxError(text, typed.column, problem, f"geminids search '{typed.name}:{known[0]} cors'")


def _hour(text: str, typed: Filter, value: str) -> str:
    if _HOUR.fullmatch(value):
        return value
    problem = (
        f"hour: takes a weekday (mon), an hour from 0 to 23 (14) or both (mon-14), not {value or 'nothing'}."
    )
    raise QuerySyntaxError(text, typed.column, problem, "geminids search 'hour:mon-14 cors'")


def columns_of(text: str, filters: Sequence[Filter]) -> tuple[str, ...]:
    """Where a hit may come from."""
    typed = [f for f in filters if f.name == "in"]
    wanted = {PLACES[f.value] for f in typed if not f.is_negated} or set(COLUMNS)
    wanted -= {PLACES[f.value] for f in typed if f.is_negated}
    if not wanted:
        raise QuerySyntaxError(
            text, typed[-1].column, "Nothing is left to search in.", "geminids search 'in:human cors'"
        )
    return tuple(column for column in COLUMNS if column in wanted)


def moments_of(
    text: str, filters: Sequence[Filter], now: "datetime | None"
) -> "tuple[datetime | None, datetime | None]":
    """The narrowest span of time that was asked for."""
    typed = [f for f in filters if f.name in MOMENTS]
    if not typed:
        return None, None
    since = [_moment(text, f, now) for f in typed if f.name == "since"]
    before = [_moment(text, f, now) for f in typed if f.name == "before"]
    return max(since, default=None), min(before, default=None)


def _moment(text: str, typed: Filter, now: "datetime | None") -> "datetime":
    from datetime import UTC, datetime

    from geminids.core.errors import BadTimeError
    from geminids.query.search.moments import parse_moment

    try:
        return parse_moment(typed.value, now or datetime.now(UTC))
    except BadTimeError as error:
        example = f"geminids search '{typed.name}:7d cors'"
        raise QuerySyntaxError(text, typed.column, str(error), example) from error


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
