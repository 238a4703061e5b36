"""From the tree of a schema to nodes: names looked up, generics filled in, what we do not know refused."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from cddlparser import Tokens, ast

from geminids.sharing.records.cddl import patterns, syntax, values
from geminids.sharing.records.cddl.groups import Entry, Group, ListOf, MapOf, Member, Part
from geminids.sharing.records.cddl.literals import Literal, literal
from geminids.sharing.records.cddl.nodes import (
    Both,
    Choice,
    Encoded,
    Exactly,
    Kind,
    Limited,
    Matching,
    Named,
    Node,
    Span,
    TagOf,
)
from geminids.sharing.records.cddl.prelude import KINDS, MADE_OF_OTHERS, MAJOR_TYPES
from geminids.sharing.records.cddl.values import Check
from geminids.sharing.records.errors import SchemaError

_LONGEST_USE: Final = 5_000
_MAJOR: Final = re.compile(r"([0-9])(?:\.([0-9]+))?")

_COMPARISONS: Final[dict[str, tuple[Callable[[float, float], bool], str]]] = {
    "lt": (operator.lt, "below"),
    "le": (operator.le, "up to"),
    "gt": (operator.gt, "above"),
    "ge": (operator.ge, "from"),
}


class _Scope(NamedTuple):
    """What the parameters of a generic rule stand for where it is used."""

    bound: dict[str, tuple[ast.Type1, _Scope]]
    key: str
    """Tells this use of the rule from others."""


_NO_SCOPE: Final = _Scope({}, "")


class _Rule:
    """All that a schema says about one name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[ast.Rule] = []

    @property
    def parameters(self) -> list[str]:
        """The names of what the rule must be given, if it is generic."""
        return _parameters(self.parts[0])


class Compiler:
    """Makes nodes of the rules of one schema."""

    def __init__(self, source: syntax.Source) -> None:
        self._source = source
        self._rules: dict[str, _Rule] = {}
        self._types: dict[str, Named] = {}
        self._groups: dict[str, Group] = {}
        self._to_fill: dict[int, tuple[_Rule, _Scope]] = {}
        for rule in _prelude().tree.rules:
            self._add(rule)
        self._built_in = {*self._rules, *KINDS}
        for rule in source.tree.rules:
            self._define(rule)

    def compile(self) -> tuple[dict[str, Node], list[str]]:
        """The nodes of all rules that stand for types, and the names of all rules, in order."""
        names = list(dict.fromkeys(rule.name.name for rule in self._source.tree.rules))
        nodes: dict[str, Node] = {}
        for name in names:
            rule = self._rules[name]
            if rule.parameters:
                continue
            if self._is_group(rule.parts[0], _NO_SCOPE):
                self._named_group(name, None, _NO_SCOPE, rule.parts[0].name)
            else:
                nodes[name] = self._named_type(name, None, _NO_SCOPE, rule.parts[0].name)
        while self._to_fill:
            for named in list(self._types.values()):
                self._fill(named)
            for group in list(self._groups.values()):
                self._fill(group)
        for used in self._types.values():
            self._refuse_circles(used)
        # What was met last is used by what was met before.
        for used in reversed(self._types.values()):
            used.check()
        return nodes, names

    # Names

    def _define(self, rule: ast.Rule) -> None:
        name = rule.name.name
        if name in self._built_in:
            raise self._source.error(f"{name!r} is a name that CDDL itself defines", rule.name)
        known = self._rules.get(name)
        if known and rule.assign.type == Tokens.ASSIGN:
            raise self._source.error(f"{name!r} is defined twice; `/=` or `//=` would add to it", rule.name)
        self._add(rule)
        if known and len(known.parameters) != len(_parameters(rule)):
            raise self._source.error(f"{name!r} is given other parameters than before", rule.name)

    def _add(self, rule: ast.Rule) -> None:
        self._rules.setdefault(rule.name.name, _Rule(rule.name.name)).parts.append(rule)

    def _named_type(
        self, name: str, given: ast.GenericArguments | None, scope: _Scope, node: ast.CDDLNode
    ) -> Node:
        """What a name stands for as a type."""
        if name in KINDS:
            return Kind(*KINDS[name])
        rule, inner = self._rule(name, given, scope, node)
        if rule is None:
            return Choice()
        key = f"{name}<{inner.key}>"
        if key not in self._types:
            self._types[key] = Named(name)
            self._to_fill[id(self._types[key])] = (rule, inner)
        return self._types[key]

    def _named_group(
        self, name: str, given: ast.GenericArguments | None, scope: _Scope, node: ast.CDDLNode
    ) -> Group:
        """What a name stands for as a group."""
        rule, inner = self._rule(name, given, scope, node)
        if rule is None:
            return Group()
        key = f"{name}<{inner.key}>"
        if key not in self._groups:
            self._groups[key] = Group()
            self._to_fill[id(self._groups[key])] = (rule, inner)
        return self._groups[key]

    def _fill(self, named: Named | Group) -> None:
        """Put into a node or a group what its rule says.

        This is not done at once when a name is met: rules that use each other in a long row would be nested
        as deep as the row is long.
        """
        rule, scope = self._to_fill.pop(id(named), (None, _NO_SCOPE))
        if rule is None:
            return
        if isinstance(named, Group):
            named.alternatives = [
                entries for part in rule.parts for entries in self._alternatives_of_rule(part, scope)
            ]
        else:
            parts = [self._type_of_rule(part, scope) for part in rule.parts]
            named.target = parts[0] if len(parts) == 1 else Choice(parts)

    def _filled(self, node: Node) -> Node:
        """A node that can be asked already for the literals that it means."""
        waiting, seen = [node], set[int]()
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, Named):
                self._fill(one)
            waiting += one.same_value()
        return node

    def _rule(
        self, name: str, given: ast.GenericArguments | None, scope: _Scope, node: ast.CDDLNode
    ) -> tuple[_Rule | None, _Scope]:
        """The rule of a name with what its parameters stand for; none for a socket without a plug."""
        rule = self._rules.get(name)
        if rule is None:
            if name.startswith("$"):
                return None, _NO_SCOPE
            raise self._source.error(f"no rule says what {name!r} is", node)
        arguments = list(given.parameters) if given else []
        if len(arguments) != len(rule.parameters):
            wanted, have = len(rule.parameters), len(arguments)
            raise self._source.error(f"{name!r} takes {wanted} parameters and is given {have}", node)
        bound = {name: (argument, scope) for name, argument in zip(rule.parameters, arguments, strict=True)}
        inner = _Scope(bound, ", ".join(self._text_of(argument, scope) for argument in arguments))
        if len(inner.key) > _LONGEST_USE:
            raise self._source.error(f"{name!r} uses itself without end", node)
        return rule, inner

    def _text_of(self, argument: ast.Type1, scope: _Scope) -> str:
        """An argument as text that tells it from others, even if it is a parameter itself."""
        match argument:
            case ast.Typename(name=name, parameters=None) if name in scope.bound:
                return self._text_of(*scope.bound[name])
            case _:
                return (
                    f"{argument.serialize().strip()}[{scope.key}]"
                    if scope.key
                    else argument.serialize().strip()
                )

    def _is_group(self, rule: ast.Rule, scope: _Scope, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a rule stands for a group. One type in parentheses is a type."""
        if rule.assign.type == Tokens.GCHOICEALT:
            return True
        if isinstance(rule.type, ast.GroupEntry):
            if rule.type.occurrence or rule.type.key:
                return True
            return self._names_group(rule.type.type, scope, seen | {rule.name.name})
        return self._names_group(rule.type, scope, seen | {rule.name.name})

    def _names_group(self, written: ast.Type, scope: _Scope, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a type is none, but the name of a group or a group in parentheses."""
        match written.types:
            case [ast.Map() | ast.Array()]:
                return False
            case [ast.Group() as group]:
                return _only_type(group) is None
            case [ast.Typename(name=name, unwrapped=None, parameters=None)] if name in scope.bound:
                argument, outer = scope.bound[name]
                return self._names_group(ast.Type([argument]), outer, seen)
            case [ast.Typename(name=name, unwrapped=None)]:
                if name.startswith("$$") and name not in self._rules:
                    return True
                rule = self._rules.get(name)
                if rule is None or name in seen:
                    return False
                return self._is_group(rule.parts[0], _NO_SCOPE, seen)
            case _:
                return False

    def _refuse_circles(self, named: Named) -> None:
        """Refuse a rule that says nothing but that it is itself."""
        waiting, seen = list(named.same_value()), set[int]()
        while waiting:
            node = waiting.pop()
            if node is named:
                where = self._rules[named.name].parts[0].name
                raise self._source.error(f"{named.name!r} is defined by nothing but itself", where)
            if id(node) not in seen:
                seen.add(id(node))
                waiting += node.same_value()

    # Types

    def _type_of_rule(self, rule: ast.Rule, scope: _Scope) -> Node:
        written = rule.type
        if isinstance(written, ast.GroupEntry):
            if written.occurrence or written.key:
                raise self._source.error(f"{rule.name.name!r} is a group, where a type is needed", rule.name)
            written = written.type
        return self._type(written, scope)

    def _type(self, written: ast.Type, scope: _Scope) -> Node:
        nodes = [self._type1(one, scope) for one in written.types]
        return nodes[0] if len(nodes) == 1 else Choice(nodes)

    def _type1(self, written: ast.Type1, scope: _Scope) -> Node:
        match written:
            case ast.Value():
                return Exactly(self._literal(written))
            case ast.Typename():
                return self._typename(written, scope)
            case ast.Type():
                return self._type(written, scope)
            case ast.Map():
                return MapOf(self._group(written, scope))
            case ast.Array():
                return ListOf(self._group(written, scope))
            case ast.Group():
                return self._parenthesised(written, scope)
            case ast.ChoiceFrom():
                return self._choice_from(written, scope)
            case ast.Tag():
                return self._tag(written, scope)
            case ast.Range():
                return self._range(written, scope)
            case ast.Operator():
                return self._control(written, scope)

    def _literal(self, written: ast.Value) -> Literal:
        try:
            return literal(written)
        except ValueError as error:
            raise self._source.error(str(error), written) from None

    def _typename(self, written: ast.Typename, scope: _Scope) -> Node:
        if written.unwrapped:
            return self._unwrapped(written, scope)
        if written.name in scope.bound and not written.parameters:
            argument, outer = scope.bound[written.name]
            return self._type1(argument, outer)
        return self._named_type(written.name, _arguments(written), scope, written)

    def _parenthesised(self, written: ast.Group, scope: _Scope) -> Node:
        """A type in parentheses, which the parser takes for a group."""
        inner = _only_type(written)
        if inner is None:
            raise self._source.error("a group stands where a type is needed", written)
        return self._type(inner, scope)

    def _unwrapped(self, written: ast.Typename, scope: _Scope) -> Node:
        """What is inside a tag. Inside maps and lists is a group, which has no place among types."""
        target = self._wrapped(written, scope)
        if not isinstance(target, TagOf):
            raise self._source.error(f"~{written.name} stands where a type is needed, and is none", written)
        return target.content

    def _wrapped(self, written: ast.Typename, scope: _Scope) -> Node:
        """What a name stands for that is to be unwrapped."""
        bare = ast.Typename(written.name, None, written.parameters)
        try:
            node = self._typename(bare, scope)
        except SchemaError as error:
            raise self._source.error(error.reason, written) from None
        while isinstance(node, Named):
            self._fill(node)
            node = node.target
        return node

    def _choice_from(self, written: ast.ChoiceFrom, scope: _Scope) -> Node:
        """One of the values that a group names."""
        if isinstance(written.target, ast.Typename):
            target = written.target
            group = self._named_group(target.name, _arguments(target), scope, written)
        else:
            group = self._group(written.target, scope)
        return Choice(self._values_of(group, set()))

    def _values_of(self, group: Group, seen: set[int]) -> list[Node]:
        """The values that the entries of a group may have, without their keys."""
        if id(group) in seen:
            return []
        seen.add(id(group))
        self._fill(group)
        found: list[Node] = []
        for entry in [entry for entries in group.alternatives for entry in entries]:
            match entry:
                case Part(group=inner):
                    found += self._values_of(inner, seen)
                case Member(value=node):
                    found.append(node)
        return found

    def _tag(self, written: ast.Tag, scope: _Scope) -> Node:
        number = written.numericPart.literal if written.numericPart else None
        if number is None:
            return Kind(*KINDS["any"])
        found = _MAJOR.fullmatch(number)
        if found and found[1] == "6":
            content = self._type(written.typePart, scope) if written.typePart else Kind(*KINDS["any"])
            return TagOf(int(found[2]) if found[2] else None, content)
        kind = MAJOR_TYPES.get(number)
        if kind is None:
            raise self._source.error(f"#{number} is not supported", written)
        return Kind(*(KINDS[kind] if isinstance(kind, str) else kind))

    def _range(self, written: ast.Range, scope: _Scope) -> Node:
        low, high = self._one_literal(written.min, scope), self._one_literal(written.max, scope)
        with_high = written.rangeop.type == Tokens.INCLRANGE
        if isinstance(low, int) and isinstance(high, int):
            return Span(low, high, with_high=with_high)
        if isinstance(low, float) and isinstance(high, float):
            return Span(low, high, with_high=with_high)
        raise self._source.error("a range is not between two integers or two floats", written)

    def _one_literal(self, written: ast.Type2, scope: _Scope) -> Literal:
        """The literal that something stands for, if it is one."""
        literals = self._filled(self._type1(written, scope)).literals()
        if literals is None or len(literals) != 1:
            raise self._source.error("a single value is needed", written)
        return literals[0]

    # Control operators

    def _control(self, written: ast.Operator, scope: _Scope) -> Node:
        target = self._type1(written.type, scope)
        match written.name.literal:
            case "and" | "within":
                return Both(target, self._type1(written.controller, scope))
            case "cbor":
                return Encoded(target, self._type1(written.controller, scope))
            case "size":
                size = self._type1(written.controller, scope)
                return Limited(target, _size_check(size), "of the size", size)
            case "regexp" | "pcre":
                return self._matching(target, written, scope)
            case "lt" | "le" | "gt" | "ge" as name:
                return self._compared(target, name, written, scope)
            case "eq":
                return Both(target, Exactly(self._one_literal(written.controller, scope)))
            case "ne" | "default":
                return self._not_equal(target, written, scope)
            case name:
                raise self._source.error(f"the operator .{name} is not supported", written)

    def _matching(self, target: Node, written: ast.Operator, scope: _Scope) -> Node:
        expression = self._one_literal(written.controller, scope)
        if not isinstance(expression, str):
            raise self._source.error("a regular expression is a text", written)
        try:
            is_xsd = written.name.literal == "regexp"
            pattern = patterns.from_xsd(expression) if is_xsd else patterns.compiled(expression)
        except patterns.PatternError as error:
            raise self._source.error(str(error), written) from None
        controller = written.controller
        name = (
            controller.name if isinstance(controller, ast.Typename) else "a regular expression of the schema"
        )
        return Matching(target, pattern, name)

    def _compared(self, target: Node, name: str, written: ast.Operator, scope: _Scope) -> Node:
        limit = self._one_literal(written.controller, scope)
        if not isinstance(limit, int | float):
            raise self._source.error(f".{name} compares numbers only", written)
        compare, words = _COMPARISONS[name]
        return Limited(target, _comparison(compare, limit), f"{words} {limit}")

    def _not_equal(self, target: Node, written: ast.Operator, scope: _Scope) -> Node:
        """Anything but one value. A default is never written: whoever means it leaves the member out."""
        other = self._filled(self._type1(written.controller, scope))
        if other.literals() is None and written.name.literal == "ne":
            raise self._source.error("a single value is needed", written.controller)
        return Limited(target, lambda value: not other.check()(value), "other than", other)

    # Groups

    def _group(self, written: ast.Group, scope: _Scope) -> Group:
        group = Group()
        group.alternatives = self._alternatives(written, scope)
        return group

    def _alternatives(self, written: ast.Group, scope: _Scope) -> list[list[Entry]]:
        return [[self._entry(entry, scope) for entry in entries] for entries in syntax.alternatives(written)]

    def _alternatives_of_rule(self, rule: ast.Rule, scope: _Scope) -> list[list[Entry]]:
        match rule.type:
            case ast.GroupEntry(occurrence=None, key=None, type=ast.Type(types=[ast.Map() | ast.Array()])):
                return [[self._entry(rule.type, scope)]]
            case ast.GroupEntry(occurrence=None, key=None, type=ast.Type(types=[ast.Group() as group])):
                return self._alternatives(group, scope)
            case ast.GroupEntry() as entry:
                return [[self._entry(entry, scope)]]
            case written:
                return [[self._entry(ast.GroupEntry(None, None, written), scope)]]

    def _entry(self, written: ast.GroupEntry, scope: _Scope) -> Entry:
        low, high = syntax.times(written)
        if syntax.has_upper_zero(written):
            raise self._source.error("0 as the most that may be there is not supported", written.type)
        if written.key:
            key = self._key(written.key, scope)
            return Member(low, high, key, self._type(written.type, scope), cut=written.key.hasCut)
        part = self._group_of_entry(written.type, scope)
        if part is not None:
            return Part(low, high, part)
        return Member(low, high, None, self._type(written.type, scope), cut=False)

    def _group_of_entry(self, written: ast.Type, scope: _Scope) -> Group | None:
        """The group that an entry without a key stands for, if it is not a type."""
        match written.types:
            case [ast.Map() | ast.Array()]:
                return None
            case [ast.Group() as group]:
                return self._group(group, scope)
            case [ast.Typename(unwrapped=None, parameters=None) as name] if name.name in scope.bound:
                argument, outer = scope.bound[name.name]
                return self._group_of_entry(ast.Type([argument]), outer)
            case [ast.Typename(unwrapped=None) as name] if self._names_group(written, scope):
                return self._named_group(name.name, _arguments(name), scope, name)
            case [ast.Typename() as name] if name.unwrapped:
                target = self._wrapped(name, scope)
                return target.group if isinstance(target, MapOf | ListOf) else None
            case _:
                return None

    def _key(self, written: ast.Memberkey, scope: _Scope) -> Node:
        match written.type:
            case ast.Typename(name=name, unwrapped=None, parameters=None) if written.hasColon:
                return Exactly(name)
            case ast.Value() | _ if not written.hasColon or isinstance(written.type, ast.Value):
                return self._type1(written.type, scope)
            case other:
                raise self._source.error("only a name or a value may stand before a colon", other)


@functools.cache
def _prelude() -> syntax.Source:
    return syntax.Source(MADE_OF_OTHERS, "the prelude")


def _parameters(rule: ast.Rule) -> list[str]:
    given = rule.name.parameters
    return [one.name for one in given.parameters if isinstance(one, ast.Typename)] if given else []


def _arguments(written: ast.Typename) -> ast.GenericArguments | None:
    return written.parameters if isinstance(written.parameters, ast.GenericArguments) else None


def _only_type(group: ast.Group) -> ast.Type | None:
    """The type that stands alone in parentheses; None if they hold a real group."""
    match syntax.alternatives(group):
        case [[ast.GroupEntry(occurrence=None, key=None, type=inner)]]:
            match inner.types:
                case [ast.Map() | ast.Array()]:
                    return inner
                case [ast.Group() as deeper]:
                    return _only_type(deeper)
                case _:
                    return inner
        case _:
            return None


def _size_check(size: Node) -> Check:
    """Whether a string has a number of bytes, or a number would do with as many."""

    def check(value: object) -> bool:
        fits = size.check()
        match value:
            case str():
                return fits(len(value.encode("utf-8", "surrogatepass")))
            case bytes():
                return fits(len(value))
            case int() if values.is_unsigned(value):
                return any(fits(number) for number in range((value.bit_length() + 7) // 8, 65))
            case _:
                return False

    return check


def _comparison(compare: Callable[[float, float], bool], limit: float) -> Check:
    return lambda value: type(value) in {int, float} and compare(value, limit)  # type: ignore[arg-type]
