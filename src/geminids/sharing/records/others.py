"""Records of no message: headers, settings, notes, snapshots, and bytes that are no record at all.

What stands in the files of a session and at no place of its messages is kept whole, unless it is of another
session in the same file: of a subagent, of one that shares the file by the accident of its name. The agent's
own package knows which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from geminids.core.agents.records import Belongs
from geminids.core.model import Location, Session
from geminids.reading.lines import LineNumbers
from geminids.sharing.records.natives import MISSING, NativeFile, pointed_at, steps_of
from geminids.sharing.records.plain import never, recorder_of

Found = tuple[Location, Any]
"""A record, and where it stands."""
_GONE: Any = object()
"""In the place of an element that stands elsewhere."""


def others_in(session: Session, file: NativeFile, places: Sequence[Location]) -> Iterator[Found]:
    """The records of a file that no message of the session is read from, in order."""
    if file.is_document:
        yield from _beside_elements(session, file, places)
    else:
        yield from _beside_lines(session, file, places)


# Documents


def _beside_elements(session: Session, file: NativeFile, places: Sequence[Location]) -> Iterator[Found]:
    """What a document says beside the elements that messages are read from."""
    if any(
        place.pointer is None and place.end - place.start >= len(file.content.strip()) for place in places
    ):
        return
    belongs = recorder_of(session.agent).belonging(session, file)
    if belongs is never:
        return
    covered = [steps_of(place.pointer) for place in places if place.pointer is not None]
    left = _without(file.document, covered, belongs)
    if left is not _GONE:
        yield Location(file.path, 1, 0, len(file.content)), left


def _without(value: Any, covered: Sequence[Sequence[str]], belongs: Belongs) -> Any:
    """A value without some elements; a list of which nothing is left is left out.

    In a list that elements are taken out of, what is of another session goes as well.
    """
    if not covered:
        return value
    if [] in covered:
        return _GONE
    by_step: dict[str, list[Sequence[str]]] = {}
    for steps in covered:
        by_step.setdefault(steps[0], []).append(steps[1:])
    if type(value) is list:
        return _without_elements(value, by_step, belongs)
    left = {}
    for member, inner in value.items():
        rest = _without(inner, by_step.get(member, ()), belongs)
        if rest is not _GONE:
            left[member] = rest
    return left or _GONE


def _without_elements(elements: list[Any], by_step: dict[str, list[Sequence[str]]], belongs: Belongs) -> Any:
    rests = [
        _without(element, by_step.get(str(index), ()), belongs) for index, element in enumerate(elements)
    ]
    rests = [_GONE if rest is _GONE or not belongs(rest) else rest for rest in rests]
    if all(rest is _GONE for rest in rests):
        return _GONE
    return [None if rest is _GONE else rest for rest in rests]


# Logs


def _beside_lines(session: Session, file: NativeFile, places: Sequence[Location]) -> Iterator[Found]:
    """The lines of no message, what a line says beside the messages in it, and what is no JSON."""
    belongs = recorder_of(session.agent).belonging(session, file)
    inside: dict[tuple[int, int], list[Sequence[str]]] = {}
    whole: set[tuple[int, int]] = set()
    for place in places:
        span = place.start, place.end
        if place.pointer is not None and pointed_at(file.value_of(*span), place.pointer) is not MISSING:
            inside.setdefault(span, []).append(steps_of(place.pointer))
        else:
            whole.add(span)
    numbers = LineNumbers(file.content)
    for start, end in _spans(file, sorted(whole | inside.keys())):
        value = file.value_of(start, end)
        is_own = belongs(value)
        if (start, end) in whole or not is_own:
            continue
        left = _without(value, inside.get((start, end), ()), belongs)
        if left is not _GONE:
            yield Location(file.path, numbers.at(start), start, end), left


def _spans(file: NativeFile, covered: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces of a log in order: those of messages, every other line, and bytes that are no JSON."""
    done = 0
    for start, end in covered:
        if start < done:
            continue
        yield from _records_between(file, done, start)
        yield start, end
        done = end
    yield from _records_between(file, done, len(file.content))


def _records_between(file: NativeFile, start: int, end: int) -> Iterator[tuple[int, int]]:
    unread: tuple[int, int] | None = None
    for line in file.lines(start, end):
        if not file.is_json(*line):
            unread = (unread[0], line[1]) if unread else line
            continue
        if unread:
            yield unread
            unread = None
        yield line
    if unread and not _only_separates(file.content[unread[0] : unread[1]]):
        yield unread


def _only_separates(raw: bytes) -> bool:
    """Whether bytes only stand between elements of a document that is damaged elsewhere."""
    return raw == b","
