"""Restore points: the conversation as it was before a tool changed a file, for /restore.

    …/tmp/<project>/checkpoints/<time>-<file>-<tool>.json
    {"history": [what the screen showed], "clientHistory": [turns], "toolCall": {name, args},
     "commitHash": …, "messageId": "<session id>########<prompt>"}

`commitHash` is in the shadow repository beside the project's sessions. Older releases write `filePath`
and no `messageId`. Off by default; the CLI deletes them at every start.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.api_turns import built, messages_of
from geminids.agents.gemini.companions.copy_sessions import modified, reading_of, session_of
from geminids.agents.gemini.companions.histories import History, Shape, read_history
from geminids.agents.gemini.companions.saved_chats import short_folder
from geminids.agents.gemini.read.tools import asked_call
from geminids.agents.gemini.read.turns import Turn
from geminids.core.agents.base import Reading
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    AnyPart,
    Location,
    Message,
    Origin,
    Role,
    SessionKind,
    State,
    ToolCall,
    ToolStatus,
)

FORMAT = "gemini-restore-point"
_ABOUT_CALL = frozenset({"toolCall", "commitHash", "messageId", "filePath"})
_SHOWN = "what the screen showed; the turns themselves stand in clientHistory"
POINT = Shape(FORMAT, "clientHistory", _ABOUT_CALL, {"history": _SHOWN})
SHOWN_ONLY = Shape(FORMAT, "history", _ABOUT_CALL, {"clientHistory": "no turns"})
_UI_TYPES = {"user": "user", "user_shell": "user", "gemini": "gemini", "gemini_content": "gemini"}
_CLIENT_TURNS = lazy_pattern(rb'"clientHistory"\s*:\s*\[')


def read_point(path: Path, content: bytes) -> Reading:
    """A restore point, with the session that it names as its parent."""
    has_turns = _CLIENT_TURNS.search(content) is not None
    history = read_history(POINT if has_turns else SHOWN_ONLY, str(path), content)
    recorded = messages_of(history.log, history.turns) if has_turns else _shown(history)
    messages = _with_pending_call(recorded, history)
    belongs_to = _session_id(history.members.get("messageId"))
    session = session_of(
        history.log,
        f"restore-{path.name.removesuffix('.json')}{_where(path)}",
        SessionKind.CHECKPOINT,
        messages,
        modified(path),
        parent_id=f"gemini:{belongs_to}" if belongs_to else None,
    )
    return reading_of(history.log, [session])


def _where(path: Path) -> str:
    """The project's folder, as part of an id, if the file lies in one."""
    folder = path.absolute().parent
    is_at_home = folder.name == "checkpoints" and folder.parent.parent.name == "tmp"
    return f"@{short_folder(folder.parent.name)}" if is_at_home else ""


def _session_id(message_id: object) -> str | None:
    """The session in the id of a prompt."""
    if not isinstance(message_id, str):
        return None
    session_id, divided, _ = message_id.partition("########")
    return session_id if divided and session_id else None


def _with_pending_call(messages: tuple[Message, ...], history: History) -> tuple[Message, ...]:
    """The call that was about to run, with the commit that holds the files as they were before it."""
    call = history.members.get("toolCall")
    if not isinstance(call, dict):
        return messages
    about = {n: v for n, v in history.members.items() if n in ("commitHash", "filePath") and v is not None}
    asked = asked_call(call, None)
    for index in range(len(messages) - 1, -1, -1):
        parts = tuple(_marked(messages[index], asked, about))
        if parts != messages[index].parts:
            marked = msgspec.structs.replace(messages[index], parts=parts)
            return (*messages[:index], marked, *messages[index + 1 :])
    pending = msgspec.structs.replace(asked, other=about)
    return (*messages, _message(history.log, pending))


def _marked(message: Message, asked: ToolCall, about: dict[str, Any]) -> Iterator[AnyPart]:
    """The parts of a message; the first call in it that fits and waits for its end is the one."""
    is_marked = False
    for part in message.parts:
        if not is_marked and isinstance(part, ToolCall) and _is_same(part, asked):
            is_marked = True
            yield msgspec.structs.replace(part, other=part.other | (about or {"toolCall": True}))
        else:
            yield part


def _is_same(call: ToolCall, asked: ToolCall) -> bool:
    is_open = call.status is ToolStatus.PENDING
    return is_open and call.name == asked.name and call.arguments == asked.arguments


def _message(log: CopyLog, call: ToolCall) -> Message:
    place = Location(log.path, 1, 0, log.size, "/toolCall")
    return Message("tool-call", Role.ASSISTANT, Origin.MODEL, State.CURRENT, None, None, (call,), None, place)


def _shown(history: History) -> tuple[Message, ...]:
    """What the screen showed, where nothing else was kept."""
    turns = []
    for number, written in enumerate(history.turns):
        item = written.value
        match item:
            case {"role": "user", "parts": [{"type": str(shown), "text": text, **others}]}:
                value: dict[str, Any] = {"type": _UI_TYPES.get(shown, shown), "content": text}
                if (at := others.pop("id", None)) is not None:
                    value["timestamp"] = at
                if others:
                    value["item"] = others
            case _:
                value = {"type": "info", "content": item.get("parts")}
        turns.append(Turn(f"item-{number}", value, written.place))
    return built(history.log, turns)
