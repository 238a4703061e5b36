"""The `.jsonl` files of 0.39 and later: one record a line, only ever appended to.

A process that dies leaves half a line; the next one goes on in the same line. Gemini CLI then loses
both, we look for what is whole in it.
"""

from __future__ import annotations

from typing import Any

from geminids.agents.gemini.read.records import (
    BEGINNING,
    CHECKPOINT,
    FileLog,
    Format,
    Record,
    is_record,
    kind_of,
    printable,
)
from geminids.core.model import Location
from geminids.reading.bounded import Text
from geminids.reading.jsonl import UndecodableError
from geminids.reading.lines import lines_of, salvaged


def read_log(path: str, content: bytes | Text, *, keeps_halves: bool = False) -> FileLog:
    """Every record of a `.jsonl` file."""
    size = content.size if isinstance(content, Text) else len(content)
    log = FileLog(path, Format.LOG, size, keeps_halves=keeps_halves)
    restated: dict[str, dict[str, Any]] = {}
    for raw, place in lines_of(log, content):
        record = _read_line(log, raw, place)
        if record is not None and record.kind is CHECKPOINT:
            _share(record.value["$set"]["messages"], restated)
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


def _read_line(log: FileLog, raw: bytes, place: Location) -> Record | None:
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


def _salvage_line(log: FileLog, raw: bytes, line: Location, complaint: str) -> None:
    for found, place in salvaged(log, raw, line, complaint, beginning=BEGINNING, is_record=is_record):
        kind = kind_of(found.value)
        if kind is not None:
            log.use(Record(kind, found.value, place, agent_reads=False, complete=found.complete))
