"""Records of no message: headers, settings, notes, snapshots, and bytes that are no record at all.

What stands in the files of a session and at no place of its messages is kept whole, unless it is of another
session in the same file: of a subagent, of one that shares the file by the accident of its name, of any other
that the prompt log tells of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from geminids.core.model import Session, SessionKind, Source
from geminids.sharing.records.natives import MISSING, NativeFile, pointed_at, steps_of

Belongs = Callable[[Any], bool]
"""Whether a record is of the session, or of none. To be asked for all records of a file in their order."""
Found = tuple[Source, Any]
"""A record, and where it stands."""
_GONE: Any = object()
"""In the place of an element that stands elsewhere."""


def others_in(session: Session, file: NativeFile, places: Sequence[Source]) -> Iterator[Found]:
    """The records of a file that no message of the session is read from, in order."""
    if file.is_document:
        yield from _beside_elements(session, file, places)
    else:
        yield from _beside_lines(session, file, places)


# Documents


def _beside_elements(session: Session, file: NativeFile, places: Sequence[Source]) -> Iterator[Found]:
    """What a document says beside the elements that messages are read from."""
    if any(
        place.pointer is None and place.end - place.start >= len(file.content.strip()) for place in places
    ):
        return
    belongs = belonging(session, file)
    if belongs is _never:
        return
    covered = [steps_of(place.pointer) for place in places if place.pointer is not None]
    left = _without(file.document, covered, belongs)
    if left is not _GONE:
        yield Source(file.path, 1, 0, len(file.content)), left


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


def _beside_lines(session: Session, file: NativeFile, places: Sequence[Source]) -> Iterator[Found]:
    """The lines of no message, what a line says beside the messages in it, and what is no JSON."""
    belongs = belonging(session, file)
    inside: dict[tuple[int, int], list[Sequence[str]]] = {}
    whole: set[tuple[int, int]] = set()
    for place in places:
        span = place.start, place.end
        if place.pointer is not None and pointed_at(file.value_of(*span), place.pointer) is not MISSING:
            inside.setdefault(span, []).append(steps_of(place.pointer))
        else:
            whole.add(span)
    numbers = _Lines(file.content)
    for start, end in _spans(file, sorted(whole | inside.keys())):
        value = file.value_of(start, end)
        is_own = belongs(value)
        if (start, end) in whole or not is_own:
            continue
        left = _without(value, inside.get((start, end), ()), belongs)
        if left is not _GONE:
            yield Source(file.path, numbers.of(start), start, end), left


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


class _Lines:
    """The numbers of lines, asked for in the order of the file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._counted_to = 0
        self._number = 1

    def of(self, start: int) -> int:
        """The line, from 1, that a byte is in."""
        self._number += self._content.count(b"\n", self._counted_to, start)
        self._counted_to = start
        return self._number


# Whose


def belonging(session: Session, file: NativeFile) -> Belongs:
    """How records of other sessions in a file are known."""
    match session.agent:
        case "claude":
            return _of_claude(session, file)
        case "gemini":
            return _of_gemini(session, file)
        case _:
            return _always


def _always(_value: Any) -> bool:
    return True


def _never(_value: Any) -> bool:
    return False


def _of_claude(session: Session, file: NativeFile) -> Belongs:
    """Subagents of the first releases stand in the file of their session, marked as such."""
    if session.kind is not SessionKind.SUBAGENT:
        return lambda value: not _is_sidechain(value)
    path = PurePath(file.path)
    if path.name.startswith("agent-") or "subagents" in path.parts:
        return _always
    records = (file.value_of(*span) for span in file.lines(0, len(file.content)))
    return _Chain(session, has_main=any(map(_is_of_main, records)))


def _is_sidechain(value: Any) -> bool:
    return type(value) is dict and value.get("isSidechain") is True


def _is_of_main(value: Any) -> bool:
    return type(value) is dict and "parentUuid" in value and not _is_sidechain(value)


class _Chain:
    """The records of one subagent among those of others: by its id, or by the root that they hang on."""

    def __init__(self, session: Session, *, has_main: bool) -> None:
        self._own = session.native_id.partition("#")[2]
        self._has_main = has_main
        self._chain_of: dict[Any, Any] = {}
        self._last: Any = None

    def __call__(self, value: Any) -> bool:
        if not _is_sidechain(value):
            return not self._has_main
        parent, uuid = value.get("parentUuid"), value.get("uuid")
        known = self._chain_of.get(parent) if isinstance(parent, str) else None
        begins = uuid if parent is None or self._last is None else self._last
        self._last = value.get("agentId") or known or begins
        if isinstance(uuid, str):
            self._chain_of[uuid] = self._last
        return bool(self._last == self._own)


def _of_gemini(session: Session, file: NativeFile) -> Belongs:
    if session.kind is SessionKind.LOST:
        return lambda value: type(value) is not dict or value.get("sessionId") in (None, session.native_id)
    if session.kind is SessionKind.SUBAGENT and _is_inside_parent(session, file):
        return _never
    has_inner = any(
        call.child_id == f"{session.id}#{call.call_id}"
        for message in session.messages
        for call in message.tool_calls
    )
    return _Segment(session, is_shared=_names_several(file), has_inner=has_inner)


def _is_inside_parent(session: Session, file: NativeFile) -> bool:
    """Whether the turns of a subagent stand among those of its parent, which all else in the file is of."""
    _, mark, own = session.native_id.partition("#")
    return bool(mark) and own != PurePath(file.path).name.split(".", 1)[0]


def _names_several(file: NativeFile) -> bool:
    """Whether headers of several sessions stand in a log."""
    if file.is_document:
        return False
    values = (file.value_of(*span) for span in file.lines(0, len(file.content)))
    return len({named for value in values if (named := _named(value))}) > 1


def _named(value: Any) -> str | None:
    """The session that a header names."""
    named = value.get("sessionId") if type(value) is dict and "id" not in value else None
    return named if isinstance(named, str) else None


class _Segment:
    """The records of one session in a file that may hold several, and turns of subagents."""

    def __init__(self, session: Session, *, is_shared: bool, has_inner: bool) -> None:
        self._own = session.native_id.partition("#")[0]
        self._is_shared = is_shared
        self._has_inner = has_inner
        self._current: str | None = None
        self._begun: set[str] = set()

    def __call__(self, value: Any) -> bool:
        if type(value) is not dict:
            return True
        if self._is_shared:
            self._follow(value)
            if self._current not in (None, self._own):
                return False
        is_turn = isinstance(value.get("id"), str) and isinstance(value.get("type"), str)
        # What no place names are the turns of subagents, if there are any.
        return not (is_turn and self._has_inner)

    def _follow(self, value: dict[str, Any]) -> None:
        if named := _named(value):
            self._current = named
            self._begun.add(named)
            return
        changes = value.get("$set")
        restated = changes.get("sessionId") if type(changes) is dict else None
        if isinstance(restated, str) and restated in self._begun:
            self._current = restated
