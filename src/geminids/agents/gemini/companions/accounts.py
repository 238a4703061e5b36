"""Where every byte went of a file that lies beside the sessions, or tells one without being its file."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from geminids.agents.gemini.read.records import FileLog
from geminids.core.model import FileAccount, ProblemKind


class BesideLog(FileLog):
    """What was read of a file that is no session file."""

    @property
    def era(self) -> str:
        """All releases write these files alike, or say nothing of which of them it was."""
        return "any"

    def seek_tail(self, stream: BinaryIO, limit: int) -> int:
        """Go to the last bytes of a file, as many as may be read; it may have another size now."""
        self.size = stream.seek(0, os.SEEK_END)
        return stream.seek(max(0, self.size - max(limit, 0)))

    def read_tail(self, stream: BinaryIO, limit: int) -> tuple[int, bytes]:
        """Where the last bytes of a file begin, as many as may be read, and those bytes."""
        begin = self.seek_tail(stream, limit)
        content = stream.read(self.size - begin)
        self.size = begin + len(content)
        return begin, content

    def leave_unread(self, end: int) -> None:
        """Report what stands before the end of a file."""
        read = "only the end" if end < self.size else "none of it"
        detail = f"longer than what this command reads: {read} was read"
        self.report(ProblemKind.LEFT_UNREAD, detail, None, 0, end)


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
