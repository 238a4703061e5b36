"""The session that a file tells without being a session file: saved, shared, printed, reported or logged."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.phrases import REQUEST_CANCELLED
from geminids.agents.gemini.read.evidence import with_evidence
from geminids.core.agents.base import FoundFile, Reading
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Message, Project, Session, SessionFile, SessionKind, Status, Unrecorded, Usage
from geminids.core.model.summary import status_of
from geminids.core.timestamps import disk_time
from geminids.reading.file_log import refused
from geminids.reading.sessions import plain_session

NOWHERE = Project(None, None, None, None)
"""The project of a file that does not say where it was worked."""
_UNPRINTABLE = lazy_pattern("[\x00-\x1f\x7f\ud800-\udfff]")
"""Controls, and what Python puts for a byte in a file name that is no UTF-8."""


def session_of(
    log: CopyLog,
    native_id: str,
    kind: SessionKind,
    messages: tuple[Message, ...],
    ended_at: datetime | None,
    *,
    project: Project = NOWHERE,
    parent_id: str | None = None,
    title: str | None = None,
    models: tuple[str, ...] = (),
    usage: Usage | None = None,
    status: Status | None = None,
    reported: Usage | None = None,
    unrecorded: tuple[Unrecorded, ...] = (),
) -> Session:
    """The session that a file tells; what its messages know of times counts more than the file's own.

    `native_id` and `title` may be made of the file's name, whatever bytes that has.
    """
    native_id = readable(native_id)
    known = plain_session(
        "gemini",
        native_id,
        messages,
        (SessionFile(log.path, log.format, log.size),),
        project=with_evidence(project, messages, ()),
        kind=kind,
        problems=tuple(log.problems),
    )
    return msgspec.structs.replace(
        known,
        parent_id=parent_id,
        title=readable(title) if title else known.title,
        ended_at=known.ended_at or ended_at,
        status=status or status_of(messages, kind, cancelled=REQUEST_CANCELLED),
        models=models or known.models,
        usage=usage or Usage.sum(message.usage for message in messages if message.usage),
        reported=reported,
        unrecorded=unrecorded,
    )


def reading_of(log: CopyLog, sessions: Iterable[Session]) -> Reading:
    """What a file holds; a conversation without a message is none."""
    spoken = tuple(session for session in sessions if session.messages)
    return Reading(spoken, (log.account(),), tuple(dict.fromkeys(log.problems)))


def unread(file: FoundFile, file_format: str, error: OSError) -> Reading:
    """What is known of a file that the operating system refused."""
    account, problem = refused(file, error, file_format, "any")
    return Reading((), (account,), (problem,))


def found_at(file: FoundFile) -> datetime | None:
    """When a file was last written to, as the scan saw it."""
    return disk_time(file.mtime_ns / 1e9)


def modified(path: Path) -> datetime | None:
    """When a file was last written to."""
    try:
        return disk_time(path.stat().st_mtime)
    except OSError:
        return None


def readable(name: str) -> str:
    """The name of a file in words that can be printed: what nobody can type is told in percent form."""
    return _UNPRINTABLE.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", name)
