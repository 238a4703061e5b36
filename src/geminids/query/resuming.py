"""How to go on with a session in its agent, or what can be done where that is not possible."""

from __future__ import annotations

import msgspec

from geminids import sources
from geminids.model import Session, SessionKind
from geminids.sources.resuming import Circumstances, NotResumable, Offer, Resumable

__all__ = ["NotResumable", "Offer", "Resumable", "ToResume", "how_to_resume"]


class ToResume(msgspec.Struct, frozen=True):
    """A session, and how its agent would go on with it."""

    session: Session
    how: Resumable | NotResumable


def how_to_resume(session: Session, circumstances: Circumstances, *, known: bool = True) -> ToResume:
    """How the agent would go on; `known` says whether a session of a file is among those of the homes."""
    match session.kind:
        case SessionKind.SUBAGENT:
            how: Resumable | NotResumable = _of_subagent(session)
        case SessionKind.LOST:
            how = _of_lost(session)
        case _:
            how = sources.load(session.agent).resuming(session, circumstances)
    if circumstances.given and known and isinstance(how, NotResumable):
        by_id = Offer("A session of the same id is known:", (("geminids", "resume", session.id),))
        how = NotResumable(how.reason, (by_id, *how.offers))
    return ToResume(session, how)


def _of_subagent(session: Session) -> NotResumable:
    reason = "A subagent worked in it, and it ended with its task."
    if session.parent_id is None:
        return NotResumable(reason, (_to_read(session),))
    parent = Offer("Go on with the session that started it:", (("geminids", "resume", session.parent_id),))
    return NotResumable(reason, (parent,))


def _of_lost(session: Session) -> NotResumable:
    return NotResumable("Its file is gone; what was typed is what remains.", (_to_read(session),))


def _to_read(session: Session) -> Offer:
    return Offer("It can be read:", (("geminids", "show", session.id),))
