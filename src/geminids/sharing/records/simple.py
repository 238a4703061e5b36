"""The plainer translation of a session, which other tools make: what they read, they can read from us.

It renames, takes calls and thoughts out of the messages they stand in, and drops the rest; nothing in it
is an extension of ours. Some agents' sessions are told message by message, as the agent sees them now, others
line by line: the agent's own package has the rules.

A session whose files are gone, or whose agent offers no rules, is first told as an agent would write it that
offers a writer, and that is translated: so every session has such a record. What it cannot carry, the loss
report says.
"""

from __future__ import annotations

from typing import Any

from geminids import __version__
from geminids.core import agents
from geminids.core.agents.records import Translation
from geminids.core.model import Session
from geminids.core.model_names import maker_by_beginning
from geminids.sharing.records.errors import SessionTooDeepError
from geminids.sharing.records.natives import Natives
from geminids.sharing.records.plain import recorder_of
from geminids.sharing.records.presentable import presentable
from geminids.sharing.records.profile import UNKNOWN, VERSION


def simple_record(session: Session, natives: Natives | None = None) -> dict[str, Any]:
    """A session in the plainer translation; with its native records, what they say is passed on as it is.

    Raises RecordError if something is nested too deep to be told.
    """
    try:
        record: dict[str, Any] = presentable(_record(session, _translation(session, natives)))
    except RecursionError as error:
        raise SessionTooDeepError from error
    return record


def _record(session: Session, translation: Translation) -> dict[str, Any]:
    about = {
        "format": "interactive",
        "session-id": session.native_id,
        "agent-meta": _agent(session, translation.about.release),
        "entries": translation.entries,
        "session-start": translation.about.start,
        "environment": {"working-dir": translation.about.folder} if translation.about.folder else None,
    }
    record = {
        "version": VERSION,
        "id": session.native_id,
        "recording-agent": {"name": "geminids", "version": __version__},
        "session": {name: value for name, value in about.items() if value is not None},
        "created": translation.about.start,
    }
    return {name: value for name, value in record.items() if value is not None}


def _agent(session: Session, release: str | None) -> dict[str, str]:
    model = next(iter(session.models), UNKNOWN)
    agent = {
        "model-id": model,
        "model-provider": maker_by_beginning(model) or UNKNOWN,
        "cli-name": recorder_of(session.agent).program,
    }
    return {**agent, "cli-version": release} if release else agent


def _translation(session: Session, natives: Natives | None) -> Translation:
    translation = recorder_of(session.agent).translation(session, natives)
    return agents.writer().translation(session) if translation is None else translation
