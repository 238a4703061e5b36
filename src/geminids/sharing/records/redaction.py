"""Takes pieces out of a record that was committed to, so that the rest still proves to be what was signed.

Pieces are named by JSON pointers into the record as it is. An entry, a member or an element can be taken out;
what the format cannot do without leaves a word in its place, and a run of entries one entry. That can be
repeated: what is left of a record can be redacted again.

Hashes of the agent's files are not salted, so anybody could guess at what was taken out with their help.
They go with the first piece: those of whole files, those of the lines that the piece stands in, and those of
file attribution. Places in a file tell how long everything before them is, so they go from the piece on. What
is worked out from the piece goes too: differences, sums, lines that were written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from geminids.sharing.records import standalone
from geminids.sharing.records.errors import CommitmentError, WithholdingError
from geminids.sharing.records.profile import COMMITMENT, NATIVE, OURS, SOURCE
from geminids.sharing.records.standalone import Commitment, Mark, RefusedError, Where, path_of, pointer_of

_ATTRIBUTION = ("file-attribution",)
_OPTIONAL_IN_ATTRIBUTION = frozenset(
    {"path", "model-id", "url", "contributor", "related", "content-hash", "content-hash-alg"}
)
"""What file attribution can do without; all else there is needed, and is a number or a list."""

FOREIGN = frozenset({"content", "input", "output", "data", NATIVE})
LABELS = frozenset(
    {
        *("child_id", "content_after", "content_origin", "derived", "display_name", "exit_code", "imported"),
        *("is_object", "kind", "level", "name", "native_status", "origin", "output_origin", "request_id"),
        *("role", "state", "status", "dropped_by"),
    }
)
"""What we say of an entry that repeats none of its words; all else we say of it may."""
_PLACES_IN_FILES = ("files", "companions", "problems")
_TOTALS = ("usage", "reported", "counts", "unrecorded")
_CHANGES, _DROPPED_BY, _ORIGINALS = "changes", "dropped_by", "originals"


def withhold(record: dict[str, Any], pointers: Iterable[str]) -> dict[str, Any]:
    """What is left of a record when these pieces are taken out of it, and the hashes that would tell them."""
    commitment = _commitment(record)
    body = standalone.body_of(record)
    wanted = {path for pointer in pointers for path in _takable(pointer, body, commitment)}
    if not wanted:
        return record
    wanted |= set(_revealing(body, wanted))
    try:
        return _Taking(commitment).left_of(body, _branches(wanted))
    except (RefusedError, UnicodeEncodeError, RecursionError) as error:
        raise CommitmentError(str(error)) from error
    except (ValueError, TypeError) as error:
        raise CommitmentError("it does not fit the record") from error


def places_missing(record: dict[str, Any]) -> int:
    """At how many places of a record something was taken out, as `verify` counts them."""
    return len(_commitment(record).marks) if COMMITMENT in record else 0


def _commitment(record: dict[str, Any]) -> Commitment:
    if COMMITMENT not in record:
        raise CommitmentError("it has none, so nothing can be taken out of it that is not missed")
    try:
        return standalone.commitment_of(record)
    except RefusedError as error:
        raise CommitmentError(str(error)) from error


# ── What is taken out ─────────────────────────────────────────────────────────────────────────────────────


def _takable(pointer: str, body: dict[str, Any], commitment: Commitment) -> list[Where]:
    """What has to be taken out for a pointer: mostly what it names, sometimes more, never less."""
    path = path_in(pointer)
    if standalone.is_fixed(path):
        raise WithholdingError(pointer, "a record is none without it, and it is what the signature names")
    if path in commitment.marks:
        return []
    found = value_at(body, path)
    if found is _NOTHING:
        raise WithholdingError(pointer, "there is nothing at this place")
    if path == ("session", "agent-meta") and isinstance(found, dict):
        return [(*path, key) for key in found]
    if path == ("session", "entries") and isinstance(found, list):
        return [(*path, str(index)) for index in range(len(found))]
    return [_whole_of(path)]


def path_in(pointer: str) -> Where:
    """The way to a place that a pointer names."""
    try:
        return path_of(pointer)
    except RefusedError as error:
        raise WithholdingError(pointer, str(error)) from error


def _whole_of(path: Where) -> Where:
    """The smallest piece around a place that can be taken out."""
    for depth, token in enumerate(path, 1):
        if token in standalone.WHOLES:
            return path[:depth]
    if path[:1] == _ATTRIBUTION and len(path) > 1:
        # What is related to a conversation cannot be without an address.
        optional = path[-1] in _OPTIONAL_IN_ATTRIBUTION and "related" not in path[:-1]
        return path if optional else _ATTRIBUTION
    return path


_NOTHING = object()
_INDEX = re.compile("0|[1-9][0-9]{0,15}")


def value_at(value: Any, path: Where) -> Any:
    """What stands at a place."""
    for token in path:
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and _INDEX.fullmatch(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            return _NOTHING
    return value


def _revealing(body: dict[str, Any], wanted: set[Where]) -> Iterator[Where]:
    """Places of what would tell what is taken out: hashes without a salt, lengths, sums and other words."""
    entries = dict(standalone.entries_of(body))
    around = {beginning for path in wanted for beginning in beginnings(path)}
    touched = {place for place in entries if place in around or not wanted.isdisjoint(beginnings(place))}
    taken = {place for place in touched if not wanted.isdisjoint(beginnings(place))}
    yield from _revealing_of_record(body)
    if taken or any("token-usage" in path for path in wanted):
        yield from _ours_in(body, ("session",), _TOTALS)
    yield from _revealing_places(entries, touched)
    own = taken | {place for path in wanted if (place := _entry_around(path, entries))}
    calls = {_call_of(place, entries[place]) for place in own} - {None}
    for place in {*own, *(place for place, entry in entries.items() if _call_of(place, entry) in calls)}:
        words = _ours_of(entries[place])
        yield from ((*place, OURS, name) for name in words if name not in LABELS)
        if _CHANGES in words and _ATTRIBUTION[0] in body:
            yield _ATTRIBUTION


def _revealing_of_record(body: dict[str, Any]) -> Iterator[Where]:
    """What a record says of all of its files, and of texts that it could not hold."""
    if SOURCE in body:
        yield (SOURCE,)
    for path, _ in leaves(body.get(_ATTRIBUTION[0], {}), _ATTRIBUTION):
        if path[-1] == "content-hash":
            yield path
    yield from _ours_in(body, ("session",), (*_PLACES_IN_FILES, _ORIGINALS))
    yield from _ours_in(body, (), (_ORIGINALS,))


def _ours_in(body: dict[str, Any], place: Where, names: Iterable[str]) -> Iterator[Where]:
    words = _ours_of(value_at(body, place))
    return ((*place, OURS, name) for name in names if name in words)


def _ours_of(value: Any) -> dict[str, Any]:
    ours = value.get(OURS) if isinstance(value, dict) else None
    return ours if isinstance(ours, dict) else {}


def _revealing_places(entries: dict[Where, dict[str, Any]], touched: set[Where]) -> Iterator[Where]:
    """Where entries stand in files, as far as that tells something of those that are touched."""
    of_touched = [span for place in touched for span in _spans(entries[place].get(SOURCE))]
    taken = _Spans(of_touched)
    first: dict[int, int] = {}
    for file, start, _ in of_touched:
        first[file] = min(start, first.get(file, start))
    for place, entry in entries.items():
        spans = [*_spans(entry.get(SOURCE))]
        if NATIVE in entry and (place in touched or any(map(taken.meet, spans))):
            yield (*place, NATIVE)
        if SOURCE in entry and (place in touched or _are_behind(spans, first)):
            yield (*place, SOURCE)
        dropped_by = _ours_of(entry).get(_DROPPED_BY)
        if dropped_by is not None and (place in touched or _are_behind(_spans([dropped_by]), first)):
            yield (*place, OURS, _DROPPED_BY)


def _are_behind(spans: Iterable[Span], first: dict[int, int]) -> bool:
    """Whether one of them ends behind the first byte that must not be told of in its file."""
    return any(file in first and end > first[file] for file, _, end in spans)


def _entry_around(path: Where, entries: dict[Where, dict[str, Any]]) -> Where | None:
    """The innermost entry that a place is in."""
    return max((place for place in beginnings(path) if place in entries), key=len, default=None)


def _call_of(place: Where, entry: dict[str, Any]) -> tuple[Where, str] | None:
    """By what a call and its result know each other: they hang on one message."""
    call_id = entry.get("call-id")
    return (place[:-1], call_id) if isinstance(call_id, str) else None


def beginnings(path: Where) -> Iterator[Where]:
    """All ways that lead to a place."""
    return (path[:depth] for depth in range(len(path) + 1))


Span = tuple[int, int, int]
"""A file by its number, and from which byte to which."""


def _spans(places: Any) -> Iterator[Span]:
    for place in places if isinstance(places, list) else []:
        match place:
            case {"file": int(file), "start": int(start), "end": int(end)}:
                yield file, start, end


class _Spans:
    """Bytes of files that were read for some entries."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans)
        ends = ((file, end) for file, _, end in self._spans)
        # The furthest end up to each: no later one of the same file need be looked at.
        self._ends = list(accumulate(ends, max))

    def meet(self, span: Span) -> bool:
        """Whether some of these bytes are among them."""
        file, start, end = span
        before = bisect_right(self._spans, (file, end - 1, 2**63)) - 1
        return before >= 0 and self._ends[before] > (file, start)


class _Branch(NamedTuple):
    """What is taken out below a place; without any below, the place itself."""

    below: dict[str, _Branch]


_NONE = _Branch({})


def _branches(wanted: set[Where]) -> _Branch:
    """All places as one tree. What lies in something that is taken out as a whole is not named again."""
    top = _Branch({})
    for path in sorted(wanted, key=len):
        branch = top
        for depth, token in enumerate(path, 1):
            known = branch.below.get(token)
            if known is not None and not known.below and depth < len(path):
                break
            branch = branch.below.setdefault(token, _Branch({}))
    return top


# ── Taking out ────────────────────────────────────────────────────────────────────────────────────────────


class _Taking:
    """Goes through a record, leaves digests of what is taken out and seeds of what stays untouched."""

    def __init__(self, commitment: Commitment) -> None:
        self._commitment = commitment
        self._taken_before: dict[Where, list[str]] = {}
        for path in commitment.marks:
            self._taken_before.setdefault(path[:-1], []).append(path[-1])
        self._recount = standalone.Recount(commitment)
        self._seeds: list[dict[str, Any]] = []
        self._redacted: list[dict[str, Any]] = []

    def left_of(self, body: dict[str, Any], wanted: _Branch) -> dict[str, Any]:
        left = self._left(body, (), (), self._commitment.seeds.get(()), wanted)
        return {
            **left,
            COMMITMENT: {
                "scheme": standalone.SCHEME,
                "root": self._commitment.root.hex(),
                "seeds": self._seeds,
                "redacted": self._redacted,
            },
        }

    def _left(self, value: Any, was: Where, now: Where, seed: bytes | None, wanted: _Branch) -> Any:
        """What is left of a value that stood at one place before, and stands at another now."""
        if seed is not None and not wanted.below:
            self._seeds.append({"at": pointer_of(now), "seed": seed.hex()})
            return value
        return (self._map_left if isinstance(value, dict) else self._list_left)(value, was, now, seed, wanted)

    def _map_left(
        self, value: dict[str, Any], was: Where, now: Where, seed: bytes | None, wanted: _Branch
    ) -> dict[str, Any]:
        left: dict[str, Any] = {}
        for key in sorted({*value, *self._taken_before.get(was, ())}):
            place = (*now, key)
            if (mark := self._commitment.marks.get((*was, key))) is None:
                own = standalone.member_seed(seed, key) if seed else self._commitment.seeds.get((*was, key))
                branch = wanted.below.get(key)
                if branch is None or branch.below:
                    left[key] = self._left(value[key], (*was, key), place, own, branch or _NONE)
                    continue
                mark = Mark((self._digest(value[key], (*was, key), own),), None)
            self._redact(place, mark)
            if standalone.is_shown(place):
                left[key] = standalone.REDACTED
        return left

    def _list_left(
        self, value: list[Any], was: Where, now: Where, seed: bytes | None, wanted: _Branch
    ) -> list[Any]:
        marks = [self._commitment.marks.get((*was, str(index))) for index in range(len(value))]
        starts = list(accumulate((mark.number or 1 if mark else 1 for mark in marks), initial=0))
        run = _Run(starts[-1])
        left: list[Any] = []
        for index, (element, mark, start) in enumerate(zip(value, marks, starts, strict=False)):
            own = (
                standalone.element_seed(seed, start)
                if seed
                else self._commitment.seeds.get((*was, str(index)))
            )
            branch = wanted.below.get(str(index))
            if mark is not None:
                run.take(start, starts[index + 1], mark.digests)
            elif branch is not None and not branch.below:
                run.take(start, start + 1, (self._digest(element, (*was, str(index)), own),))
            else:
                self._end_run(run, left, now)
                place = (*now, str(len(left)))
                left.append(self._left(element, (*was, str(index)), place, own, branch or _NONE))
        self._end_run(run, left, now)
        return left

    def _end_run(self, run: _Run, left: list[Any], now: Where) -> None:
        if (mark := run.ended()) is not None:
            self._redact((*now, str(len(left))), mark)
            of_entries = standalone.is_entry_list(now)
            left.append(dict(standalone.REDACTED_ENTRY) if of_entries else standalone.REDACTED)

    def _digest(self, value: Any, was: Where, seed: bytes | None) -> bytes:
        if seed is None:
            return self._recount.digest(value, was)
        whole = was[-1] in standalone.WHOLES
        return standalone.leaf_digest(value, seed) if whole else standalone.digest_of(value, seed)

    def _redact(self, place: Where, mark: Mark) -> None:
        redacted: dict[str, Any] = {
            "at": pointer_of(place),
            "digests": [digest.hex() for digest in mark.digests],
        }
        if mark.number is not None:
            redacted["count"] = mark.number
        self._redacted.append(redacted)


class _Run:
    """Neighbours in a list of some length that are taken out, known by the digests of their subtrees."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._digests: dict[tuple[int, int], bytes] = {}
        self._start = self._end = 0

    def take(self, start: int, end: int, digests: tuple[bytes, ...]) -> None:
        """Take out more: one element, or a run that had been taken out before."""
        if self._start == self._end:
            self._start = start
        self._end = end
        self._digests.update(zip(subtrees(self._length, start, end), digests, strict=True))

    def ended(self) -> Mark | None:
        """What is known of the run, which ends here; None if there was none."""
        if self._start == self._end:
            return None
        ranges = subtrees(self._length, self._start, self._end)
        mark = Mark(tuple(self._digest(*place) for place in ranges), self._end - self._start)
        self._digests.clear()
        self._start = self._end
        return mark

    def _digest(self, low: int, high: int) -> bytes:
        if (known := self._digests.get((low, high))) is not None:
            return known
        middle = low + standalone.split(high - low)
        return standalone.node(self._digest(low, middle), self._digest(middle, high))


def subtrees(length: int, start: int, end: int) -> list[tuple[int, int]]:
    """The largest subtrees of a tree that have nothing but leaves of this range, from left to right."""
    found: list[tuple[int, int]] = []

    def look(low: int, high: int) -> None:
        if start <= low and high <= end:
            found.append((low, high))
        elif low < end and start < high:
            middle = low + standalone.split(high - low)
            look(low, middle)
            look(middle, high)

    look(0, length)
    return found


# ── What to take out ──────────────────────────────────────────────────────────────────────────────────────


def leaves(value: Any, path: Where, whole: Where | None = None) -> Iterator[tuple[Where, Any]]:
    """Every text and number in a value, with the piece that can be taken out for it.

    A key stays in sight when its member is taken out, so it is a text of the map around it. Only keys in what
    tools and agents wrote count: all others are words of the format.
    """
    if isinstance(value, dict):
        foreign = not FOREIGN.isdisjoint(path) or OURS in path[:-1]
        for key, member in value.items():
            if foreign:
                yield whole or path, key
            as_whole = (*path, key) if key in standalone.WHOLES else None
            yield from leaves(member, (*path, key), whole or as_whole)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from leaves(element, (*path, str(index)), whole)
    elif value is not None and not isinstance(value, bool):
        yield whole or path, value
