"""What a map or a list may hold: groups of entries.

In a list, an entry takes one value after another. Every way to share the values out is followed at once, as
the set of places where the next entry could go on; so nothing has to be taken back.

In a map, an entry takes members by their keys, in the order of the entries and as many as it may (RFC 8610
likens this to a parsing expression grammar). What an alternative took is given back only if that alternative
fails. An entry with a cut bars the keys that it asks for from all later entries, whatever their values are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

from geminids.sharing.records.cddl import values
from geminids.sharing.records.cddl.literals import Literal
from geminids.sharing.records.cddl.nodes import (
    NOT_THERE,
    Choice,
    Container,
    Fault,
    Nearness,
    Node,
    Place,
    nearest,
)
from geminids.sharing.records.cddl.values import Check

_NO_KEY: Final = "nothing: the schema has an entry without a key here, which only a list could hold"
_SOME_FAULT: Final = Fault((), "", "")


class Group:
    """Alternatives, each of which is a sequence of entries. A group may be used in itself."""

    def __init__(self) -> None:
        self.alternatives: list[list[Entry]] = []

    def literal_keys(self) -> list[Literal]:
        """The keys that the entries of a map name."""
        entries = [entry for entries in self.alternatives for entry in entries]
        keys = [entry.literal_key for entry in entries if isinstance(entry, Member)]
        return [key for key in keys if key is not None]


class Entry:
    """Something that a map or a list holds a number of times."""

    def __init__(self, low: int, high: int | None) -> None:
        self.low = low
        self.high = high

    def may_be_more_than(self, count: int) -> bool:
        """Whether it may be there once more."""
        return self.high is None or count < self.high


class Part(Entry):
    """A group in a group."""

    def __init__(self, low: int, high: int | None, group: Group) -> None:
        super().__init__(low, high)
        self.group = group


class Member(Entry):
    """A value with a key, or one without, which only a list can hold."""

    def __init__(self, low: int, high: int | None, key: Node | None, value: Node, *, cut: bool) -> None:
        super().__init__(low, high)
        self.key = key
        self.value = value
        self.cut = cut

    @cached_property
    def literal_key(self) -> Literal | None:
        """The one key that it asks for."""
        literals = self.key.literals() if self.key else None
        return literals[0] if literals is not None and len(literals) == 1 else None

    @property
    def is_open(self) -> bool:
        """Whether it takes any number of members, none among them, and leaves the others alone."""
        return (
            self.key is not None
            and self.literal_key is None
            and (self.low, self.high) == (0, None)
            and not self.cut
        )


class ListOf(Container):
    """A list that holds a group."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        self.group = group

    def make_check(self) -> Check:  # noqa: D102
        return _check_of_equals(self.group) or self._takes

    def _takes(self, value: object) -> bool:
        if not isinstance(value, list):
            return False
        return len(value) in _ends(self.group, value, {0}, None)

    def words(self) -> str:  # noqa: D102
        return "a list"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        if not isinstance(value, list):
            return super().fault(value, place)
        furthest = _Furthest()
        ends = _ends(self.group, value, {0}, furthest)
        at = max([*ends, furthest.at])
        here = (*place, at)
        wanted = furthest.wanted if furthest.at == at else []
        if at >= len(value):
            expected = Choice(wanted).words() if wanted else "one more"
            return Fault(here, expected, NOT_THERE, Nearness.RIGHT_KIND)
        if not wanted:
            return Fault(here, "the end of the list", values.kind_of(value[at]), Nearness.RIGHT_KIND)
        return Choice(wanted).fault(value[at], here).within()


def _check_of_equals(group: Group) -> Check | None:
    """The check of the most common lists, those of any number of one thing."""
    match group.alternatives:
        case [[Member(low=low, high=high, value=node)]]:
            check = node.check()
            most = math.inf if high is None else high
        case _:
            return None

    def check_all(value: object) -> bool:
        if not isinstance(value, list) or not low <= len(value) <= most:
            return False
        for item in value:  # noqa: SIM110 — a generator would nest deeper, and take longer
            if not check(item):
                return False
        return True

    return check_all


class _Furthest:
    """The last place in a list that something was wanted for, and what."""

    def __init__(self) -> None:
        self.at = 0
        self.wanted: list[Node] = []

    def note(self, at: int, node: Node) -> None:
        if at > self.at:
            self.at, self.wanted = at, []
        if at == self.at and node not in self.wanted:
            self.wanted.append(node)


def _ends(group: Group, items: Sequence[object], starts: set[int], furthest: _Furthest | None) -> set[int]:
    """The places where a list may go on after a group that began at one of some places."""
    ends: set[int] = set()
    for entries in group.alternatives:
        places = starts
        for entry in entries:
            if not places:
                break
            places = _ends_of_entry(entry, items, places, furthest)
        ends |= places
    return ends


def _ends_of_entry(
    entry: Entry, items: Sequence[object], starts: set[int], furthest: _Furthest | None
) -> set[int]:
    ends = set(starts) if entry.low == 0 else set()
    places, count = starts, 0
    while places and entry.may_be_more_than(count):
        if isinstance(entry, Part):
            places = _ends(entry.group, items, places, furthest)
        else:
            places = _ends_of_one(cast("Member", entry).value, items, places, furthest)
        count += 1
        if count > entry.low:
            # Where one has been before, going on once more leads to nothing new.
            places = places - ends
        if count >= entry.low:
            ends |= places
        elif count > len(items) and places:
            # What takes nothing can take it as often as is asked for.
            count = entry.low
            ends |= places
    return ends


def _ends_of_one(
    node: Node, items: Sequence[object], starts: set[int], furthest: _Furthest | None
) -> set[int]:
    check = node.check()
    ends = set()
    for start in starts:
        if start < len(items) and check(items[start]):
            ends.add(start + 1)
        elif furthest:
            furthest.note(start, node)
    return ends


class MapOf(Container):
    """A map that holds a group."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        self.group = group

    def make_check(self) -> Check:  # noqa: D102
        return _check_of_struct(self.group) or self._takes

    def _takes(self, value: object) -> bool:
        return isinstance(value, dict) and _Taking(value, None).fault(self.group) is None

    def words(self) -> str:  # noqa: D102
        return "a map"

    def fault(self, value: object, place: Place) -> Fault:  # noqa: D102
        if not isinstance(value, dict):
            return super().fault(value, place)
        for key, node in _telling_members(self.group):
            if key not in value:
                return Fault((*place, key), node.words(), NOT_THERE, Nearness.OTHER_LITERAL)
            if not node.check()(value[key]):
                fault = node.fault(value[key], (*place, key))
                return fault._replace(nearness=Nearness.OTHER_LITERAL)
        fault_within = _Taking(value, place).fault(self.group)
        return fault_within.within() if fault_within else super().fault(value, place)


def _telling_members(group: Group) -> list[tuple[str, Node]]:
    """The members that say which map it is: they must be there, and can only be one of a few literals."""
    return [
        (entry.literal_key, entry.value)
        for entry in _plain_members(group, ()) or ()
        if isinstance(entry.literal_key, str) and entry.low == 1 and entry.value.literals()
    ]


def _plain_members(group: Group, within: tuple[Group, ...]) -> list[Member] | None:
    """The members of a group that holds nothing but members, some of them perhaps in groups of their own."""
    if len(group.alternatives) != 1 or group in within:
        return None
    members: list[Member] = []
    for entry in group.alternatives[0]:
        if isinstance(entry, Member):
            members.append(entry)
            continue
        is_once = (entry.low, entry.high) == (1, 1)
        inner = _plain_members(cast("Part", entry).group, (*within, group)) if is_once else None
        if inner is None:
            return None
        members += inner
    return members


class _Struct(NamedTuple):
    """What the most common maps hold: members with names, then perhaps any others of some kinds."""

    named: dict[str, Member]
    others: list[Member]


def _struct(group: Group) -> _Struct | None:
    """A group as that of a common map; None if it is none."""
    entries = _plain_members(group, ())
    if entries is None:
        return None
    named = {entry.literal_key: entry for entry in entries if isinstance(entry.literal_key, str)}
    others = entries[len(named) :]
    is_in_order = entries[: len(named)] == list(named.values())
    is_at_most_once = all(entry.low <= 1 and entry.high != 0 for entry in named.values())
    if is_in_order and is_at_most_once and all(entry.is_open for entry in others):
        return _Struct(named, others)
    return None


def _check_of_struct(group: Group) -> Check | None:
    """The check of a common map.

    Members that tell which map it is come first. In a choice of maps that hold each other, looking into the
    children of the wrong one would take twice as long with every level.
    """
    struct = _struct(group)
    if struct is None:
        return None
    telling = [(key, node.check()) for key, node in _telling_members(group)]
    required = {key for key, entry in struct.named.items() if entry.low}
    checks = {key: entry.value.check() for key, entry in struct.named.items()}
    not_taken = {key for key, entry in struct.named.items() if entry.cut or entry.low}
    is_other = _check_of_others(struct.others)

    def check(value: object) -> bool:
        if not isinstance(value, dict):
            return False
        for key, is_right in telling:
            if key not in value or not is_right(value[key]):
                return False
        if not required <= value.keys():
            return False
        for key, member in value.items():
            is_right_one = checks.get(key)
            if is_right_one is None:
                if not is_other(key, member):
                    return False
            elif not is_right_one(member) and (key in not_taken or not is_other(key, member)):
                return False
        return True

    return check


def _check_of_others(others: Sequence[Member]) -> Any:
    """Whether a member that has no entry of its own may be there."""
    pairs = [(entry.key.check(), entry.value.check()) for entry in others if entry.key]
    match pairs:
        case []:
            return lambda key, member: False
        case [(is_key, values.is_anything)]:
            return lambda key, member: is_key(key)
        case _:
            return lambda key, member: any(is_key(key) and is_member(member) for is_key, is_member in pairs)


class _Taking:
    """The members of one map, which entries take one after another.

    Without a place nobody wants to know what is wrong, only whether anything is.
    """

    def __init__(self, members: Mapping[Any, Any], place: Place | None) -> None:
        self._members = members
        self._place = place or ()
        self._is_asked_why = place is not None
        self._taken: set[Any] = set()
        self._barred: set[Any] = set()
        self._why_not: dict[Any, Fault] = {}
        """What was wrong with members that an entry asked for and did not take."""

    def fault(self, group: Group) -> Fault | None:
        """What is wrong with the map as a whole."""
        fault = self._take_group(group)
        if fault:
            return fault
        left = [key for key in self._members if key not in self._taken]
        if not left:
            return None
        known = [self._why_not[key] for key in left if key in self._why_not]
        if known:
            return known[0]
        return Fault(
            (*self._place, left[0]), "no member of this name", values.kind_of(self._members[left[0]])
        )

    def _take_group(self, group: Group) -> Fault | None:
        faults = []
        for entries in group.alternatives:
            before = self._taken.copy(), self._barred.copy()
            fault = self._take_sequence(entries, group)
            if fault is None:
                return None
            for key in self._taken - before[0]:
                self._why_not.setdefault(key, fault)
            self._taken, self._barred = before
            faults.append(fault)
        return (
            nearest(faults)
            if faults
            else Fault(self._place, "nothing: the schema leaves this open", NOT_THERE)
        )

    def _take_sequence(self, entries: Sequence[Entry], group: Group) -> Fault | None:
        for entry in entries:
            if isinstance(entry, Part):
                fault = self._take_part(entry)
            else:
                fault = self._take_members(cast("Member", entry), group)
            if fault:
                return fault
        return None

    def _take_part(self, part: Part) -> Fault | None:
        count = 0
        while part.may_be_more_than(count):
            before = len(self._taken)
            fault = self._take_group(part.group)
            if fault:
                return fault if count < part.low else None
            if len(self._taken) == before:
                # It is content with nothing, so it is there as often as anyone may ask for.
                return None
            count += 1
        return None

    def _take_members(self, entry: Member, group: Group) -> Fault | None:
        if entry.key is None:
            return Fault(self._place, _NO_KEY, NOT_THERE) if entry.low else None
        keys = self._keys_for(entry, group)
        check = entry.value.check()
        taken: list[Any] = []
        for key in keys:
            if not entry.may_be_more_than(len(taken)):
                break
            if check(self._members[key]):
                taken.append(key)
            elif key not in self._why_not:
                self._why_not[key] = self._fault_of(key, entry.value)
        self._taken.update(taken)
        if entry.cut:
            self._barred.update(keys)
        return self._too_few(entry, keys) if len(taken) < entry.low else None

    def _fault_of(self, key: Any, node: Node) -> Fault:
        return node.fault(self._members[key], (*self._place, key)) if self._is_asked_why else _SOME_FAULT

    def _keys_for(self, entry: Member, group: Group) -> list[Any]:
        """The keys of the map that an entry asks for, and may have."""
        literal = entry.literal_key
        if isinstance(literal, str):
            found = [literal] if literal in self._members else []
        else:
            is_key = cast("Node", entry.key).check()
            found = [key for key in self._members if is_key(key)]
        free = [key for key in found if key not in self._taken and key not in self._barred]
        if entry.high is None or len(free) <= entry.high:
            return free
        # The members may stand in any order: those that another entry needs by name are taken last.
        named = group.literal_keys()
        return sorted(free, key=lambda key: any(values.same(key, name) for name in named))

    def _too_few(self, entry: Member, keys: Sequence[Any]) -> Fault:
        for key in keys:
            if key in self._why_not and key not in self._taken:
                return self._why_not[key]
        if not self._is_asked_why:
            return _SOME_FAULT
        literal = entry.literal_key
        if literal is not None:
            is_there = any(values.same(key, literal) for key in self._members)
            found = "a member that another entry of the schema takes" if is_there else NOT_THERE
            return Fault((*self._place, literal), entry.value.words(), found)
        wanted = f"a member with {cast('Node', entry.key).words()} as its key"
        return Fault(self._place, wanted, NOT_THERE)
