"""A session as it is shown: what its files tell, with what only others know of it."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from geminids.core import agents
from geminids.core.disk import Disk
from geminids.core.model import Message, Project, Session
from geminids.core.model.summary import counts_of, usage_of


def assembled(
    session: Session, project: Project, outputs_on: Disk | None, copied: Collection[str] = ()
) -> Session:
    """A session with the best that is known of its project, and with what it holds of others marked.

    Outputs that its agent moved to files of their own are read from a disk, if one is given.
    """
    if outputs_on is not None:
        session = agents.load(session.agent).companions().with_outputs(session, outputs_on)
    if not copied:
        return msgspec.structs.replace(session, project=project)
    messages = copies_marked(session.messages, copied)
    return msgspec.structs.replace(
        session, project=project, messages=messages, counts=counts_of(messages), usage=usage_of(messages)
    )


def copies_marked(messages: tuple[Message, ...], copied: Collection[str]) -> tuple[Message, ...]:
    """Messages with those marked as taken over that are copies."""
    return tuple(
        msgspec.structs.replace(message, imported=True) if message.id in copied else message
        for message in messages
    )
