"""The lines of a file that is written a record a line, and what is whole in a damaged one.

A process that dies leaves half a line, and the next one may go on in the same line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from geminids.core.model import Location, ProblemKind
from geminids.reading.bounded import Portion, Text
from geminids.reading.file_log import FileLog
from geminids.reading.jsonl import REFUSED, Salvaged, decode_strict, salvage


def lines_of(log: FileLog, text: bytes | Text) -> Iterator[tuple[bytes, Location]]:
    """Every line in which something is written, with its place; the bytes between them are accounted for."""
    if isinstance(text, bytes):
        yield from _lines(log, text)
        return
    log.report_gaps(text)
    for portion in text.portions:
        yield from _moved_lines(log, portion) if portion.start else _lines(log, portion.content)


def _moved_lines(log: FileLog, portion: Portion) -> Iterator[tuple[bytes, Location]]:
    """The lines of bytes that stand further on in a file."""
    moved, before = portion.start, portion.line - 1
    for raw, place in _lines(log, portion.content):
        number = place.line + before if portion.line else 0
        yield raw, Location(place.file, number, place.start + moved, place.end + moved)


def _lines(log: FileLog, content: bytes) -> Iterator[tuple[bytes, Location]]:
    start, number, size, line_ends, path = 0, 0, len(content), 0, log.path
    while start < size:
        number += 1
        end = content.find(b"\n", start)
        if end < 0:
            end = size
        else:
            line_ends += 1
        raw = content[start:end]
        if raw and not raw.isspace():
            yield raw, Location(path, number, start, end)
        elif raw:
            log.ignore("blank line", len(raw))
        start = end + 1
    log.count_layout(line_ends)


def decoded(log: FileLog, raw: bytes, place: Location) -> Any:
    """The value of a line; raises UndecodableError."""
    try:
        # Nearly every record ends here.
        return decode_strict(raw)
    except REFUSED:
        return log.forgive(raw, place).value


def salvaged(
    log: FileLog,
    raw: bytes,
    line: Location,
    complaint: str,
    *,
    beginning: re.Pattern[bytes],
    is_record: Callable[[dict[str, Any]], bool],
) -> Iterator[tuple[Salvaged, Location]]:
    """The records in a damaged line, with their places; what is lost between them is reported."""
    done = line.start
    for found in salvage(raw, beginning, is_record, complaint=complaint):
        place = Location(log.path, line.line, line.start + found.start, line.start + found.end)
        if place.start > done:
            log.report(ProblemKind.BAD_JSON, complaint, line.line, done, place.start)
        log.name_halves(raw[found.start : found.end], place)
        yield found, place
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line.line, place.start, place.end)
        done = place.end
    if done < line.end:
        log.report(ProblemKind.BAD_JSON, complaint, line.line, done, line.end)


class LineNumbers:
    """The numbers of lines, asked for in the order of the bytes."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._line = 1
        self._counted_to = 0

    def at(self, position: int) -> int:
        """The number of the line on which a byte stands."""
        self._line += self._content.count(b"\n", self._counted_to, position)
        self._counted_to = max(self._counted_to, position)
        return self._line
