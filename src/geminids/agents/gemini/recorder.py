"""What Gemini CLI offers for records of its sessions."""

from __future__ import annotations

from typing import Any

from geminids.agents.gemini.record.remnants import RECORD, identity
from geminids.agents.gemini.record.translation import translation
from geminids.agents.gemini.record.whose import belonging
from geminids.core.agents.records import Belongs, NativeFile, Natives, Translation
from geminids.core.model import Session
from geminids.sharing.records.plain import PlainRecorder


class GeminiRecorder(PlainRecorder):
    """What is known of the records of Gemini CLI, which does not write down its release."""

    table = RECORD

    def __init__(self) -> None:
        super().__init__("gemini-cli")

    def identity(self, record: dict[str, Any]) -> str | None:
        """By what versions of one record are known."""
        return identity(record)

    def belonging(self, session: Session, file: NativeFile) -> Belongs:
        """How records of other sessions and of subagents in a file are known."""
        return belonging(session, file)

    def translation(self, session: Session, natives: Natives | None) -> Translation | None:
        """The messages that the agent sees now; what its files no longer hold, as it would write it."""
        return translation(session, natives)
