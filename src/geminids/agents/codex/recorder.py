"""What Codex CLI offers for records of its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geminids.agents.codex.record.remnants import RECORD
from geminids.agents.codex.record.simple import entries, surroundings
from geminids.core.agents.records import Natives, Translation
from geminids.core.model import Session
from geminids.sharing.records.plain import PlainRecorder
from geminids.sharing.records.simple_lines import lines_of


class CodexRecorder(PlainRecorder):
    """What is known of the records of Codex CLI, which writes none of them twice in one session."""

    table = RECORD

    def __init__(self) -> None:
        super().__init__("codex-cli")

    def release(self, session: Session, natives: Natives, others: Sequence[Any]) -> str | None:
        """What the last note about the session as a whole says."""
        versions = map(_version_of, reversed(others))
        return next((version for version in versions if isinstance(version, str) and version), None)

    def translation(self, session: Session, natives: Natives | None) -> Translation | None:
        """Its lines one by one."""
        if natives is None or natives.missing:
            return None
        lines = lines_of(session, natives, lambda _: True)
        entries_of_lines = list(entries(lines))
        return Translation(entries_of_lines, surroundings(lines)) if entries_of_lines else None


def _version_of(record: Any) -> Any:
    match record:
        case {"type": "session_meta", "payload": {"cli_version": version}}:
            return version
        case _:
            return None
