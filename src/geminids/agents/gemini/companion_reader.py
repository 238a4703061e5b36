"""What lies beside the sessions of Gemini CLI. The readers are loaded when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.core.disk import REAL, Disk

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from geminids.core.agents.base import Bundle, Companions, Reading
    from geminids.core.agents.traces import Trace
    from geminids.core.model import Session


class GeminiCompanions:
    """Reads saved chats, lost sessions, the prompt log, and outputs of tools in files of their own."""

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """Saved chats and lost sessions of a project, and what became of every file beside its sessions."""
        from geminids.agents.gemini.companions import read_beside

        return read_beside(companions, traces, limit)

    def typed_mark(self, bundle: Bundle) -> str | None:
        """A text that is another one as soon as the prompt log may tell something else of some sessions."""
        from geminids.agents.gemini.companions.typed_words import typed_mark

        return typed_mark(bundle)

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session with the whole outputs of its tools, as far as they are there."""
        from geminids.agents.gemini.companions.outputs import with_outputs

        return with_outputs(session, disk)

    def moved_marks(self) -> Collection[str]:
        """How what is left of an output begins."""
        from geminids.agents.gemini.companions.outputs import MARKS

        return MARKS

    def named_ids(self, session: Session) -> Collection[str]:
        """The ids under which the session's own records say that files were put away."""
        from geminids.agents.gemini.companions.outputs import named_ids

        return named_ids(session)
