"""The `.json` files of 0.4 to 0.38: one object, pretty-printed, rewritten whole at every change.

Writing over the old file is not atomic, so a crash leaves an empty or a cut one. What is whole in
`messages` is still read then, and the header from what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from geminids.model import ProblemKind, Source
from geminids.sources.gemini.records import BEGINNING, FileLog, Format, Kind, Record, is_record
from geminids.sources.jsonl import UndecodableError, complete_truncated, decode, salvage

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_MESSAGES = re.compile(rb'"messages"\s*:\s*')
_BETWEEN = re.compile(rb"[\s,]*")
_AFTER_MESSAGES = re.compile(rb"\s*\]\s*,")


def read_document(path: str, content: bytes) -> FileLog:
    """Every record of a `.json` file: the header, and each message with its place."""
    log = FileLog(path, Format.DOCUMENT, len(content))
    try:
        members = _members(content)
        array = members.pop("messages", None)
        elements = [] if array is None else _elements(array)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _read_damaged(log, content)
    else:
        if array is None and "sessionId" not in members:
            log.report(ProblemKind.NOT_A_SESSION, "no sessionId and no messages", 1, 0, len(content))
            return log
        _read_header(log, content, members, array)
        _read_messages(log, content, array, elements)
    return log


def _read_header(
    log: FileLog, content: bytes, members: dict[str, msgspec.Raw], array: msgspec.Raw | None
) -> None:
    """The members beside `messages`, as one record that takes all bytes outside the array."""
    header: dict[str, Any] = {}
    for name, raw in members.items():
        try:
            header[name] = decode(bytes(raw)).value
        except UndecodableError as error:
            log.remark(ProblemKind.BAD_JSON, f"header field: {error}", 1, 0, len(content))
    size = len(content) - (len(array) if array is not None else 0)
    _use_header(log, header, size)


def _use_header(log: FileLog, header: dict[str, Any], size: int) -> None:
    place = Source(log.path, 1, 0, log.size, "")
    record = Record(Kind.HEADER, header, place)
    log.records.append(record)
    log.count_use(Kind.HEADER, size)
    log.note_unknown_fields(record)


def _read_messages(
    log: FileLog, content: bytes, array: msgspec.Raw | None, elements: Sequence[msgspec.Raw]
) -> None:
    if array is None:
        return
    start = _array_start(content, array)
    end, line, counted_to = start + 1, 1, 0
    for index, raw in enumerate(elements):
        between = _BETWEEN.match(content, end)
        begin = between.end() if between else end
        line += content.count(b"\n", counted_to, begin)
        counted_to, end = begin, begin + len(raw)
        _read_element(log, bytes(raw), Source(log.path, line, begin, end, f"/messages/{index}"))
    log.count_layout(len(array) - sum(len(raw) for raw in elements))


def _array_start(content: bytes, array: msgspec.Raw) -> int:
    """Where the array that we were given the bytes of stands in the file."""
    raw = bytes(array)
    return next(m.end() for m in _MESSAGES.finditer(content) if content.startswith(raw, m.end()))


def _read_element(log: FileLog, raw: bytes, place: Source) -> None:
    try:
        decoded = decode(raw)
    except UndecodableError as error:
        log.report(ProblemKind.BAD_JSON, str(error), place.line, place.start, place.end)
        return
    if not isinstance(decoded.value, dict):
        detail = f"a message that is no object but {type(decoded.value).__name__}"
        log.report(ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)
        return
    if decoded.forgiven:
        log.remark(ProblemKind.BAD_TEXT, decoded.forgiven, place.line, place.start, place.end)
    log.use(Record(Kind.MESSAGE, decoded.value, place, decoded.strict))


def _read_damaged(log: FileLog, content: bytes) -> None:
    """What is left of a document that no longer reads as one."""
    complaint = _complaint(content)
    array = _MESSAGES.search(content)
    begin = array.end() if array else len(content)
    header = complete_truncated(content[: array.start() if array else begin].rstrip().rstrip(b","))
    if header is None:
        log.report(ProblemKind.BAD_JSON, complaint, 1, 0, begin)
    done = _salvage_messages(log, content, begin, complaint)
    rest = _members_after(content[done:])
    if header is not None:
        _use_header(log, header | (rest or {}), begin + (len(content) - done if rest else 0))
        log.records.insert(0, log.records.pop())
    if done < len(content) and not (header is not None and rest):
        log.report(ProblemKind.BAD_JSON, complaint, None, done, len(content))


def _complaint(content: bytes) -> str:
    try:
        decode(content)
    except UndecodableError as error:
        return str(error)
    return "not the JSON that Gemini CLI writes"


def _salvage_messages(log: FileLog, content: bytes, begin: int, complaint: str) -> int:
    """The whole messages after `begin`, and the beginning of a cut one; returns where they end."""
    done = begin
    for index, found in enumerate(salvage(content[begin:], BEGINNING, is_record)):
        start, end = begin + found.start, begin + found.end
        line = content.count(b"\n", 0, start) + 1
        if content[done:start].strip(b" \t\r\n,["):
            log.report(ProblemKind.BAD_JSON, complaint, None, done, start)
        else:
            log.count_layout(start - done)
        place = Source(log.path, line, start, end, f"/messages/{index}")
        log.use(Record(Kind.MESSAGE, found.value, place, agent_reads=False, complete=found.complete))
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line, start, end)
        done = end
    return done


def _members_after(tail: bytes) -> dict[str, Any] | None:
    """The members that stand behind the messages of a damaged document: its kind, its summary."""
    closing = _AFTER_MESSAGES.match(tail)
    return complete_truncated(b"{" + tail[closing.end() :]) if closing else None
