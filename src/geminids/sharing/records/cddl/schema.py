"""A schema, ready to check values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Self

import msgspec

from geminids.sharing.records.cddl import values
from geminids.sharing.records.cddl.compiling import Compiler
from geminids.sharing.records.cddl.nodes import Encoded, Kind, Node, Place
from geminids.sharing.records.cddl.prelude import KINDS
from geminids.sharing.records.cddl.syntax import Source
from geminids.sharing.records.errors import SchemaError

TOO_DEEP: Final = "something nested too deep to be looked at"
_MOST_OF_A_KEY: Final = 80


class Mismatch(msgspec.Struct, frozen=True):
    """The place where a value first does not fit a schema."""

    path: str
    """A JSON pointer; empty for the value as a whole. What is encoded in bytes counts as what it encodes."""
    expected: str
    found: str
    """What kind of value stands there; never its content."""

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        where = self.path or "the root"
        return f"At {where}: expected {self.expected}, found {self.found}."


class Schema:
    """The rules of a schema. The first one tells what a whole value is."""

    def __init__(self, name: str, nodes: Mapping[str, Node], rules: Sequence[str]) -> None:
        self.name = name
        self.rules = tuple(rules)
        self._nodes = nodes

    @classmethod
    def parse(cls, text: str, name: str) -> Self:
        """Read a schema; SchemaError if it cannot be used. The name is only for messages."""
        source = Source(text, name)
        try:
            nodes, rules = Compiler(source).compile()
        except RecursionError:
            raise SchemaError(name, "it is nested too deep") from None
        return cls(name, nodes, rules)

    def mismatch(self, value: object, rule: str | None = None) -> Mismatch | None:
        """Where a value does not fit a rule (the first one, if none is named); None if it fits."""
        return _mismatch(self._node(rule or self.rules[0]), value)

    def mismatch_in_cbor(self, content: bytes, rule: str | None = None) -> Mismatch | None:
        """Where that which bytes are in CBOR does not fit a rule; None if it fits."""
        item = self._node(rule or self.rules[0])
        return _mismatch(Encoded(Kind(*KINDS["bytes"]), item), content)

    def _node(self, rule: str) -> Node:
        if rule in self._nodes:
            return self._nodes[rule]
        if rule in self.rules:
            raise SchemaError(
                self.name, f"{rule!r} is a group or takes parameters; a value needs a plain type"
            )
        raise SchemaError(self.name, f"it has no rule {rule!r}")


def _mismatch(node: Node, value: object) -> Mismatch | None:
    try:
        if node.check()(value):
            return None
        fault = node.fault(value, ())
    except RecursionError:
        return Mismatch("", "something that can be looked through", TOO_DEEP)
    return Mismatch(_pointer(fault.place), fault.expected, fault.found)


def _pointer(place: Place) -> str:
    return "".join(f"/{_step(key)}" for key in place)


def _step(key: object) -> str:
    """One step of a JSON pointer. A key may be as long as someone likes."""
    match key:
        case bytes():
            text = key.hex()
        case int() if not values.is_integer(key):
            # Python refuses to write very large numbers in ten digits.
            text = hex(key)
        case _:
            text = str(key)
    short = text if len(text) <= _MOST_OF_A_KEY else f"{text[:_MOST_OF_A_KEY]}…"
    return short.replace("~", "~0").replace("/", "~1")
