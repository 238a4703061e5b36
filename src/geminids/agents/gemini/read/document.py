"""The `.json` files of 0.4 to 0.38: one object, pretty-printed, rewritten whole at every change.

Writing over the old file is not atomic, so a crash leaves an empty or a cut one. What is whole in
`messages` is still read then, and the header from what stands around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from geminids.agents.gemini.read.records import BEGINNING, MESSAGE, FileLog, Format, Kind, Record
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, ProblemKind
from geminids.reading.bounded import Portion, Text
from geminids.reading.jsonl import (
    REFUSED,
    Salvaged,
    UndecodableError,
    complete_truncated,
    decode,
    decode_strict,
    in_whole_characters,
    salvage,
)
from geminids.reading.lines import LineNumbers

Span = tuple[int, int]
"""Where a message begins and ends."""


class _Document(msgspec.Struct):
    """The messages as raw bytes; everything else is read in a second look, without them."""

    messages: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_document = msgspec.json.Decoder(_Document).decode
_MESSAGES = lazy_pattern(rb'"messages"\s*:\s*\[')
_BETWEEN = lazy_pattern(rb"[\s,]*")
_MESSAGE_BEGINNING = lazy_pattern(rb"\A\{|" + BEGINNING.pattern)
_INDENTED = lazy_pattern(rb"\n    (\{)\r?\n")
# How the CLI lays a document out, and how much of it is the end of a message and the beginning of the next.
_FIRST = b'\n  "messages": [\n    {\n'
_NEXT = b"\n    },\n    {\n"
_LAST = b"\n    }\n  ]"
_END, _BEGINNING = len(b"\n    }"), len(b"{\n")
_AFTER_MESSAGES = lazy_pattern(rb"\s*\]\s*,")


def read_document(path: str, content: bytes) -> FileLog:
    """Every record of a `.json` file: the header, and each message with its place."""
    log = FileLog(path, Format.DOCUMENT, len(content))
    if _read_whole(log, content):
        return log
    # What is strange about a document may be half a character in one of its texts and nothing else.
    readable = in_whole_characters(content)
    if readable == content or not _read_whole(log, readable):
        _read_damaged(log, readable)
    if readable != content:
        _name_halves(log, content)
    return log


def _read_whole(log: FileLog, content: bytes) -> bool:
    """Take in a document in which nothing is damaged; False, with nothing taken in, if it is none."""
    printed = _printed(content)
    if printed is not None:
        _use_around(log, printed.header, printed.spans)
        for value, place in zip(printed.messages, _places(log, content, printed.spans), strict=True):
            log.use(Record(MESSAGE, value, place))
        return True
    try:
        messages = _document(content).messages
        elements = [] if messages is msgspec.UNSET else messages
        spans = _spans(content, elements)
        header = decode(_without(content, spans)).value
    except (*REFUSED, UndecodableError):
        return False
    if messages is msgspec.UNSET and "sessionId" not in header:
        log.report(ProblemKind.NOT_A_SESSION, "no sessionId and no messages", 1, 0, len(content))
        return True
    _use_around(log, header, spans)
    for element, place in zip(elements, _places(log, content, spans), strict=True):
        _read_element(log, element, place)
    return True


def _name_halves(log: FileLog, content: bytes) -> None:
    """Say where half a character stands: in which messages, and whether outside of them too."""
    places = [record.place for record in log.records if record.kind is MESSAGE]
    for place in places:
        log.name_halves(content[place.start : place.end], place)
    around = _without(content, [(place.start, place.end) for place in places])
    log.name_halves(around, Location(log.path, 1, 0, len(content)))


def read_pieces(path: str, text: Text) -> FileLog:
    """The header and the messages of a `.json` file that was not read whole."""
    log = FileLog(path, Format.DOCUMENT, text.size)
    log.report_gaps(text)
    for portion in text.portions:
        if portion.start:
            _read_further(log, portion)
        else:
            _read_damaged(log, portion.content)
    return log


def _read_further(log: FileLog, portion: Portion) -> None:
    """The messages in what stands behind a gap; which ones they are of all is not known."""
    found = FileLog(log.path, log.format, len(portion.content))
    done = _salvage_messages(found, portion.content, 0, "only a part of it was read")
    if done < len(portion.content):
        found.report(ProblemKind.BAD_JSON, "only a part of it was read", None, done, len(portion.content))
    log.take_moved(found, portion.start)


class _Printed(NamedTuple):
    """A document that is laid out as the CLI does it."""

    header: dict[str, Any]
    messages: list[dict[str, Any]]
    spans: list[Span]


def _printed(content: bytes) -> _Printed | None:
    """The document taken apart at its indentation; None if it is laid out in another way, or in any doubt.

    That is quicker than looking for messages in any JSON, and cannot go wrong: no text in JSON holds a line
    break, so if what is between is one object each, and what is around them is one with an empty list of
    messages in the outermost object, then the document holds these messages and no others.
    """
    spans = _indented_spans(content)
    around = _without(content, spans)
    is_outermost = bool(spans) and content.count(b"{", 0, spans[0][0]) == 1
    # With an escape the name could be written in yet another way.
    if not is_outermost or around.count(b'"messages"') != 1 or b"\\" in around:
        return None
    view = memoryview(content)
    try:
        header = decode_strict(around)
        messages = [decode_strict(view[start:end]) for start, end in spans]
    except REFUSED:
        return None
    return _Printed(header, messages, spans) if type(header) is dict else None


def _indented_spans(content: bytes) -> list[Span]:
    """Where the messages stand if the document is laid out as the CLI does it."""
    first, last = content.find(_FIRST), content.rfind(_LAST)
    if not 0 <= first < last:
        return []
    start, end = first + len(_FIRST) - _BEGINNING, last + _END
    spans = []
    while (found := content.find(_NEXT, start, end)) >= 0:
        spans.append((start, found + _END))
        start = found + len(_NEXT) - _BEGINNING
    return [*spans, (start, end)]


def _spans(content: bytes, elements: Sequence[msgspec.Raw]) -> list[Span]:
    """Where the elements of `messages` stand; their bytes follow one another with commas between."""
    if not elements:
        return []
    first = bytes(elements[0])
    starts = (_BETWEEN.match(content, found.end()) for found in _MESSAGES.finditer(content))
    ends = (start.end() for start in starts if start and content.startswith(first, start.end()))
    end = next(ends, None)
    if end is None:
        raise UndecodableError("messages under a name that is written in another way")
    spans = []
    for element in elements:
        between = _BETWEEN.match(content, end)
        begin = between.end() if between else end
        end = begin + len(element)
        spans.append((begin, end))
    return spans


def _without(content: bytes, spans: Sequence[Span]) -> bytes:
    return content[: spans[0][0]] + content[spans[-1][1] :] if spans else content


def _use_around(log: FileLog, header: dict[str, Any], spans: Sequence[Span]) -> None:
    """The header takes all bytes outside the messages."""
    begin, end = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    _use_header(log, header, log.size - (end - begin))
    log.count_layout(end - begin - sum(stop - start for start, stop in spans))


def _places(log: FileLog, content: bytes, spans: Sequence[Span]) -> Iterator[Location]:
    """Where each message stands."""
    lines = LineNumbers(content)
    for index, (start, stop) in enumerate(spans):
        yield Location(log.path, lines.at(start), start, stop, f"/messages/{index}")


def _use_header(log: FileLog, header: dict[str, Any], size: int) -> None:
    place = Location(log.path, 1, 0, log.size, "")
    record = Record(Kind.HEADER, header, place)
    log.records.append(record)
    log.count_use(Kind.HEADER, size)
    log.note_unknown_fields(record)


def _read_element(log: FileLog, raw: msgspec.Raw, place: Location) -> None:
    try:
        value, agent_reads = log.decode(raw, place)
    except UndecodableError as error:
        log.report(ProblemKind.BAD_JSON, str(error), place.line, place.start, place.end)
        return
    if isinstance(value, dict):
        log.use(Record(MESSAGE, value, place, agent_reads))
    else:
        detail = f"a message that is no object but {type(value).__name__}"
        log.report(ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)


def _read_damaged(log: FileLog, content: bytes) -> None:
    """What is left of a document that no longer reads as one."""
    trouble = complaint(content)
    array = _MESSAGES.search(content)
    begin = array.end() if array else len(content)
    header = complete_truncated(content[: array.start() if array else begin].rstrip().rstrip(b","))
    if header is None:
        log.report(ProblemKind.BAD_JSON, trouble, 1, 0, begin)
    done = _salvage_messages(log, content, begin, trouble)
    rest = _members_after(content[done:])
    if header is not None:
        _use_header(log, header | (rest or {}), begin + (len(content) - done if rest else 0))
        log.records.insert(0, log.records.pop())
    if done < len(content) and not (header is not None and rest):
        log.report(ProblemKind.BAD_JSON, trouble, None, done, len(content))


def complaint(content: bytes) -> str:
    """What is wrong with a document that does not read."""
    try:
        decode(content)
    except UndecodableError as error:
        return str(error)
    return "not the JSON that Gemini CLI writes"


def _salvage_messages(log: FileLog, content: bytes, begin: int, complaint: str) -> int:
    """The whole messages after `begin`, and the beginning of a cut one; returns where they end."""
    done, lines = begin, LineNumbers(content)
    for index, found in enumerate(_found_messages(content, begin)):
        line = lines.at(found.start)
        if content[done : found.start].strip(b" \t\r\n,["):
            log.report(ProblemKind.BAD_JSON, complaint, None, done, found.start)
        else:
            log.count_layout(found.start - done)
        place = Location(log.path, line, found.start, found.end, f"/messages/{index}")
        log.use(Record(Kind.MESSAGE, found.value, place, agent_reads=False, complete=found.complete))
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line, found.start, found.end)
        done = found.end
    return done


def _found_messages(content: bytes, begin: int) -> Iterator[Salvaged]:
    """The messages in damaged bytes.

    In a pretty-printed document each begins at the same indentation, so the damage of one cannot
    spread to the next.
    """
    starts = [found.start(1) for found in _INDENTED.finditer(content, begin)] or [begin]
    for start, end in zip(starts, [*starts[1:], len(content)], strict=True):
        for found in salvage(content[start:end], _MESSAGE_BEGINNING, _is_message):
            yield Salvaged(found.value, start + found.start, start + found.end, found.complete)


def _is_message(value: dict[str, Any]) -> bool:
    """Whether an object in damaged bytes is a message; other writers than the CLI leave out ids."""
    return isinstance(value.get("type"), str) and ("id" in value or "timestamp" in value)


def _members_after(tail: bytes) -> dict[str, Any] | None:
    """The members that stand behind the messages of a damaged document: its kind, its summary."""
    closing = _AFTER_MESSAGES.match(tail)
    return complete_truncated(b"{" + tail[closing.end() :]) if closing else None
