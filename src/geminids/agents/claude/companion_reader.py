"""What lies beside the sessions of Claude Code. The readers are loaded when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.core.agents.plain import PlainCompanions
from geminids.core.disk import REAL, Disk

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from geminids.core.agents.base import Companions, Reading
    from geminids.core.agents.traces import Trace
    from geminids.core.model import Session


class ClaudeCompanions(PlainCompanions):
    """Accounts for what lies beside sessions, and reads outputs of tools in files of their own."""

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """An account of every file, used as a whole; only who reads everything accounts for everything."""
        from geminids.core.agents.base import Reading
        from geminids.core.model import FileAccount, Tally

        files = companions.files if limit is None else ()
        used = ((file, {str(file.kind): Tally(1, file.size)}) for file in files)
        accounts = (
            FileAccount(file.path, f"claude-{file.kind}", "any", file.size, tally, {}, {}, {})
            for file, tally in used
        )
        return Reading((), tuple(accounts), ())

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session with the whole outputs of its tools, as far as they are there."""
        from geminids.agents.claude.read.outputs import with_outputs

        return with_outputs(session, disk)

    def moved_marks(self) -> Collection[str]:
        """How what is left of an output begins."""
        from geminids.agents.claude.read.outputs import MARKS

        return MARKS

    def named_ids(self, session: Session) -> Collection[str]:
        """The ids under which the session's own records say that files were put away."""
        from geminids.agents.claude.read.outputs import named_ids

        return named_ids(session)
