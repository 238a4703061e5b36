"""Stranded sessions on their way back into their agent: the file that lets it show and resume one again.

The file is new and beside the broken ones, which are left as they are. It holds all that was read of the
session, in the agent's own format.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from geminids.core.agents.rescue import Stranded
from geminids.core.errors import GeminidsError
from geminids.core.names import one_line
from geminids.sharing import export
from geminids.sharing.export.base import Manner
from geminids.sharing.export.private_files import PrivateFile, write_private
from geminids.sharing.transcript.entries import LEVELS

_MOMENT = timedelta(seconds=1)


class CannotRescueError(GeminidsError):
    """There is no place where the agent would find a session."""

    def __init__(self, session_id: str, reason: str | None) -> None:
        session = one_line(session_id)
        super().__init__(
            f"{session} cannot be repaired for its agent. {reason or ''} `geminids export {session}` "
            "writes it to a file."
        )


class Repaired(msgspec.Struct, frozen=True):
    """A file to be written."""

    path: str
    """Where it goes; nothing was there."""
    content: bytes
    changes: tuple[str, ...]
    """What is written otherwise than it was, in sentences that say why."""


def repaired(stranded: Stranded, now: datetime) -> Repaired:
    """The file that lets the agent show a session again. Raises CannotRescueError if there is none.

    It is dated now: of files with the same id an agent shows the one that was used last, and it deletes what
    was not used for long.
    """
    if stranded.target is None:
        raise CannotRescueError(stranded.session.id, stranded.refusal)
    # Formats for sessions that can be resumed are called like the agents that resume them.
    chosen = export.load(stranded.session.agent)
    later = [now, stranded.last_used + _MOMENT] if stranded.last_used else [now]
    manner = Manner(detail=LEVELS[chosen.level], touched_at=max(later))
    content = b"".join(chosen.write([stranded.mended], manner))
    return Repaired(stranded.target, content, stranded.changes)


def write_new(path: str, content: bytes, within: str | None = None) -> None:
    """Write a file whole or not at all, never over another. Raises what `write_private` does."""
    write_private([PrivateFile(path, lambda: content)], within)
