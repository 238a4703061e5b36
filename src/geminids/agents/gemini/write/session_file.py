"""`gemini`: a session file that Gemini CLI itself lists, loads and resumes.

It is made from what we know of the session, in the shape of 0.44 and later, so a session of an older release,
a saved chat or a conversation with another agent becomes one that can be continued. In the `chats` folder of
its project, under the name of `gemini_file_name`, the CLI finds it; with `--session-file` it loads it from
anywhere. Gemini CLI deletes sessions that were not written to for 30 days: `touched_at` keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from geminids.agents.gemini.write.log import Log, writable_messages
from geminids.agents.gemini.write.names import gemini_file_name, moment, session_id
from geminids.core.model import AnyPart, Origin, Session, Text, folder_hash
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.transcript.visible import visible_session

__all__ = ["GeminiSession", "gemini_file_name"]

_AGENT = "gemini"
_CONTEXT = "<hook_context>{}</hook_context>\n\n"
"""What a hook says, as Gemini CLI puts it in: words for the model that no human typed."""
_NO_PROJECT = "0" * 64
"""The agent takes no session without the hash of a folder."""


class GeminiSession(PlainFormat):
    """One session, one file of Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI session"
    summary = "A session file that Gemini CLI lists, loads and resumes."
    suffix = ".jsonl"
    level = "everything"
    options = frozenset({"touched_at"})

    def file_name(self, session: Session) -> str | None:
        """As Gemini CLI names its files: it lists no others."""
        return gemini_file_name(session)

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The file, a record a line."""
        for session in sessions:
            visible = _in_its_words(visible_session(session, manner.detail))
            writable = msgspec.structs.replace(visible, messages=tuple(writable_messages(visible.messages)))
            for record in Log(writable, _header(writable, manner)).records():
                yield encode_harmless(record) + b"\n"


def _in_its_words(session: Session) -> Session:
    """The session with the context of another agent marked as Gemini CLI marks context, not as a prompt."""
    if session.agent == _AGENT:
        return session
    messages = (
        msgspec.structs.replace(message, parts=tuple(map(_as_context, message.parts)))
        for message in session.messages
    )
    return msgspec.structs.replace(session, messages=tuple(messages))


def _as_context(part: AnyPart) -> AnyPart:
    match part:
        case Text(text=text, origin=Origin.INJECTED):
            return Text(_CONTEXT.format(text), Origin.INJECTED)
        case _:
            return part


def _header(session: Session, manner: Manner) -> dict[str, Any]:
    """Whose session it is. Every session is a main one: others the agent would neither list nor resume."""
    path = session.project.path
    moments = list(_moments(session))
    began = min(filter(None, (session.started_at or session.ended_at, *moments)), default=None)
    known = {
        "sessionId": session_id(session.id),
        "projectHash": session.project.hash or (folder_hash(path) if path else _NO_PROJECT),
        "startTime": moment(began),
        "lastUpdated": moment(manner.touched_at or max(moments, default=began)),
        "kind": "main",
        "directories": list(session.directories) or None,
        "summary": manner.names.get(session.id) or session.summary,
    }
    return {name: value for name, value in known.items() if value is not None}


def _moments(session: Session) -> Iterator[datetime]:
    """When something happened."""
    for message in session.messages:
        if message.at:
            yield message.at
        yield from (call.at for call in message.tool_calls if call.at)
