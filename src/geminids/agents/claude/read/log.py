"""The lines of a session file as records.

A process that dies leaves half a line, and the next one may go on in the same line: then we look for what is
whole in it. Copies of requests are the larger part of many files. They are told by their first bytes and not
decoded, unless a record of the conversation may be glued to them.
"""

from __future__ import annotations

from geminids.agents.claude.read.records import BEGINNING, FileLog, Record, is_record, salvaged_kind
from geminids.core.model import Location, ProblemKind
from geminids.reading.bounded import Text
from geminids.reading.file_log import printable
from geminids.reading.jsonl import UndecodableError
from geminids.reading.lines import decoded, lines_of, salvaged

_NEVER_DECODED = {
    b'{"type":"api-request"': "api-request",
    b'{"type":"api-request-shape"': "api-request-shape",
    b'{"type":"api-request-blob"': "api-request-blob",
    b'{"type":"api-request-resumed"': "api-request-resumed",
    b'{"type":"file-history-snapshot"': "file-history-snapshot",
    b'{"type":"file-history-delta"': "file-history-delta",
}
_BEGINNINGS = (b'{"type":"api-request', b'{"type":"file-history-')
_OF_THE_TREE = b'"parentUuid":'


def read_log(path: str, text: Text) -> FileLog:
    """Every record of a session file."""
    log = FileLog(path, text.size)
    content = text.whole
    if content is None:
        _read_lines(log, text)
    elif not content:
        # Releases 2.0 leave such a file at every resume, named by the id that they did not take.
        log.ignore("a file without a byte", 0)
    elif content.isspace():
        log.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, len(content))
    else:
        _read_lines(log, text)
    return log


def _read_lines(log: FileLog, text: Text) -> None:
    for raw, place in lines_of(log, text):
        if raw.startswith(_BEGINNINGS) and (kind := _left_undecoded(raw)):
            log.take(Record(kind, {}, place))
        else:
            _read_line(log, raw, place)


def _left_undecoded(raw: bytes) -> str | None:
    """The kind of a record that we have no use for, if it is whole and nothing else is in its line."""
    kind = _NEVER_DECODED.get(raw[: raw.find(b",")])
    return kind if kind and raw.rstrip().endswith(b"}") and _OF_THE_TREE not in raw else None


def _read_line(log: FileLog, raw: bytes, place: Location) -> None:
    try:
        value = decoded(log, raw, place)
    except UndecodableError as error:
        for found, at in salvaged(log, raw, place, str(error), beginning=BEGINNING, is_record=is_record):
            log.take(Record(salvaged_kind(found.value), found.value, at, complete=found.complete))
        return
    kind = value.get("type") if type(value) is dict else None
    if type(kind) is str and kind:
        log.take(Record(kind, value, place))
    else:
        log.ignore(_unknown_kind(value), len(raw))


def _unknown_kind(value: object) -> str:
    if not isinstance(value, dict):
        return f"a line that is no object but {type(value).__name__}"
    return "record without a type: " + ", ".join(sorted(map(printable, value))[:6])
