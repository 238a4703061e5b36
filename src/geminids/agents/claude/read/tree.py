"""The order of a conversation, and what became of each of its records.

Records hang on each other. The conversation that goes on is the way from its leaf to the root: the leaf is
what `last-prompt` names, or what was written after it. A walk alone would lose much that belongs to it:

- answers to calls made at once hang each on the line of its own call, and the walk meets one of them;
- lines of one reply can stand beside the way for the same reason;
- releases 2.0 write a prompt of several blocks again when they resume, a block a record, and what follows it,
  under new ids: what hangs on such a repeat hangs on the first writing;
- a compaction begins with a record without a parent. What was said before it hangs on its `logicalParentUuid`
  and left the model's view, but for what it names as preserved, which then follows the summary.

What is on no way was taken back. All of it stays where it was written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from geminids.agents.claude.read.content import object_or_empty
from geminids.agents.claude.read.records import ASSISTANT, SPOKEN, SYSTEM, USER, Record
from geminids.core.model import Location, Problem, ProblemKind, State
from geminids.reading.shapes import texts_in

_NO_WORDS = frozenset({"type", "id", "tool_use_id", "signature", "cache_control", "media_type"})
_NONE = -1
"""The parent of what hangs on nothing."""


class Fate(msgspec.Struct, frozen=True, gc=False):
    """What became of a record, and the record that made it so."""

    state: State
    dropped_by: Location | None = None
    is_version: bool = False
    """Whether it is an earlier version of a record, which is counted where its last one stands."""


CURRENT = Fate(State.CURRENT)
_UNRECORDED = Fate(State.UNRECORDED)
_LEFT = frozenset({State.REWOUND, State.SUPERSEDED})


class Laid(msgspec.Struct, frozen=True):
    """A record in its place in the conversation."""

    record: Record
    fate: Fate
    copies: tuple[Location, ...] = ()
    """Where the same record was written again."""


class Leaf(msgspec.Struct, frozen=True, gc=False):
    """What a `last-prompt` says: where the conversation goes on."""

    uuid: str | None
    """None if it was taken back to its beginning."""
    place: Location


_MOST_EARLY = 50
"""Number of parents that are followed to tell an early record from a cycle."""
_MOST_ALIKE = 50
"""Records of one millisecond that a later one is compared with: there are few, unless they are made up."""


def lay_out(records: Sequence[Record], leaves: Sequence[Leaf], problems: list[Problem]) -> list[Laid]:
    """The records of one conversation in order, each with what became of it; problems are added to a list."""
    return _Tree(records, leaves, problems).lay_out()


def with_unrecorded(laid: Iterable[Laid], records: Iterable[Record]) -> Iterator[Laid]:
    """Yield a conversation with records that hang on no other, each before the next later one."""
    waiting = deque(records)
    for one in laid:
        while waiting and _is_after(one.record.place, waiting[0].place):
            yield Laid(waiting.popleft(), _UNRECORDED)
        yield one
    yield from (Laid(record, _UNRECORDED) for record in waiting)


class _Tree:
    def __init__(self, records: Sequence[Record], leaves: Sequence[Leaf], problems: list[Problem]) -> None:
        self._problems = problems
        self._leaves = leaves
        self._records: list[Record] = []
        self._index: dict[str, int] = {}
        self._copies: dict[int, list[Location]] = {}
        self._versions: dict[int, list[Record]] = {}
        """Records that were written again under their ids with other words."""
        self._at: dict[str, list[int]] = {}
        """Spoken records by their time: whoever repeats one keeps it."""
        for record in records:
            self._add(record)
        self._parents = list(map(self._parent, range(len(self._records))))
        self._early: dict[int, list[int]] = {}
        """Records that were written before the record that they hang on, by the latter."""
        for index, parent in enumerate(self._parents):
            if parent > index and self._is_early(index):
                self._early.setdefault(parent, []).append(index)
        self._fates: list[Fate | None] = [None] * len(self._records)
        self._preserved: dict[int, list[int]] = {}
        """What a compaction left in view, by the record that it follows now."""

    def _add(self, record: Record) -> None:
        uuid = record.value.get("uuid")
        if type(uuid) is str:
            known = self._index.setdefault(uuid, len(self._records))
            if known == len(self._records):
                known = self._index[uuid] = self._first_writing(record)
            if known != len(self._records):
                self._take_again(known, record)
                return
        self._records.append(record)

    def _take_again(self, known: int, record: Record) -> None:
        """A record that is written again: the last one counts, and what it no longer says was superseded."""
        first = self._records[known]
        is_same = first.value.get("uuid") == record.value.get("uuid")
        before, now = _words(first), _words(record)
        if not is_same or before == now or not record.complete or first.kind not in SPOKEN:
            self._copies.setdefault(known, []).append(record.place)
            return
        if before not in now:
            self._versions.setdefault(known, []).append(first)
        else:
            self._copies.setdefault(known, []).append(first.place)
        self._records[known] = record

    def _laid(self, index: int) -> Iterator[Laid]:
        """A record in its place, after the versions that it replaced."""
        record = self._records[index]
        for number, version in enumerate(self._versions.get(index, ()), 1):
            value = version.value | {"uuid": f"{version.value['uuid']}~v{number}"}
            fate = Fate(State.SUPERSEDED, record.place, is_version=True)
            yield Laid(Record(version.kind, value, version.place), fate)
        yield Laid(record, self._fates[index] or CURRENT, tuple(self._copies.get(index, ())))

    def _first_writing(self, record: Record) -> int:
        """The record that this one repeats under another id; else its own place."""
        own = len(self._records)
        time = record.value.get("timestamp") if record.kind in SPOKEN else None
        if type(time) is not str:
            return own
        alike = self._at.setdefault(time, [])
        parent = self._known(record.value.get("parentUuid"), _NONE)
        for index in alike:
            first = self._records[index]
            above = self._known(first.value.get("parentUuid"), _NONE)
            # The second block of a prompt hangs on the first one, and so on the prompt itself.
            if parent in (above, index) and _is_repeated(first, record):
                return index
        if len(alike) < _MOST_ALIKE:
            alike.append(own)
        return own

    def _parent(self, index: int) -> int:
        value = self._records[index].value
        parent = value.get("parentUuid", index)
        if type(parent) is str:
            known = self._index.get(parent)
            if known is not None and known != index:
                return known
            self._wrong(index, "parentUuid names no other record of this session")
        elif parent is None:
            return _NONE
        elif parent is not index:
            self._wrong(index, f"parentUuid is a {type(parent).__name__}")
        # What hangs on nothing that we know is taken for what follows the record before it.
        return index - 1

    def _is_early(self, index: int) -> bool:
        """Return whether a record was written before its parent, and not as part of a cycle."""
        above = self._parents[index]
        for _ in range(_MOST_EARLY):
            if above <= index:
                break
            above = self._parents[above]
        return above < index

    def _wrong(self, index: int, detail: str) -> None:
        place = self._records[index].place
        problem = Problem(place.file, ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)
        self._problems.append(problem)

    def lay_out(self) -> list[Laid]:
        self._walk(self._leaf())
        if None in self._fates:
            self._reattach()
            self._take_back()
        return [laid for index in self._order() for laid in self._laid(index)]

    def _leaf(self) -> int:
        """Where the conversation goes on: as the last word on it says, or at what was written after that."""
        last = next((leaf for leaf in reversed(self._leaves) if self._is_known(leaf.uuid)), None)
        newest = next((i for i in reversed(range(len(self._records))) if self._is_spoken(i)), _NONE)
        while answers := [index for index in self._early.get(newest, ()) if self._is_spoken(index)]:
            newest = answers[-1]
        if last is None or (newest >= 0 and _is_after(self._records[newest].place, last.place)):
            return newest if newest >= 0 else len(self._records) - 1
        return self._index[last.uuid] if last.uuid is not None else _NONE

    def _is_known(self, uuid: str | None) -> bool:
        return uuid is None or uuid in self._index

    def _is_spoken(self, index: int) -> bool:
        record = self._records[index]
        # After a compaction nothing may have been said yet.
        return record.kind in SPOKEN or _is_boundary(record)

    def _walk(self, leaf: int) -> None:
        """Mark the way from the leaf to the root, through compactions."""
        index, fate = leaf, CURRENT
        visited: set[int] = set()
        while index != _NONE and index not in visited:
            visited.add(index)
            record = self._records[index]
            if self._fates[index] is None:
                self._fates[index] = fate
            parent = self._parents[index]
            if _is_boundary(record) or (parent == _NONE and record.value.get("isCompactSummary") is True):
                compressed = Fate(State.COMPRESSED, record.place)
                self._keep_preserved(index, fate, compressed)
                fate, index = compressed, self._before_compaction(index, visited)
                continue
            if parent in visited:
                self._wrong(index, "parentUuid leads back to where it came from")
            index = parent

    def _before_compaction(self, boundary: int, visited: set[int]) -> int:
        """The last record before a compaction."""
        logical = self._records[boundary].value.get("logicalParentUuid")
        known = self._index.get(logical) if isinstance(logical, str) else None
        # In a fork the logical parent is what was preserved, and stands after the compaction.
        return boundary - 1 if known is None or known in visited or known > boundary else known

    def _keep_preserved(self, boundary: int, fate: Fate, compressed: Fate) -> None:
        """Mark what a compaction left in view, which follows the summary now: that is of what came before.

        A human may also have chosen from where on the talk is summed up: then all before it stays as it is.
        """
        about = object_or_empty(self._records[boundary].value.get("compactMetadata"))
        segment = object_or_empty(about.get("preservedSegment"))
        preserved = list(self._segment(segment, about))
        anchor = self._known(segment.get("anchorUuid"), boundary)
        preserved = [index for index in preserved if index < boundary]
        for index in preserved:
            self._fates[index] = self._fates[index] or fate
        if anchor > boundary:
            self._preserved[anchor] = preserved
        elif preserved:
            self._mark_summed_up(boundary, compressed)

    def _mark_summed_up(self, boundary: int, compressed: Fate) -> None:
        """Mark what was said last before a compaction, back to what it preserved."""
        index = next((i for i in reversed(range(boundary)) if self._is_spoken(i)), _NONE)
        while index != _NONE and self._fates[index] is None:
            self._fates[index] = compressed
            index = self._parents[index]

    def _segment(self, segment: dict[str, Any], about: dict[str, Any]) -> Iterator[int]:
        match about.get("preservedMessages"):
            case {"allUuids": list(uuids)} | {"uuids": list(uuids)}:
                yield from sorted({known for uuid in uuids if (known := self._known(uuid, _NONE)) >= 0})
                return
        head, index = self._known(segment.get("headUuid"), _NONE), self._known(segment.get("tailUuid"), _NONE)
        way: set[int] = set()
        while index >= 0 and index not in way:
            way.add(index)
            index = _NONE if index == head else self._parents[index]
        yield from sorted(way) if head in way else ()

    def _known(self, uuid: object, otherwise: int) -> int:
        return self._index.get(uuid, otherwise) if isinstance(uuid, str) else otherwise

    def _reattach(self) -> None:
        """Mark what belongs to the way and stands beside it: lines of its replies, answers to its calls."""
        fates: dict[str, Fate] = {}
        for index, fate in enumerate(self._fates):
            if fate and (reply := _reply_id(self._records[index])):
                fates.setdefault(reply, fate)
        for index, fate in enumerate(self._fates):
            if fate is None and (reply := _reply_id(self._records[index])):
                self._fates[index] = fates.get(reply)
        calls: dict[str, Fate] = {}
        for index, fate in enumerate(self._fates):
            if fate:
                calls.update(dict.fromkeys(_call_ids(self._records[index], ASSISTANT, "id"), fate))
        for index, fate in enumerate(self._fates):
            if fate is None:
                answered = (
                    calls.get(call_id) for call_id in _call_ids(self._records[index], USER, "tool_use_id")
                )
                self._fates[index] = next(filter(None, answered), None)

    def _take_back(self) -> None:
        """Mark the rest: what says nothing shares the fate of what it hangs on, all else was taken back."""
        in_view = [i for i, fate in enumerate(self._fates) if fate and self._is_spoken(i)]
        goes_on = {self._parents[i]: i for i in in_view}
        for index, record in enumerate(self._records):
            if self._fates[index] is None:
                parent = self._parents[index]
                above = self._fates[parent] if parent >= 0 else CURRENT
                if above and (record.kind not in SPOKEN or above.state in _LEFT):
                    self._fates[index] = above
                elif parent >= 0 and _is_refused(record):
                    # Releases 2.0 go on from the error record.
                    self._fates[index] = Fate(State.FAILED, self._records[parent].place)
                else:
                    self._fates[index] = self._left(index, goes_on, in_view)

    def _left(self, index: int, goes_on: dict[int, int], in_view: list[int]) -> Fate:
        """Return why the conversation does not go on with a branch.

        A rewind is followed by a prompt or by a `last-prompt`. If an answer follows, another process wrote
        the branch while the model was at work.
        """
        other = goes_on.get(self._parents[index], _NONE)
        following = other
        if _NONE < other < index:
            later = bisect_right(in_view, index)
            following = in_view[later] if later < len(in_view) else _NONE
        if following != _NONE and _is_answer(self._records[following]):
            return Fate(State.SUPERSEDED, self._records[following].place)
        taker = self._records[other].place if other > index else self._leaf_after(self._records[index].place)
        return Fate(State.REWOUND, taker)

    def _leaf_after(self, place: Location) -> Location | None:
        """The first word on where to go on that was written after a record; they all stand in one file."""
        leaves = self._leaves
        is_beside = bool(leaves) and leaves[0].place.file == place.file
        first = bisect_right(leaves, place.start, key=lambda leaf: leaf.place.start) if is_beside else 0
        return leaves[first].place if first < len(leaves) else None

    def _order(self) -> Iterator[int]:
        """Yield all records in the order of the file, but for what is moved: each after what it hangs on."""
        preserved = {index for indices in self._preserved.values() for index in indices}
        early = {index for indices in self._early.values() for index in indices} - preserved
        for first in range(len(self._records)):
            waiting = [] if first in preserved or first in early else [first]
            while waiting:
                index = waiting.pop()
                yield index
                waiting += (later for later in reversed(self._early.get(index, ())) if later in early)
                waiting += reversed(self._preserved.get(index, ()))


def _is_after(place: Location, other: Location) -> bool:
    return place.start > other.start or place.file != other.file


def _words(record: Record) -> str:
    """All words of a record, however they are broken into lines and blocks."""
    content = object_or_empty(record.value.get("message")).get("content")
    return " ".join(" ".join(texts_in(content, _NO_WORDS)).split())


def _is_boundary(record: Record) -> bool:
    return record.kind == SYSTEM and record.value.get("subtype") == "compact_boundary"


def _reply_id(record: Record) -> str | None:
    """The id of the reply that a line is a piece of."""
    message = record.value.get("message") if record.kind == ASSISTANT else None
    reply = message.get("id") if type(message) is dict else None
    return reply if type(reply) is str else None


def _is_answer(record: Record) -> bool:
    """Return whether the model or a tool gave a record."""
    return record.kind == ASSISTANT or next(_call_ids(record, USER, "tool_use_id"), None) is not None


def _is_refused(record: Record) -> bool:
    """Return whether a record is an answer that the service stopped."""
    message = record.value.get("message") if record.kind == ASSISTANT else None
    return type(message) is dict and message.get("stop_reason") == "refusal"


def _blocks(record: Record) -> list[Any]:
    message = record.value.get("message")
    content = message.get("content") if type(message) is dict else None
    return content if type(content) is list else []


def _is_repeated(first: Record, again: Record) -> bool:
    """Whether a record holds a piece of another, or all of it, and nothing else."""
    if first.kind != again.kind or _reply_id(first) != _reply_id(again):
        return False
    blocks, repeated = _spoken_blocks(first), _spoken_blocks(again)
    return bool(repeated) and (blocks == repeated or (len(repeated) == 1 and repeated[0] in blocks))


def _spoken_blocks(record: Record) -> list[Any]:
    """The blocks of a message, also where its text stands alone."""
    message = record.value.get("message")
    content = message.get("content") if type(message) is dict else None
    return [{"type": "text", "text": content}] if type(content) is str else _blocks(record)


def _call_ids(record: Record, kind: str, name: str) -> Iterator[str]:
    """The ids of calls in a record of a kind, where they stand under a name."""
    if record.kind == kind:
        for block in _blocks(record):
            call_id = block.get(name) if type(block) is dict else None
            if type(call_id) is str:
                yield call_id
