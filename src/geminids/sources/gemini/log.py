"""The `.jsonl` files of 0.39 and later: one record a line, only ever appended to.

A process that dies leaves half a line; the next one goes on in the same line. Gemini CLI then loses
both, we look for what is whole in it.
"""

from __future__ import annotations

from geminids.model import ProblemKind, Source
from geminids.sources.gemini.records import BEGINNING, FileLog, Format, Kind, Record, is_record, kind_of
from geminids.sources.jsonl import Decoded, Line, UndecodableError, decode, lines, salvage


def read_log(path: str, content: bytes) -> FileLog:
    """Every record of a `.jsonl` file."""
    log = FileLog(path, Format.LOG, len(content))
    for line in lines(content):
        raw = content[line.start : line.end]
        if raw and not raw.isspace():
            _read_line(log, line, raw)
        elif raw:
            log.ignore("blank line", len(raw))
    log.count_layout(content.count(b"\n"))
    return log


def _read_line(log: FileLog, line: Line, raw: bytes) -> None:
    try:
        decoded = decode(raw)
    except UndecodableError as error:
        _salvage_line(log, line, raw, str(error))
        return
    kind = kind_of(decoded.value) if type(decoded.value) is dict else None
    if kind is None:
        log.ignore(_unknown_kind(decoded.value), len(raw))
        return
    if decoded.forgiven:
        log.remark(ProblemKind.BAD_TEXT, decoded.forgiven, line.number, line.start, line.end)
    log.use(_record(log, kind, decoded, line))


def _record(log: FileLog, kind: Kind, decoded: Decoded, line: Line) -> Record:
    place = Source(log.path, line.number, line.start, line.end)
    return Record(kind, decoded.value, place, decoded.strict)


def _unknown_kind(value: object) -> str:
    if not isinstance(value, dict):
        return f"a line that is no object but {type(value).__name__}"
    return "record of unknown kind: " + ", ".join(sorted(str(key)[:40] for key in value)[:6])


def _salvage_line(log: FileLog, line: Line, raw: bytes, complaint: str) -> None:
    done = 0
    for found in salvage(raw, BEGINNING, is_record):
        start, end = line.start + found.start, line.start + found.end
        if found.start > done:
            log.report(ProblemKind.BAD_JSON, complaint, line.number, line.start + done, start)
        kind = kind_of(found.value)
        if kind is not None:
            place = Source(log.path, line.number, start, end)
            log.use(Record(kind, found.value, place, agent_reads=False, complete=found.complete))
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line.number, start, end)
        done = found.end
    if done < len(raw):
        log.report(ProblemKind.BAD_JSON, complaint, line.number, line.start + done, line.end)
