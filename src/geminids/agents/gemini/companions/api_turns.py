"""Turns of the API as messages.

    {"role": "user" | "model", "parts": [{"text": …} | {"functionCall": …} | {"functionResponse": …} | …]}

Such turns have no ids and no times. Until 0.42 a call has no id either, only the answer to it has; and
since 0.54 turns of the same side that follow one another are fused into one, so that the CLI's opening
and the first prompt are two parts of one turn. They are told apart again here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.phrases import EDITOR_FILES_BEGIN, FILES_BEGIN, FILES_END
from geminids.agents.gemini.read.content import parts_of, text_or_none
from geminids.agents.gemini.read.messages import MessageBuilder
from geminids.agents.gemini.read.turns import Turn
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, Message

_TURN = "turn"
"""What a turn is called in accounts."""
_TURN_FIELDS = frozenset({"role", "parts"})
_TYPES = {"user": "user", "function": "user", "model": "gemini", None: "gemini"}
"""Roles of the API. The CLI itself takes a turn without one for the model's."""
_ALONE = lazy_pattern(
    r"\s*<session_context>|This is the Gemini CLI\. We are setting up the context"
    r"|I ran the following shell command:\n```sh\n|- \*\*Workspace Directories:\*\*"
    r"|\s*Here is (?:the user's editor context as|a summary of changes in the user's editor context)"
)
"""How texts begin that the CLI sends as turns of their own, before it fuses them with the next."""
_BELONGS = lazy_pattern(rf"\s*<hook_context>|{re.escape(FILES_BEGIN)}|{re.escape(EDITOR_FILES_BEGIN)}")
"""How texts begin that the CLI puts behind a prompt, into the same turn."""
_CANCELLED = "[Operation Cancelled]"


class Written(NamedTuple):
    """A turn as it was written, and where."""

    value: dict[str, Any]
    place: Location
    at: str | int | float | None = None
    """When it was said, as far as the file knows."""


def as_turn(value: Any) -> dict[str, Any] | None:
    """A turn; words and parts that stand for themselves are the user's."""
    match value:
        case dict():
            return value if "role" in value or "parts" in value else {"role": "user", "parts": [value]}
        case str() if value:
            return {"role": "user", "parts": [{"text": value}]}
        case [_, *_]:
            return {"role": "user", "parts": value}
        case _:
            return None


def is_turn(value: dict[str, Any]) -> bool:
    """Whether an object found in damaged bytes is a turn, and not a piece of one."""
    role = value.get("role", "model")
    return "parts" in value and isinstance(role, str) and role in _TYPES


def use_turn(log: CopyLog, turn: dict[str, Any], place: Location) -> None:
    """Take a turn in."""
    log.count_use(_TURN, place.end - place.start)
    log.note_fields(_TURN, _TURN_FIELDS, turn)


def messages_of(log: CopyLog, written: Sequence[Written]) -> tuple[Message, ...]:
    """Turns as messages, calls with their answers; what is wrong with them goes to the log."""
    turns = [turn for number, one in enumerate(written) for turn in _session_turns(number, one)]
    _tie_answers_to_calls(turns)
    return built(log, turns)


def built(log: CopyLog, turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Turns in the form of session files as messages."""
    builder = MessageBuilder(turns, of_subagent=False)
    messages = builder.build()
    for problem in builder.problems:
        log.note(problem)
    return messages


def _session_turns(number: int, written: Written) -> Iterator[Turn]:
    """One turn of the API in the form of session files; several if it was fused."""
    role = written.value.get("role")
    native_type = _TYPES.get(role, "unknown") if role is None or isinstance(role, str) else "unknown"
    pieces = parts_of(written.value.get("parts"))
    groups = list(_separated(pieces)) if native_type == "user" else [pieces]
    others = {name: written.value[name] for name in written.value.keys() - _TURN_FIELDS}
    for index, group in enumerate(groups or [[]]):
        value: dict[str, Any] = {"type": native_type, "content": group}
        if written.at is not None:
            value["timestamp"] = written.at
        if others and not index:
            value["turn"] = others
        yield Turn(f"turn-{number}-{index}" if index else f"turn-{number}", value, written.place)


def _separated(pieces: list[Any]) -> Iterator[list[Any]]:
    """The parts of a turn by message, as far as the CLI's own texts tell."""
    group: list[Any] = []
    in_references, was_cancelled, was_text = False, False, False
    for piece in pieces:
        text = piece.get("text") if isinstance(piece, dict) else None
        is_alone = isinstance(text, str) and not in_references and _ALONE.match(text) is not None
        is_next = was_text and isinstance(text, str) and not in_references and not _BELONGS.match(text)
        if group and (is_alone or is_next or (was_cancelled and isinstance(text, str))):
            yield group
            group = []
        group.append(piece)
        if is_alone:
            yield group
            group = []
        in_references = text == FILES_BEGIN or (in_references and text != FILES_END)
        was_cancelled, was_text = _is_cancelled(piece), isinstance(text, str) and text != FILES_END
    if group:
        yield group


def _is_cancelled(piece: object) -> bool:
    """Whether a call was cancelled: what follows in the same turn is what the human typed next."""
    match piece:
        case {"functionResponse": {"response": {"error": str(error)}}}:
            return error.startswith(_CANCELLED)
        case _:
            return False


def _tie_answers_to_calls(turns: Sequence[Turn]) -> None:
    """By id, and where one of them has none, by name and order."""
    waiting, asked_by = _OpenCalls(), dict[str, Turn]()
    for turn in turns:
        turn.asked = {f"{turn.id} {index}": call for index, call in enumerate(_named(turn, "functionCall"))}
        turn.answered = {}
        for key, call in turn.asked.items():
            waiting.open(key, call)
            asked_by[key] = turn
        for response in _named(turn, "functionResponse"):
            if (answered := waiting.answered_by(response)) is not None:
                turn.answered[answered] = response
                # There stands what the message of the call tells of its end.
                asked_by[answered].places.append(turn.places[0])


def _named(turn: Turn, name: str) -> list[dict[str, Any]]:
    """The calls or answers in a turn, as copies."""
    pieces = parts_of(turn.value.get("content"))
    found = (piece.get(name) for piece in pieces if isinstance(piece, dict))
    return [dict(one) for one in found if isinstance(one, dict)]


class _OpenCalls:
    """Calls that wait for their answers."""

    def __init__(self) -> None:
        self._with_id: dict[str, str] = {}
        self._by_name: dict[str, deque[tuple[str, dict[str, Any]]]] = {}

    def open(self, key: str, call: dict[str, Any]) -> None:
        """Wait for the answer to a call."""
        call_id = text_or_none(call.get("id"))
        if call_id:
            self._with_id[call_id] = key
        else:
            self._by_name.setdefault(str(call.get("name")), deque()).append((key, call))

    def answered_by(self, response: dict[str, Any]) -> str | None:
        """The call that an answer is for; one that has no id yet takes that of its answer."""
        call_id = text_or_none(response.get("id"))
        if call_id and call_id in self._with_id:
            return self._with_id.pop(call_id)
        waiting = self._by_name.get(str(response.get("name")))
        if not waiting:
            return None
        key, call = waiting.popleft()
        if call_id:
            call["id"] = call_id
        return key
