"""Events between the messages: records of the agent that are no message, and what took messages out of view.

Both stand where their record stands among the messages of the same file. Events that are put together from
what messages say (`derived`) hold nothing that these do not, and are left out when a record is read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from geminids.core.model import Location, Message, State
from geminids.sharing.records.evidence import NativeEvidence
from geminids.sharing.records.profile import OURS, SOURCE
from geminids.sharing.records.translation_messages import Files

NATIVE_EVENT = "native:"
"""How the types of events begin that are a record of the agent, whole."""

DROPPING = {
    State.REWOUND: "rewind",
    State.COMPRESSED: "compression",
    State.FAILED: "failure",
    State.CANCELLED: "cancellation",
    State.SUPERSEDED: "replacement",
    State.CURRENT: "removal",
    State.UNRECORDED: "removal",
}


class Positions:
    """Before which message a record stands, by its place in a file."""

    def __init__(self, messages: Sequence[Message]) -> None:
        found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, message in enumerate(messages):
            found[message.source.file].append((message.source.start, number))
        self._starts: dict[str, list[int]] = {}
        self._first_after: dict[str, list[int]] = {}
        self._ends: dict[str, int] = {}
        for file, places in found.items():
            places.sort()
            numbers = [number for _, number in places]
            self._starts[file] = [start for start, _ in places]
            self._first_after[file] = [*accumulate(reversed(numbers), min)][::-1]
            self._ends[file] = max(numbers) + 1

    def before(self, source: Location) -> int:
        """The number of the first message that stands behind a place in the same file."""
        starts = self._starts.get(source.file)
        if starts is None:
            return 0
        place = bisect_left(starts, source.start)
        return self._first_after[source.file][place] if place < len(starts) else self._ends[source.file]


def events_by_position(
    messages: Sequence[Message], others: Iterable[NativeEvidence], files: Files
) -> dict[int, list[dict[str, Any]]]:
    """The events to be put before each message, by its number; records of the agent keep their order."""
    positions = Positions(messages)
    events: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    last = 0
    for other in others:
        last = max(last, positions.before(other.source))
        events[last].append(_native_event(other, files))
    for source, event in _derived_events(messages, files):
        events[positions.before(source)].append(event)
    return events


def _native_event(other: NativeEvidence, files: Files) -> dict[str, Any]:
    event: dict[str, Any] = {"type": "system-event", "event-type": NATIVE_EVENT + record_type(other.native)}
    if other.native is not None:
        event["data"] = other.native if isinstance(other.native, dict) else {"value": other.native}
    event[SOURCE] = [files.place(other.source, other.sha256)]
    if other.native is not None and not isinstance(other.native, dict):
        event[OURS] = {"is_object": False}
    return event


def record_type(native: object) -> str:
    """What an agent calls a record, as far as it says so."""
    match native:
        case {"type": str(name)} if name:
            return name
        case {"sessionId": _}:
            return "session"
        case {**members} if members and str(next(iter(members))).startswith("$"):
            return str(next(iter(members)))
        case _:
            return "record"


def _derived_events(messages: Sequence[Message], files: Files) -> Iterator[tuple[Location, dict[str, Any]]]:
    dropped: defaultdict[tuple[Location, State], list[str]] = defaultdict(list)
    for message in messages:
        if message.dropped_by is not None:
            dropped[message.dropped_by, message.state].append(message.id)
    for (source, state), ids in dropped.items():
        yield (
            source,
            {
                "type": "system-event",
                "event-type": DROPPING[state],
                "data": {"messages": ids},
                SOURCE: [files.place(source)],
                OURS: {"derived": True},
            },
        )
