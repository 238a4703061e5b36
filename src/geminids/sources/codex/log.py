"""Reading a rollout line by line. What a process that died left of a line is searched for whole records."""

from __future__ import annotations

from pathlib import Path

from geminids.model import ProblemKind, Source
from geminids.sources.codex.opening import opened
from geminids.sources.codex.records import BEGINNING, RolloutLog, is_record
from geminids.sources.jsonl import UndecodableError, salvage


def read_log(path: Path) -> RolloutLog:
    """Every record of a rollout. Raises OSError."""
    rollout = opened(path)
    content = rollout.content
    log = RolloutLog(str(path), rollout)
    if rollout.trouble:
        log.remark(ProblemKind.BAD_JSON, rollout.trouble, None, len(content), len(content))
    if not content or content.isspace():
        log.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, len(content))
        return log
    _read_lines(log, content)
    return log


def _read_lines(log: RolloutLog, content: bytes) -> None:
    path = log.path
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
            _read_line(log, raw, Source(path, number, start, end))
        elif raw:
            log.ignore("blank line", len(raw))
        start = end + 1
    log.count_layout(line_ends)


def _read_line(log: RolloutLog, raw: bytes, place: Source) -> None:
    try:
        line = log.decode(raw, place)
    except UndecodableError as error:
        _salvage_line(log, raw, place, str(error))
        return
    if type(line) is dict:
        log.take(line, place)
    else:
        log.ignore(f"a line that is no object but {type(line).__name__}", len(raw))


def _salvage_line(log: RolloutLog, raw: bytes, line: Source, complaint: str) -> None:
    done = line.start
    for found in salvage(raw, BEGINNING, is_record):
        place = Source(log.path, line.line, line.start + found.start, line.start + found.end)
        if place.start > done:
            log.report(ProblemKind.BAD_JSON, complaint, line.line, done, place.start)
        log.take(found.value, place)
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line.line, place.start, place.end)
        done = place.end
    if done < line.end:
        log.report(ProblemKind.BAD_JSON, complaint, line.line, done, line.end)
