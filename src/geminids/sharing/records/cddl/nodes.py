"""What one value may be: nodes that check a value quickly, and can tell slowly what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from geminids.sharing.records.cddl import values
from geminids.sharing.records.cddl.literals import Literal
from geminids.sharing.records.cddl.values import Check
from geminids.sharing.records.errors import SlowSchemaError
from geminids.sharing.records.standalone import RefusedError, Tagged
from geminids.storage.text.patterns import Patterns, TooSlowError

Place = tuple[object, ...]
"""Where a value stands: the keys and numbers that lead to it."""

NOT_THERE: Final = "nothing"
_MOST_WORDS: Final = 160
_MOST_OF_A_LITERAL: Final = 40


class Nearness(IntEnum):
    """How near a value came to what was expected. The nearest of several alternatives tells what is wrong."""

    OTHER_KIND = 0
    OTHER_LITERAL = 1
    """A map that says by one of its members, such as its type, that it is another one."""
    RIGHT_KIND = 2


class Fault(NamedTuple):
    """The place where a value does not fit, and how."""

    place: Place
    expected: str
    found: str
    nearness: Nearness = Nearness.OTHER_KIND

    def within(self) -> Fault:
        """The same fault, seen from what holds the value: that was of the right kind."""
        return self._replace(nearness=Nearness.RIGHT_KIND)

    def of_whole(self, place: Place, words: str) -> Fault:
        """The same fault with other words, if it is about the value at this place as a whole."""
        is_whole = self.place == place and self.found != NOT_THERE
        return self._replace(expected=words) if is_whole else self


def nearest(faults: Sequence[Fault]) -> Fault:
    """The fault of the alternative that was meant, as far as one can tell."""
    best = max(faults, key=lambda fault: (fault.nearness, len(fault.place)))
    if best.nearness is not Nearness.OTHER_LITERAL:
        return best
    alike = [f.expected for f in faults if (f.nearness, f.place) == (best.nearness, best.place)]
    return best._replace(expected=either(alike))


def either(words: Sequence[str]) -> str:
    """Several things that would do, in a line that is not too long."""
    unique = list(dict.fromkeys(words))
    shown = unique
    while len(shown) > 1 and len(" or ".join(shown)) > _MOST_WORDS:
        shown = shown[:-1]
    more = ["something else"] if len(shown) < len(unique) else []
    return " or ".join([*shown, *more])


class Node:
    """What a value may be."""

    def __init__(self) -> None:
        self._check: Check | None = None
        self._being_made = False

    def check(self) -> Check:
        """The function that says whether a value fits; made when it is first asked for."""
        if self._check is None:
            if self._being_made:
                return self._later
            self._being_made = True
            self._check = self.make_check()
        return self._check

    def _later(self, value: object) -> bool:
        """The check of a node that takes part in itself: it is made by the time it is needed."""
        return self.check()(value)

    def make_check(self) -> Check:
        """Make the function that says whether a value fits."""
        raise NotImplementedError

    def words(self) -> str:
        """What would fit, in a few words."""
        raise NotImplementedError

    def fault(self, value: object, place: Place) -> Fault:
        """What is wrong with a value that does not fit."""
        return Fault(place, self.words(), values.kind_of(value))

    def same_value(self) -> Sequence[Node]:
        """The nodes that this one shows its own value to; that must not lead back to itself."""
        return ()

    def literals(self) -> list[Literal] | None:
        """The literals that are all that fits, if it is only a few of them."""
        return None


class Kind(Node):
    """Any value of one kind."""

    def __init__(self, name: str, check: Check) -> None:
        super().__init__()
        self._name = name
        self._check = check

    def words(self) -> str:  # noqa: D102
        return self._name


class Exactly(Node):
    """One literal."""

    def __init__(self, literal: Literal) -> None:
        super().__init__()
        self.literal = literal

    def make_check(self) -> Check:  # noqa: D102
        literal = self.literal
        kind = type(literal)
        return lambda value: type(value) is kind and value == literal

    def words(self) -> str:  # noqa: D102
        match self.literal:
            case str(text):
                shown = text if len(text) <= _MOST_OF_A_LITERAL else f"{text[:_MOST_OF_A_LITERAL]}…"
                return f'"{shown}"'
            case bytes(content):
                return f"the bytes {content[:_MOST_OF_A_LITERAL].hex()}"
            case number:
                return repr(number)

    def literals(self) -> list[Literal]:  # noqa: D102
        return [self.literal]


class Span(Node):
    """Numbers of one kind from one to another."""

    def __init__(self, low: float, high: float, *, with_high: bool) -> None:
        super().__init__()
        self._low, self._high, self._with_high = low, high, with_high

    def make_check(self) -> Check:  # noqa: D102
        kind, low, high = type(self._low), self._low, self._high
        if self._with_high:
            return lambda value: type(value) is kind and low <= value <= high
        return lambda value: type(value) is kind and low <= value < high

    def words(self) -> str:  # noqa: D102
        kind = "an integer" if isinstance(self._low, int) else "a float"
        end = "to" if self._with_high else "to below"
        return f"{kind} from {self._low} {end} {self._high}"


class Choice(Node):
    """Any of several; none of them, where a schema leaves a place for what others may add."""

    def __init__(self, alternatives: Sequence[Node] = ()) -> None:
        super().__init__()
        self.alternatives = list(alternatives)

    def make_check(self) -> Check:  # noqa: D102
        if len(self.alternatives) == 1:
            return self.alternatives[0].check()
        literals = self.literals()
        if literals and all(isinstance(literal, str) for literal in literals):
            texts = frozenset(literals)
            return lambda value: isinstance(value, str) and value in texts
        checks = [node.check() for node in self.alternatives]
        if values.is_anything in checks:
            return values.is_anything
        if len(checks) == 2:
            first, second = checks
            return lambda value: first(value) or second(value)

        def check(value: object) -> bool:
            for one in checks:  # noqa: SIM110 — a generator would take as much time as the check itself
                if one(value):
                    return True
            return False

        return check

    def words(self) -> str:  # noqa: D102
        return either([node.words() for node in self.alternatives]) or "nothing: the schema leaves this open"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        if not self.alternatives:
            return super().fault(value, place)
        best = nearest([node.fault(value, place) for node in self.alternatives])
        return best.of_whole(place, self.words())

    def same_value(self) -> Sequence[Node]:  # noqa: D102
        return self.alternatives

    def literals(self) -> list[Literal] | None:  # noqa: D102
        found: list[Literal] = []
        for node in self.alternatives:
            literals = node.literals()
            if literals is None:
                return None
            found += literals
        return found


class Named(Node):
    """What a rule of the schema says. That is filled in later, since rules may use each other."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.target: Node = Kind("nothing", values.is_nothing)

    def make_check(self) -> Check:  # noqa: D102
        return self.target.check()

    def words(self) -> str:  # noqa: D102
        target = self.target
        return f"{target.words()} ({self.name})" if isinstance(target, Container) else target.words()

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        return self.target.fault(value, place).of_whole(place, self.words())

    def same_value(self) -> Sequence[Node]:  # noqa: D102
        return (self.target,)

    def literals(self) -> list[Literal] | None:  # noqa: D102
        return self.target.literals()


class Container(Node):
    """A value that holds others, in a way that only a rule's name tells in a few words."""


class Both(Node):
    """What fits two nodes at once."""

    def __init__(self, first: Node, second: Node) -> None:
        super().__init__()
        self._first, self._second = first, second

    def make_check(self) -> Check:  # noqa: D102
        first, second = self._first.check(), self._second.check()
        return lambda value: first(value) and second(value)

    def words(self) -> str:  # noqa: D102
        return f"{self._first.words()} that is also {self._second.words()}"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        wrong = self._second if self._first.check()(value) else self._first
        return wrong.fault(value, place)

    def same_value(self) -> Sequence[Node]:  # noqa: D102
        return (self._first, self._second)


class Limited(Node):
    """Values of a node that pass one more check."""

    def __init__(self, target: Node, limit: Check, limit_in_words: str, limiting: Node | None = None) -> None:
        super().__init__()
        self._target, self._limit, self._limit_in_words = target, limit, limit_in_words
        self._limiting = limiting

    def make_check(self) -> Check:  # noqa: D102
        check, limit = self._target.check(), self._limit
        return lambda value: check(value) and limit(value)

    def words(self) -> str:  # noqa: D102
        limiting = f" {self._limiting.words()}" if self._limiting else ""
        return f"{self._target.words()} {self._limit_in_words}{limiting}"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        if not self._target.check()(value):
            return self._target.fault(value, place)
        return super().fault(value, place).within()

    def same_value(self) -> Sequence[Node]:  # noqa: D102
        return (self._target,)


class Matching(Limited):
    """Text that a regular expression describes from end to end."""

    def __init__(self, target: Node, pattern: re.Pattern[str], name: str) -> None:
        def fits(value: object) -> bool:
            if not isinstance(value, str):
                return False
            try:
                with Patterns() as patterns:
                    return patterns.is_whole(value, pattern.pattern)
            except TooSlowError:
                raise SlowSchemaError(name) from None

        super().__init__(target, fits, f"matching {name}")


class Encoded(Node):
    """Bytes that are one item of CBOR."""

    def __init__(self, target: Node, item: Node) -> None:
        super().__init__()
        self._target, self._item = target, item

    def make_check(self) -> Check:  # noqa: D102
        target, item = self._target.check(), self._item.check()

        def check(value: object) -> bool:
            if not target(value):
                return False
            try:
                return item(values.decoded(value))
            except RefusedError:
                return False

        return check

    def words(self) -> str:  # noqa: D102
        return f"{self._target.words()} that are the CBOR of {self._item.words()}"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        if not self._target.check()(value):
            return self._target.fault(value, place)
        try:
            return self._item.fault(values.decoded(value), place).within()
        except RefusedError as error:
            found = f"{values.kind_of(value)} that cannot be read: {error}"
            return Fault(place, self.words(), found, Nearness.RIGHT_KIND)

    def same_value(self) -> Sequence[Node]:  # noqa: D102
        return (self._target,)


class TagOf(Node):
    """Data with a tag; with any tag if there is no number."""

    def __init__(self, number: int | None, content: Node) -> None:
        super().__init__()
        self._number = number
        self.content = content

    def make_check(self) -> Check:  # noqa: D102
        content = self.content.check()

        def check(value: object) -> bool:
            tag = self._tag(value)
            return tag is not None and content(tag.value)

        return check

    def _tag(self, value: object) -> Tagged | None:
        """The value as data with the tag that is asked for."""
        tag = values.as_tag(value)
        return tag if tag and self._number in {None, tag.number} else None

    def words(self) -> str:  # noqa: D102
        return "a tag" if self._number is None else f"tag {self._number}"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        tag = self._tag(value)
        return self.content.fault(tag.value, place).within() if tag else super().fault(value, place)
