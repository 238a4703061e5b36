"""Documents that hold a history: a list of turns of the API, alone or as a member of an object.

Every byte of a document is a turn, a member that is used, ignored by name or a problem. One that is
damaged still gives its whole turns, and the beginning of the one that was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.api_turns import Written, as_turn, is_turn, use_turn
from geminids.agents.gemini.companions.spans import Span, elements, members, whole
from geminids.agents.gemini.read.document import complaint
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, ProblemKind
from geminids.reading.jsonl import UndecodableError, complete_truncated, salvage
from geminids.reading.lines import LineNumbers

_UNKNOWN_MEMBER = "a field that is not known to geminids"
_TURN_BEGINNING = lazy_pattern(rb'\{\s*"(?:role|parts)"\s*:')
_AFTER_TURNS = lazy_pattern(rb"\s*\]\s*,")


class Shape(NamedTuple):
    """A kind of document that holds a history."""

    format: str
    turns: str | None
    """The member that holds the turns; None if the document is the list of them."""
    used: frozenset[str] = frozenset()
    """The members that are part of what is told."""
    ignored: Mapping[str, str] = {}
    """The members that are left out, and why."""


class History(NamedTuple):
    """What a document holds: its turns, and the other members that are used."""

    log: CopyLog
    turns: list[Written]
    members: dict[str, Any]


def read_history(shape: Shape, path: str, content: bytes) -> History:
    """The turns of a document, each with its place, and where every byte went."""
    log = CopyLog(path, shape.format, len(content))
    if shape.turns is None:
        return _read_list(log, shape, content)
    return _read_object(log, shape, shape.turns, content)


def _read_list(log: CopyLog, shape: Shape, content: bytes) -> History:
    """A document that is the list of turns."""
    document = whole(content)
    listed = elements(content, document)
    if listed is None and members(content, document) is None:
        return _read_damaged(log, shape, content)
    return History(log, list(read_turns(log, content, listed or (), None)), {})


def _read_object(log: CopyLog, shape: Shape, turns_name: str, content: bytes) -> History:
    """A document of which one member is the list of turns."""
    spans = members(content, whole(content))
    if spans is None:
        return _read_damaged(log, shape, content)
    if turns_name not in spans:
        log.remark(ProblemKind.NOT_A_SESSION, f"no {turns_name} in it", 1, 0, len(content))
    listed = elements(content, spans[turns_name]) if turns_name in spans else None
    others = _read_members(log, shape, content, spans, has_turns=listed is not None)
    return History(log, list(read_turns(log, content, listed or (), turns_name)), others)


def _read_members(
    log: CopyLog, shape: Shape, content: bytes, spans: Mapping[str, Span], *, has_turns: bool
) -> dict[str, Any]:
    """The members of a document beside its turns, each used, ignored by name or a problem."""
    used: dict[str, Any] = {}
    lines = LineNumbers(content)
    for name, (start, end) in spans.items():
        place = Location(log.path, lines.at(start), start, end, f"/{name}")
        if name in shape.used:
            used |= _read_member(log, name, content[start:end], place)
        elif name != shape.turns:
            _ignore_member(log, shape, name, end - start)
        elif not has_turns:
            log.report(ProblemKind.WRONG_TYPE, f"{name} is no list", place.line, start, end)
    return used


def _read_member(log: CopyLog, name: str, raw: bytes, place: Location) -> dict[str, Any]:
    """A member by its name; nothing if it does not read."""
    try:
        value, _ = log.decode(raw, place)
    except UndecodableError as error:
        log.report(ProblemKind.BAD_JSON, str(error), place.line, place.start, place.end)
        return {}
    log.count_use(name, len(raw))
    return {name: value}


def _ignore_member(log: CopyLog, shape: Shape, name: str, size: int) -> None:
    log.ignore(shape.ignored.get(name, _UNKNOWN_MEMBER), size)
    if name not in shape.ignored:
        log.note_unknown(name)


def read_turns(
    log: CopyLog, content: bytes, spans: Iterable[Span], name: str | None, prefix: str = ""
) -> Iterator[Written]:
    """The elements of a list as turns."""
    lines = LineNumbers(content)
    pointer = prefix if name is None else f"{prefix}/{name}"
    for index, (start, end) in enumerate(spans):
        place = Location(log.path, lines.at(start), start, end, f"{pointer}/{index}")
        try:
            value, _ = log.decode(content[start:end], place)
        except UndecodableError as error:
            log.report(ProblemKind.BAD_JSON, str(error), place.line, start, end)
            continue
        if turn := as_turn(value):
            use_turn(log, turn, place)
            yield Written(turn, place)
        else:
            detail = f"a turn that is no object but {type(value).__name__}"
            log.report(ProblemKind.WRONG_TYPE, detail, place.line, start, end)


def _read_damaged(log: CopyLog, shape: Shape, content: bytes) -> History:
    """What is left of a document that no longer reads: whole turns, and the beginning of a cut one."""
    trouble = complaint(content)
    if not content.strip():
        log.remark(ProblemKind.EMPTY, "nothing in it", None, 0, len(content))
    begin = whole(content).start
    if shape.turns is not None:
        begin = _begin_of_turns(log, shape.turns, content, trouble)
    turns = list(_salvaged_turns(log, shape, content, begin, trouble))
    others = _salvaged_members(log, content, turns[-1].place.end if turns else begin, trouble)
    if not log.problems:
        log.remark(ProblemKind.BAD_JSON, trouble, 1, 0, len(content))
    return History(log, turns, {name: value for name, value in others.items() if name in shape.used})


def _begin_of_turns(log: CopyLog, name: str, content: bytes, trouble: str) -> int:
    """Where the list of turns begins; the end of the document if there is none."""
    array = re.search(rb'"' + name.encode() + rb'"\s*:\s*\[', content)
    if array:
        return array.end()
    if content.strip(b" \t\r\n{["):
        log.report(ProblemKind.BAD_JSON, trouble, 1, 0, len(content))
    return len(content)


def _salvaged_turns(
    log: CopyLog, shape: Shape, content: bytes, begin: int, trouble: str
) -> Iterator[Written]:
    """The turns that are still whole, and the beginning of one that was cut off."""
    lines, done = LineNumbers(content), begin
    pointer = f"/{shape.turns}" if shape.turns else ""
    for index, found in enumerate(salvage(content[begin:], _TURN_BEGINNING, is_turn)):
        start, end = begin + found.start, begin + found.end
        if content[done:start].strip(b" \t\r\n,["):
            log.report(ProblemKind.BAD_JSON, trouble, lines.at(done), done, start)
        place = Location(log.path, lines.at(start), start, end, f"{pointer}/{index}")
        use_turn(log, found.value, place)
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {trouble}", place.line, start, end)
        yield Written(found.value, place)
        done = end


def _salvaged_members(log: CopyLog, content: bytes, begin: int, trouble: str) -> dict[str, Any]:
    """The members that stand behind the turns of a damaged document."""
    rest = content[begin:]
    closing = _AFTER_TURNS.match(rest)
    found = complete_truncated(b"{" + rest[closing.end() :]) if closing else None
    if found is not None:
        log.count_use("members", len(rest))
    elif rest.strip(b" \t\r\n,]}"):
        log.report(ProblemKind.BAD_JSON, trouble, LineNumbers(content).at(begin), begin, len(content))
    return found or {}
