"""What the part of Gemini CLI that deletes sees of a session file, noted while the file is read anyway.

Each release has its own mind about what it lists and what it takes for rubbish, so nothing is judged here:
traits are facts, and `cleanup` knows which of them count in which release. Until 0.38 the CLI reads a file
as one document; since then line by line, and as one document only where that gives no session. To list
sessions it keeps nothing in mind but ids, in the order of lines: a message that was written again stands
where it was written last too, so that a rewind to what is between takes it away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from geminids.agents.gemini.read.agent_view import is_resumable
from geminids.agents.gemini.read.records import CHECKPOINT, HEADER, MESSAGE, REWIND, FileLog, Format, Record
from geminids.core.agents.base import FoundFile
from geminids.core.agents.fates import Fate
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.timestamps import disk_time, parse_time
from geminids.reading.jsonl import UndecodableError, decode

NO_SESSION = "no-session"
"""Releases since 0.39 find no session in it, or cannot read it."""
NO_DOCUMENT = "no-document"
"""Releases until 0.38 do not find in it all that they want of a session."""
UNDATED = "undated"
"""It is a document, and does not say both when it began and when it was last used."""
NO_TURNS = "no-turns"
"""Neither the human nor the model says a word in it."""
NO_TURNS_STATED = "no-turns-stated"
"""The same for releases until 0.43, to which a checkpoint is all there is."""
NOTHING_RESUMABLE = "nothing-resumable"
SUBAGENT = "subagent"

SESSION_PREFIX = "session-"
_ID = "id:"
_NOT_IN_NAMES = lazy_pattern(r"[^A-Za-z0-9_-]")
_TURNS = ("user", "gemini")
_A_LOOK, _A_GLANCE = 4_096, 64


def fates_of(file: FoundFile, log: FileLog | None = None, content: bytes = b"") -> tuple[Fate, ...]:
    """What the CLI would see of a file; without a log it could not be read. Nothing of one that is gone."""
    if file.is_kept:
        return ()
    path, name = str(file.path), file.path.name
    if not name.startswith(SESSION_PREFIX) or not name.endswith((".json", ".jsonl")):
        # The CLI does not list it. It goes only with the folder that it lies in.
        return (Fate(path, None),)
    seen = _seen(log, content) if log else None
    if seen is None:
        return (Fate(path, None, tuple(_traits_of_nothing(name, log))),)
    return (Fate(path, seen.last_used(file), tuple(seen.traits(name, log))),)


def native_id(traits: Iterable[str]) -> str | None:
    """The id at the beginning of a file, as the CLI spells it in the names of folders."""
    return next((trait.removeprefix(_ID) for trait in traits if trait.startswith(_ID)), None)


class _Seen(NamedTuple):
    """A file as the CLI sees it when it lists sessions."""

    meta: dict[str, Any]
    messages: Sequence[dict[str, Any]]
    is_whole: bool
    """Whether all of it is one document."""
    is_by_line: bool
    """Whether a session was found line by line."""

    def last_used(self, file: FoundFile) -> datetime | None:
        """When, as the CLI dates it. A log that does not say it was used just now, whenever one looks."""
        said = self.meta.get("lastUpdated")
        if said or self.is_by_line:
            return parse_time(said)
        return parse_time(self.meta.get("startTime")) or disk_time(file.mtime_ns / 1e9)

    def traits(self, name: str, log: FileLog | None) -> Iterator[str]:
        meta = self.meta
        if name.endswith(".json") and not self._has_all_of_document():
            yield NO_DOCUMENT
        if not self.is_by_line and not (meta.get("startTime") and meta.get("lastUpdated")):
            yield UNDATED
        if meta.get("kind") == "subagent":
            yield SUBAGENT
        # What can be resumed is a turn too, and nearly always the first message can be.
        is_resumed = any(map(is_resumable, self.messages))
        if not is_resumed:
            yield NOTHING_RESUMABLE
        if not (is_resumed or _has_turns(self.messages)):
            yield NO_TURNS
        stated = self.is_by_line and meta.get("messages")
        if not (_has_turns(stated) if stated else is_resumed or _has_turns(self.messages)):
            yield NO_TURNS_STATED
        yield from _first_id(log)

    def _has_all_of_document(self) -> bool:
        said = (self.meta.get(name) for name in ("sessionId", "startTime", "lastUpdated"))
        return self.is_whole and all(said) and isinstance(self.meta.get("messages"), list)


def _traits_of_nothing(name: str, log: FileLog | None) -> Iterator[str]:
    yield NO_SESSION
    if name.endswith(".json"):
        yield NO_DOCUMENT
    yield from _first_id(log)


def _first_id(log: FileLog | None) -> Iterator[str]:
    """The id by which the CLI finds what else belongs to a file that it deletes: the one at its beginning."""
    first = log.records[0] if log and log.records else None
    if first and first.kind is HEADER and first.agent_reads:
        session_id = first.value.get("sessionId")
        if isinstance(session_id, str) and session_id:
            yield _ID + _NOT_IN_NAMES.sub("_", session_id)


def _has_turns(messages: object) -> bool:
    return isinstance(messages, list) and any(
        isinstance(message, dict) and message.get("type") in _TURNS for message in messages
    )


def _seen(log: FileLog, content: bytes) -> _Seen | None:
    """The session that the CLI finds in a file; None if it finds none."""
    if log.format is Format.LOG:
        return _seen_by_line(log.records) or _seen_whole(content)
    document = (_is_closed(content) and _seen_laid_out(log)) or _seen_whole(content)
    if document and _is_one_line(content) and isinstance(document.meta.get("projectHash"), str):
        return document._replace(is_by_line=True)
    return document


def _seen_laid_out(log: FileLog) -> _Seen | None:
    """What was read of a document already, if all of it was; what holds no messages is quickly read again."""
    records = log.records
    if log.problems or len(records) < 2 or records[0].kind is not HEADER:
        return None
    header = records[0].value
    messages = [record.value for record in records if record.kind is MESSAGE]
    return _Seen(header, messages, True, False) if header.get("sessionId") else None


def _is_closed(content: bytes) -> bool:
    """Whether the end of a document is there: our own reading forgives where it is not."""
    return content[-_A_GLANCE:].rstrip().endswith(b"}")


def _seen_whole(content: bytes) -> _Seen | None:
    """A document that was read in pieces, or not at all, read as the CLI does it."""
    if content[:_A_LOOK].lstrip()[:1] != b"{":
        return None
    try:
        decoded = decode(content)
    except UndecodableError:
        return None
    match decoded.value:
        case {"sessionId": session_id, **rest} if session_id and decoded.strict:
            stated = rest.get("messages")
            messages = [m for m in stated if isinstance(m, dict)] if isinstance(stated, list) else []
            return _Seen(decoded.value, messages, True, False)
        case _:
            return None


def _is_one_line(content: bytes) -> bool:
    end = content.find(b"\n")
    if end < 0 or content[end : end + _A_GLANCE].strip():
        return end < 0
    return not content[end:].strip()


def _seen_by_line(records: Sequence[Record]) -> _Seen | None:
    meta: dict[str, Any] = {}
    is_plain, last_checkpoint = True, 0
    for index, record in [(i, r) for i, r in enumerate(records) if r.kind is not MESSAGE and r.agent_reads]:
        if record.kind is REWIND:
            is_plain = False
        elif record.kind is not HEADER:
            meta |= record.value["$set"]
            if record.kind is CHECKPOINT:
                last_checkpoint, is_plain = index, False
        elif isinstance(record.value.get("projectHash"), str):
            meta |= record.value
            is_plain = is_plain and "messages" not in record.value
    if not (meta.get("sessionId") and meta.get("projectHash")):
        return None
    if is_plain:
        messages = {r.value["id"]: r.value for r in records if r.kind is MESSAGE and r.agent_reads}
    else:
        messages = _listed(records[last_checkpoint:])
    return _Seen(meta, list(messages.values()), False, True)


def _listed(records: Iterable[Record]) -> dict[str, dict[str, Any]]:
    """The messages that are left in the CLI's mind when it lists sessions. A checkpoint begins anew."""
    ids: list[str] = []
    first_at: dict[str, int] = {}
    known: dict[str, dict[str, Any]] = {}
    for record in records:
        if not record.agent_reads:
            continue
        value = record.value
        if record.kind is REWIND:
            first = first_at.get(value["$rewindTo"], 0)
            for dropped in ids[first:]:
                known.pop(dropped, None)
                if first_at.get(dropped, -1) >= first:
                    del first_at[dropped]
            del ids[first:]
        for message in _written(record):
            first_at.setdefault(message["id"], len(ids))
            ids.append(message["id"])
            known[message["id"]] = message
    return known


def _written(record: Record) -> Iterator[dict[str, Any]]:
    """The messages that a record writes or restates."""
    if record.kind is MESSAGE:
        yield record.value
        return
    stated = record.value.get("$set", record.value) if record.kind in (HEADER, CHECKPOINT) else {}
    for message in stated.get("messages") or ():
        if isinstance(message, dict) and isinstance(message.get("id"), str):
            yield message
