"""How to go on with a session in its agent, or what can be done where that is not possible.

Sources name sessions and projects by whole ids and hashes. People type them, so our own commands get the
shortest name that means the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from geminids.core import agents
from geminids.core.agents.resume import ANY_FOLDER, Circumstances, Command, NotResumable, Offer, Resumable
from geminids.core.disk import REAL
from geminids.core.errors import AmbiguousIdError, AmbiguousProjectError, ProjectNotFoundError
from geminids.core.model import Project, Session, SessionKind
from geminids.query.sessions.ids import FILE_NAME_PREFIX, pick, short_ids
from geminids.storage.index.reader import sessions_called, sessions_meant

if TYPE_CHECKING:
    from geminids.query.projects.report import ProjectReport
    from geminids.storage.index.database import Index

__all__ = ["ANY_FOLDER", "NotResumable", "Offer", "Resumable", "ShortNames", "ToResume", "how_to_resume"]

_PLAIN_ID = re.compile(r"[0-9a-f]{8}[0-9a-f-]*")
"""The beginning of such an id can be no number of a line, no option, no file and no query."""


class ToResume(msgspec.Struct, frozen=True):
    """A session, and how its agent would go on with it."""

    session: Session
    how: Resumable | NotResumable


class ShortNames(NamedTuple):
    """What to type for a session or a project; None for those that are not known."""

    session: Callable[[str], str | None] = str
    project: Callable[[Project], str | None] = lambda project: project.hash


WHOLE_NAMES = ShortNames()


def how_to_resume(
    session: Session, circumstances: Circumstances, names: ShortNames = WHOLE_NAMES
) -> ToResume:
    """How the agent would go on with a session. Nothing is started."""
    match session.kind:
        case SessionKind.SUBAGENT:
            how: Resumable | NotResumable = _of_subagent(session, circumstances, names)
        case SessionKind.LOST:
            how = _of_lost(session, circumstances)
        case _ if session.kept and circumstances.given is None:
            how = _of_kept(session)
        case _:
            how = _of_agent(session, circumstances)
    if circumstances.given and isinstance(how, NotResumable) and names.session(session.id):
        by_id = Offer("A session of the same id is known:", (("geminids", "resume", session.id),))
        how = NotResumable(how.reason, (by_id, *how.offers))
    offers = tuple(_shortened(offer, session, names) for offer in how.offers)
    return ToResume(session, msgspec.structs.replace(how, offers=offers))


def _of_agent(session: Session, circumstances: Circumstances) -> Resumable | NotResumable:
    custodian = agents.custodian(session.agent)
    if custodian is None:
        reason = f"Unknown how {agents.load(session.agent).title} resumes a session."
        return NotResumable(reason, (_to_read(session, circumstances),))
    return custodian.resuming(session, circumstances)


def _of_subagent(session: Session, circumstances: Circumstances, names: ShortNames) -> NotResumable:
    reason = "It is the session of a subagent, which ended with its task."
    if session.parent_id is None or names.session(session.parent_id) is None:
        return NotResumable(reason, (_to_read(session, circumstances),))
    parent = Offer("Resume the session that started it:", (("geminids", "resume", session.parent_id),))
    return NotResumable(reason, (parent,))


def _of_lost(session: Session, circumstances: Circumstances) -> NotResumable:
    reason = "Its file is gone; only your prompts remain."
    return NotResumable(reason, (_to_read(session, circumstances),))


def _of_kept(session: Session) -> NotResumable:
    title = agents.load(session.agent).title
    is_damaged = any(REAL.is_file(file.path) for file in session.files if file.kept)
    state = "damaged" if is_damaged else "gone"
    reason = f"{title} no longer has it: its file is {state}, and it is read from a kept copy."
    if agents.custodian(session.agent) is None:
        return NotResumable(reason, (Offer("It can be read:", (("geminids", "show", session.id),)),))
    restore = Offer("Put the copy back, then resume it:", (("geminids", "restore", session.id),))
    return NotResumable(reason, (restore,))


def _to_read(session: Session, circumstances: Circumstances) -> Offer:
    return Offer("It can be read:", (("geminids", "show", circumstances.given or session.id),))


def _shortened(offer: Offer, session: Session, names: ShortNames) -> Offer:
    def short(word: str) -> str:
        if word in {session.id, session.parent_id}:
            return names.session(word) or word
        if word == session.project.hash:
            return names.project(session.project) or word
        return word

    def in_short(command: Command) -> Command:
        return tuple(map(short, command)) if command[0] == "geminids" else command

    return Offer(offer.sentence, tuple(map(in_short, offer.commands)))


def short_id(index: Index, session_id: str) -> str | None:
    """As much of the id of a session as means it and no other; None if the index does not know it."""
    native_ids = [row.native_id for row in sessions_meant(index, session_id) if row.id == session_id]
    if not native_ids:
        return None
    native_id = native_ids[0]
    if not _PLAIN_ID.fullmatch(native_id):
        return session_id
    alike = sessions_called(index, native_id[:FILE_NAME_PREFIX])
    short = short_ids(row.native_id for row in alike)[native_id]
    try:
        found = pick(alike, short)
    except AmbiguousIdError:
        return session_id
    return short if found and found.id == session_id else session_id


def short_project(found: Sequence[ProjectReport], project: Project) -> str | None:
    """The name or the beginning of the hash that means a project and no other; None if there is none."""
    beginning = project.hash[:FILE_NAME_PREFIX] if project.hash else None
    names = (project.slug, project.name, beginning)
    return next((name for name in names if name and _means(found, name, project)), None)


def _means(found: Sequence[ProjectReport], name: str, project: Project) -> bool:
    from geminids.query.projects.report import hash_meant

    try:
        # A name that begins like an option would be taken for one.
        return not name.startswith("-") and hash_meant(found, name) == project.hash
    except (AmbiguousProjectError, ProjectNotFoundError):
        return False
