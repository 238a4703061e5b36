"""Values that cost nothing to define behave like those of `typing`."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from geminids.core import values


class Ours(values.NamedTuple):
    """A place."""

    name: str
    lines: int = 1
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.name}:{self.lines}"


class Theirs(typing.NamedTuple):
    """The same."""

    name: str
    lines: int = 1
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.name}:{self.lines}"


class Below(Ours):
    """One that has something to say besides."""

    def louder(self) -> str:
        return self.name.upper()


def matched(made: Any) -> Any:
    match made:
        case Ours(name, lines) | Theirs(name, lines):
            return name, lines
    return None


ASKED: list[Callable[[Any], Any]] = [
    lambda kind: kind("a"),
    lambda kind: kind("a", 2),
    lambda kind: kind("a", 2, ("b",)),
    lambda kind: kind(name="a", notes=("c",)),
    lambda kind: kind("a", notes=("c",))._replace(lines=3),
    lambda kind: kind._make(["a", 1, ()]),
    lambda kind: kind("a")._asdict(),
    lambda kind: kind("a").shown,
    lambda kind: kind("a").lines,
    lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__ is not None),
    lambda kind: repr(kind("a", 2)).partition("(")[2],
    lambda kind: hash(kind("a")),
    lambda kind: matched(kind("a", 4)),
    lambda kind: copy.deepcopy(kind("a", 4)),
    lambda kind: sorted([kind("b"), kind("a", 2), kind("a")]),
    lambda kind: kind("a") == ("a", 1, ()),
]
REFUSED: list[Callable[[Any], Any]] = [
    lambda kind: kind(),
    lambda kind: kind("a", 1, (), "more"),
    lambda kind: kind("a", name="b"),
    lambda kind: kind("a", other=1),
    lambda kind: kind._make(["a", 1, (), 2]),
    lambda kind: kind._make(["a", 1]),
    lambda kind: setattr(kind("a"), "name", "b"),
]


@pytest.mark.parametrize("ask", ASKED)
def test_a_named_tuple_of_ours_answers_like_that_of_typing(ask: Callable[[Any], Any]) -> None:
    assert ask(Ours) == ask(Theirs)


@pytest.mark.parametrize("ask", REFUSED)
def test_what_typing_refuses_is_refused(ask: Callable[[Any], Any]) -> None:
    for kind in (Ours, Theirs):
        with pytest.raises((TypeError, AttributeError)):
            ask(kind)


def test_one_that_is_derived_has_the_fields_it_is_derived_from() -> None:
    assert Below("a", 2).louder() == "A"
    assert Below("a")._replace(lines=2) == ("a", 2, ())


def test_it_can_be_handed_to_another_process() -> None:
    handed = pickle.loads(pickle.dumps(Ours("a", 2)))
    assert handed == Ours("a", 2)
    assert type(handed) is Ours
