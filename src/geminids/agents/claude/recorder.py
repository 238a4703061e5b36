"""What Claude Code offers for records of its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geminids.agents.claude.record.remnants import RECORD, identity
from geminids.agents.claude.record.simple import entries, surroundings
from geminids.agents.claude.record.whose import belonging
from geminids.core.agents.records import Belongs, NativeFile, Natives, Translation
from geminids.core.model import Session, SessionKind
from geminids.sharing.records.plain import PlainRecorder
from geminids.sharing.records.simple_lines import Line, lines_of


class ClaudeRecorder(PlainRecorder):
    """What is known of the records of Claude Code."""

    table = RECORD

    def __init__(self) -> None:
        super().__init__("claude-code")

    def identity(self, record: dict[str, Any]) -> str | None:
        """By what copies of one record are known."""
        return identity(record)

    def belonging(self, session: Session, file: NativeFile) -> Belongs:
        """How records of subagents in the file of a session are known, and the other way round."""
        return belonging(session, file)

    def release(self, session: Session, natives: Natives, others: Sequence[Any]) -> str | None:
        """What its last message that says so says."""
        places = (message.source for message in reversed(session.messages))
        values = (file.value_at(place) for place in places if (file := natives.file_of(place)))
        versions = (value.get("version") for value in values if type(value) is dict)
        return next((version for version in versions if isinstance(version, str) and version), None)

    def translation(self, session: Session, natives: Natives | None) -> Translation | None:
        """Its lines one by one."""
        if natives is None or natives.missing:
            return None
        lines = lines_of(session, natives, lambda line: _is_of_main(session, line))
        entries_of_lines = list(entries(lines))
        return Translation(entries_of_lines, surroundings(lines)) if entries_of_lines else None


def _is_of_main(session: Session, line: Line) -> bool:
    """Whether a line without a message is the session's: a subagent may share a file with it.

    Lines with a message that the session does not hold are such a subagent's, or copies of requests.
    """
    return "message" not in line and session.kind is not SessionKind.SUBAGENT
