"""The `.jsonl` files of 0.39 and later: one record a line, only ever appended to.

A process that dies leaves half a line; the next one goes on in the same line. Gemini CLI then loses
both, we look for what is whole in it.
"""

from __future__ import annotations

from typing import Any

from geminids.model import ProblemKind, Source
from geminids.sources.gemini.records import (
    BEGINNING,
    CHECKPOINT,
    FileLog,
    Format,
    Record,
    is_record,
    kind_of,
    printable,
)
from geminids.sources.jsonl import UndecodableError, salvage


def read_log(path: str, content: bytes) -> FileLog:
    """Every record of a `.jsonl` file."""
    log = FileLog(path, Format.LOG, len(content))
    restated: dict[str, dict[str, Any]] = {}
    start, number, size, line_ends = 0, 0, len(content), 0
    while start < size:
        number += 1
        end = content.find(b"\n", start)
        if end < 0:
            end = size
        else:
            line_ends += 1
        raw = content[start:end]
        if raw and not raw.isspace():
            record = _read_line(log, raw, Source(path, number, start, end))
            if record is not None and record.kind is CHECKPOINT:
                _share(record.value["$set"]["messages"], restated)
        elif raw:
            log.ignore("blank line", len(raw))
        start = end + 1
    log.count_layout(line_ends)
    return log


def _share(messages: list[Any], restated: dict[str, dict[str, Any]]) -> None:
    """Keep one value of a message that many checkpoints restate unchanged: they can be most of a file."""
    for index, message in enumerate(messages):
        message_id = message.get("id") if type(message) is dict else None
        if type(message_id) is str:
            if restated.get(message_id) == message:
                messages[index] = restated[message_id]
            else:
                restated[message_id] = message


def _read_line(log: FileLog, raw: bytes, place: Source) -> Record | None:
    try:
        value, agent_reads = log.decode(raw, place)
    except UndecodableError as error:
        _salvage_line(log, raw, place, str(error))
        return None
    kind = kind_of(value) if type(value) is dict else None
    if kind is None:
        log.ignore(_unknown_kind(value), len(raw))
        return None
    record = Record(kind, value, place, agent_reads)
    log.use(record)
    return record


def _unknown_kind(value: object) -> str:
    if not isinstance(value, dict):
        return f"a line that is no object but {type(value).__name__}"
    return "record of unknown kind: " + ", ".join(sorted(map(printable, value))[:6])


def _salvage_line(log: FileLog, raw: bytes, line: Source, complaint: str) -> None:
    done = line.start
    for found in salvage(raw, BEGINNING, is_record):
        place = Source(log.path, line.line, line.start + found.start, line.start + found.end)
        if place.start > done:
            log.report(ProblemKind.BAD_JSON, complaint, line.line, done, place.start)
        kind = kind_of(found.value)
        if kind is not None:
            log.use(Record(kind, found.value, place, agent_reads=False, complete=found.complete))
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line.line, place.start, place.end)
        done = place.end
    if done < line.end:
        log.report(ProblemKind.BAD_JSON, complaint, line.line, done, line.end)
