"""Where every byte went of a file that lies beside the sessions, or tells one without being its file."""

from __future__ import annotations

from typing import Any

from geminids.agents.gemini.read.records import FileLog
from geminids.core.model import FileAccount


class BesideLog(FileLog):
    """What was read of a file that is no session file."""

    @property
    def era(self) -> str:
        """All releases write these files alike, or say nothing of which of them it was."""
        return "any"


class CopyLog(BesideLog):
    """What was read of a file that tells a conversation, and where each byte went."""

    def note_fields(self, name: str, known: frozenset[str], value: dict[str, Any]) -> None:
        """Count the fields of a value that we have no name for."""
        self._note_fields(name, known, value)

    def note_unknown(self, name: str) -> None:
        """Count one field that we have no name for."""
        self._note_fields(self.format.removeprefix("gemini-"), frozenset(), {name: None})

    def account(self) -> FileAccount:
        """Where every byte of the file went; what was not asked for stands between the pieces."""
        fates = (self._used, self._ignored, self._problem)
        counted = self._layout + sum(size for tallies in fates for _, size in tallies.values())
        self.count_layout(self.size - counted)
        return super().account()
