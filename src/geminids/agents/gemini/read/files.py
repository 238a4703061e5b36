"""One session file on disk: its bytes as a log, cut into the sessions it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from geminids.agents.gemini.read.document import read_document, read_pieces
from geminids.agents.gemini.read.log import read_log
from geminids.agents.gemini.read.records import CHECKPOINT, HEADER, MESSAGE, UPDATE, FileLog, Format, Record
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import ProblemKind
from geminids.reading.bounded import Text
from geminids.reading.jsonl import UndecodableError, decode
from geminids.reading.shapes import text_or_none

BACKGROUND = lazy_pattern(r"skill-extraction-[0-9a-f]+")
"""Folders of agents that run on their own; their names are no session's."""


RESCUED = "rescued"
"""Stands in the names of repaired sessions that we wrote. Of 8 letters, it would be taken for an id's."""
_RESCUED_FILE = lazy_pattern(rf"session-.+-{RESCUED}(?:-\d+)?\.jsonl")


class Segment(msgspec.Struct):
    """The records of one session in one file."""

    log: FileLog
    records: list[Record]
    meta: dict[str, Any]
    """What headers and updates say about the session: the last word on each thing, the first on its start."""

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.log.path)

    @property
    def session_id(self) -> str | None:
        """The id in its header; a file can have lost it."""
        session_id = self.meta.get("sessionId")
        return session_id if isinstance(session_id, str) and session_id else None

    @property
    def parent_folder(self) -> str | None:
        """The folder named after the parent session, if the file lies in one."""
        path = self.path
        if path.name.startswith("session-"):
            return None
        return path.parent.name if path.parent.parent.name == "chats" else None

    @property
    def is_rescued(self) -> bool:
        """Whether the file began as a repaired copy of others."""
        return _RESCUED_FILE.fullmatch(self.path.name) is not None

    @property
    def times(self) -> list[str]:
        """The times of its messages, as written."""
        return [str(r.value.get("timestamp") or "") for r in self.records if r.kind is MESSAGE]

    @property
    def order(self) -> tuple[bool, str, bool, str, bool]:
        """Where the segment stands among those of its session: what a failed rewrite left comes first.

        A repaired copy comes last, since it was made of the others.
        """
        times = self.times
        start = str(self.meta.get("startTime") or min(times, default=""))
        end = str(self.meta.get("lastUpdated") or max(times, default=""))
        is_whole = self.path.suffix in (".json", ".jsonl")
        return self.is_rescued, start, is_whole, end, self.log.format is Format.LOG


def read_file(path: Path, text: bytes | Text) -> FileLog:
    """The log of a file, by its name or, where that misleads, by its content."""
    content = text.whole if isinstance(text, Text) else text
    if isinstance(text, Text) and content is None:
        is_log = _format(path, text.beginning) is Format.LOG
        return read_log(str(path), text) if is_log else read_pieces(str(path), text)
    if not content or content.isspace():
        content = content or b""
        log = FileLog(str(path), _named_format(path), len(content))
        log.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, len(content))
        return log
    if _format(path, content) is Format.LOG:
        return read_log(str(path), content)
    return read_document(str(path), content)


def _named_format(path: Path) -> Format:
    return Format.LOG if ".jsonl" in path.name else Format.DOCUMENT


def _format(path: Path, content: bytes) -> Format:
    named = _named_format(path)
    first_line = content[: content.find(b"\n") + 1]
    if first_line.strip() == b"{" and content[len(first_line) : len(first_line) + 1] != b"{":
        # Pretty-printed; Gemini CLI reads that under the name of a log too. In a log it is half a record.
        return Format.DOCUMENT
    if named is Format.LOG:
        return named
    has_more = len(first_line) < len(content)
    return Format.LOG if first_line and has_more and _is_object(first_line) else named


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(decode(line).value, dict)
    except UndecodableError:
        return False


def segments(log: FileLog) -> list[Segment]:
    """The sessions of a file. Two that share minute and first characters of their ids share the file too."""
    current = Segment(log, [], {})
    found: dict[str, Segment] = {}
    for record in log.records:
        kind = record.kind
        if kind is HEADER:
            current = _of_session(record.value, current, found, may_begin=True)
        elif kind is UPDATE or kind is CHECKPOINT:
            # The id is restated at every resume; in a shared file that may be the other session's.
            current = _of_session(record.value["$set"], current, found, may_begin=False)
        current.records.append(record)
    return [segment for segment in found.values() or [current] if segment.records]


def _of_session(
    said: dict[str, Any], current: Segment, found: dict[str, Segment], *, may_begin: bool
) -> Segment:
    """The segment that a header or an update speaks of, with what it says noted."""
    named = text_or_none(said.get("sessionId"))
    if named:
        if current.session_id is None:
            found[named] = current
        elif may_begin and named not in found:
            found[named] = Segment(current.log, [], {})
        current = found.get(named, current)
    _note(current.meta, said)
    return current


def _note(meta: dict[str, Any], said: dict[str, Any]) -> None:
    """Keep the last word on each thing, but the first on whose session it is and when it began."""
    known_id, start = meta.get("sessionId"), meta.get("startTime")
    meta |= {name: value for name, value in said.items() if value is not None and name != "messages"}
    if known_id:
        meta["sessionId"] = known_id
    if isinstance(start, str) and "startTime" in said:
        meta["startTime"] = min(start, text_or_none(meta["startTime"]) or start)
