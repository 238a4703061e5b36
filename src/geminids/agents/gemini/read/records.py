"""The records of a session file, before anything is made of them.

A `.json` file and a `.jsonl` file both become a `FileLog`: records in order, each with its place
and its kind, and an account of every byte. What a record is, is decided as Gemini CLI decides it:
a string `$rewindTo`, then a string `id`, then an object `$set`, then a string `sessionId` (beside which
the CLI also wants a `projectHash`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

import msgspec

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location
from geminids.reading import file_log
from geminids.reading.file_log import count
from geminids.reading.jsonl import REFUSED, decode_strict


class Format(StrEnum):
    """How a session file is laid out."""

    DOCUMENT = "gemini-json"
    LOG = "gemini-jsonl"


class Kind(StrEnum):
    """What a record does."""

    HEADER = "header"
    MESSAGE = "message"
    UPDATE = "update"
    CHECKPOINT = "checkpoint"
    REWIND = "rewind"


HEADER, MESSAGE, UPDATE, CHECKPOINT, REWIND = Kind
"""The same under names that Python looks up faster: every record is asked for its kind several times."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """One record and its place."""

    kind: Kind
    value: dict[str, Any]
    place: Location
    agent_reads: bool = True
    """Whether Gemini CLI itself can read it: it skips what is glued, torn or no strict JSON."""
    complete: bool = True


IGNORED_FIELDS = {
    "memoryScratchpad": "notes of a later start about tools and paths; the session itself says more",
    "memoryScratchpadIsStale": "derived by the loader",
    "messageCount": "derived by the loader",
    "userMessageCount": "derived by the loader",
    "firstUserMessage": "derived by the loader",
    "hasUserOrAssistantMessage": "derived by the loader",
    "hasResumableContent": "derived by the loader",
    "renderOutputAsMarkdown": "how the CLI draws a tool's output",
}
"""Fields that we know and leave out, and why. Derived ones leak into files that the CLI rewrites."""
SESSION_FIELDS = frozenset(
    {"sessionId", "projectHash", "startTime", "lastUpdated", "kind", "directories", "summary", "messages"}
    | IGNORED_FIELDS.keys()
)
ID_UP_TO_030 = re.compile(r"-\d{13}-[0-9a-f]+\Z")
"""How the CLI's id for a call ends up to 0.30, if the server gave none, and later if a slash command runs the
tool. In editors it has no third part."""
MESSAGE_FIELDS = frozenset(
    {"id", "timestamp", "type", "content", "displayContent", "model", "thoughts", "tokens", "toolCalls"}
)
CALL_FIELDS = frozenset(
    {"id", "name", "args", "result", "status", "timestamp", "agentId"}
    | {"displayName", "description", "resultDisplay"}
    | IGNORED_FIELDS.keys()
)
_SHORT_ID = 6
_FIELD_NAME = lazy_pattern(r"[\w$.-]{1,40}")
_HEADER_FIELDS = frozenset({"projectHash", "startTime", "messages"})
"""Records of other agents have a sessionId too, but none of these."""
BEGINNING = lazy_pattern(rb'\{\s*"(?:id|\$set|\$rewindTo|sessionId|timestamp|type|projectHash|content)"\s*:')
"""How a record begins, for finding records in damaged bytes."""


def kind_of(value: dict[str, Any]) -> Kind | None:
    """What a record does; None if it is of no kind we know."""
    if isinstance(value.get("$rewindTo"), str):
        return REWIND
    if isinstance(value.get("id"), str):
        return MESSAGE
    changes = value.get("$set")
    if isinstance(changes, dict):
        return CHECKPOINT if isinstance(changes.get("messages"), list) else UPDATE
    if isinstance(value.get("sessionId"), str) and not _HEADER_FIELDS.isdisjoint(value):
        return HEADER
    return None


def is_record(value: dict[str, Any]) -> bool:
    """Whether an object found in damaged bytes is a record, and not a piece of one.

    Tool calls and function responses have an id too, but no type.
    """
    kind = kind_of(value)
    return kind is not None and (kind is not MESSAGE or isinstance(value.get("type"), str))


def calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls that a message records with their end."""
    calls = message.get("toolCalls")
    if not calls:
        return []
    return [call for call in calls if type(call) is dict] if type(calls) is list else []


class FileLog(file_log.FileLog):
    """What was written in one file: its records in order, and where each byte went."""

    field_name = _FIELD_NAME

    def __init__(self, path: str, file_format: str, size: int, *, keeps_halves: bool = False) -> None:
        super().__init__(path, file_format, size, keeps_halves=keeps_halves)
        self.records: list[Record] = []

    def decode(self, raw: bytes | msgspec.Raw, place: Location) -> tuple[Any, bool]:
        """The value of these bytes, and whether Gemini CLI reads it too; raises UndecodableError."""
        try:
            # Nearly every record ends here, so it is not even wrapped.
            return decode_strict(raw), True
        except REFUSED:
            value, _, agent_reads = self.forgive(bytes(raw), place)
        return value, agent_reads

    def use(self, record: Record) -> None:
        """Take a record in."""
        self.records.append(record)
        count(self._used, record.kind, record.place.end - record.place.start)
        self.note_unknown_fields(record)

    def take_moved(self, other: FileLog, by: int) -> None:
        """Take in what was read of a later part of the same file, whose places were counted from there."""
        for record in other.records:
            at = record.place
            place = Location(at.file, 0, at.start + by, at.end + by)
            self.use(msgspec.structs.replace(record, place=place))
        self.count_layout(other._layout)
        for one in other.problems:
            if one.start is not None and one.end is not None:
                self.remark(one.kind, one.detail, None, one.start + by, one.end + by)
        for kind, (records, size) in other._problem.items():
            tally = self._problem.setdefault(kind, [0, 0])
            tally[0] += records
            tally[1] += size

    def note_unknown_fields(self, record: Record) -> None:
        """Count the fields of a record, and of the calls in it, that we have no name for."""
        kind, value = record.kind, record.value
        if kind is MESSAGE:
            self._note_fields("message", MESSAGE_FIELDS, value)
            for call in calls_of(value):
                self._note_fields("tool call", CALL_FIELDS, call)
        elif kind is HEADER:
            self._note_fields("header", SESSION_FIELDS, value)
        elif kind is not REWIND:
            self._note_fields("update", SESSION_FIELDS, value["$set"])

    @property
    def era(self) -> str:
        """Which of the CLI's ways of writing this is."""
        kinds = {record.kind for record in self.records}
        if not kinds & {MESSAGE, HEADER}:
            return "unknown"
        if self.format is Format.LOG:
            is_later = CHECKPOINT in kinds or self._is_of_later_subagent()
            return "jsonl-2 (0.44+)" if is_later else "jsonl-1 (0.39-0.43)"
        contents = (r.value.get("content") for r in self.records if r.value.get("type") == "user")
        return "json-2 (0.28-0.38)" if any(type(c) is list for c in contents) else "json-1 (0.4-0.27)"

    def _is_of_later_subagent(self) -> bool:
        """Whether a header is that of a subagent with a UUID; until 0.43 they had six characters."""
        of_subagents = [record.value for record in self.records if record.value.get("kind") == "subagent"]
        ids = (value.get("sessionId") for value in of_subagents)
        return any(isinstance(session_id, str) and len(session_id) > _SHORT_ID for session_id in ids)


def printable(name: str) -> str:
    """The name of a field, if it looks like one of Gemini CLI's."""
    return file_log.printable(name, _FIELD_NAME)
