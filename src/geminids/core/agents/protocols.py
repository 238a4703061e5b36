"""Sessions in the shapes in which an agent itself writes them: what a package of an agent may offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from geminids.core.agents.records import Translation
from geminids.core.model import Session


class Writer(Protocol):
    """Writes sessions of any agent as its own would."""

    def shared(self, sessions: Iterable[Session]) -> Iterator[bytes]:
        """Sessions as the agent shares a conversation with people, as one text in Markdown."""
        ...

    def translation(self, session: Session) -> Translation:
        """A session in the plainer translation of what the agent would write for it."""
        ...
