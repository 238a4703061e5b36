"""Turns as messages: roles, origins, parts and usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from geminids.agents.gemini.phrases import GO_ON, HOOK_BLOCKED, RUNS_TOOL
from geminids.agents.gemini.read.content import as_one_text, parts_of, plain_text, result_part, text_or_none
from geminids.agents.gemini.read.injected import (
    ACKNOWLEDGEMENTS,
    Prompt,
    message_origin,
    prompt_of,
    user_parts,
)
from geminids.agents.gemini.read.records import ID_UP_TO_030, MESSAGE_FIELDS, calls_of
from geminids.agents.gemini.read.tools import asked_call, tool_call
from geminids.agents.gemini.read.turns import Turn
from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Location,
    Message,
    Origin,
    Problem,
    ProblemKind,
    Role,
    Text,
    Thought,
    ToolCall,
    Unrecognised,
    Usage,
)
from geminids.core.timestamps import parse_time
from geminids.reading.counts import LARGEST_COUNT, count_or_none

_TYPES = {"human": "user", "assistant": "gemini", "model": "gemini"}
"""Names that other writers of this format use."""
_MODEL, _ASSISTANT = Origin.MODEL, Role.ASSISTANT
"""Under names that Python looks up faster: most messages have them."""
_LEVELS = {"info": Level.INFO, "warning": Level.WARNING, "error": Level.ERROR}
_FASTER_THAN_A_HUMAN = timedelta(seconds=3)
_THOUGHT_FIELDS = frozenset({"subject", "description", "timestamp"})
_ONLY_INTEGERS = {int}
_TOKENS = ("input", "cached", "output", "thoughts", "tool", "total")


class MessageBuilder:
    """Makes messages of the turns of one session, in order."""

    def __init__(self, turns: Sequence[Turn], *, of_subagent: bool) -> None:
        self._turns = turns
        asks = any(turn.asked for turn in turns)
        self._recorded = {call_id for turn in turns for call_id in _call_ids(turn)} if asks else set()
        self._of_subagent = of_subagent
        self._previous_prompt: Prompt | None = None
        self._hooks_reason: str | None = None
        """Why a hook has just sent the model back to work, as a notice told."""
        self._responses = _responses(turns) if asks else {}
        self._notice_before: str | None = None
        """The text of the message before, if it is a notice."""
        self._at: datetime | None = None
        self._previous_at: datetime | None = None
        self._imported_at = next((t for t in map(_import_time, turns) if t is not None), None)
        self.problems: list[Problem] = []

    def build(self) -> tuple[Message, ...]:
        """All turns as messages."""
        return tuple(map(self._build, self._turns))

    def _build(self, turn: Turn) -> Message:
        value = turn.value
        native_type = value.get("type")
        native_type = _TYPES.get(native_type, native_type) if isinstance(native_type, str) else None
        self._at = parse_time(value.get("timestamp"))
        match native_type:
            case "user":
                message = self._from_user(turn)
            case "gemini":
                message = self._from_model(turn)
            case _:
                message = self._notice(turn, native_type)
        self._previous_at = self._at or self._previous_at
        self._notice_before = message.text(Origin.NOTICE) if message.origin is Origin.NOTICE else None
        return message

    def _from_user(self, turn: Turn) -> Message:
        value = turn.value
        parts = user_parts(value.get("content"), value.get("displayContent"), self._previous_prompt)
        is_string = type(value.get("content")) is str
        if self._of_subagent or (is_string and self._goes_on_by_itself(parts)):
            parts = tuple(map(_nobodys_words, parts))
        if len(parts) > 1:
            parts = tuple(as_one_text(parts))
        self._hooks_reason = None
        origin = message_origin(parts)
        self._previous_prompt = prompt_of(parts) or self._previous_prompt
        return self._message(turn, Role.USER, origin, parts)

    def _goes_on_by_itself(self, parts: tuple[AnyPart, ...]) -> bool:
        """Whether the CLI, not the human, said it; before 0.28 only the haste and notices tell.

        It says "Please continue.", or the reason for which a hook does not let the model end.
        """
        match parts:
            case (Text(text=text),) if text == self._hooks_reason:
                return True
            case (Text(text=text, origin=Origin.HUMAN),) if text == GO_ON:
                at, before = self._at, self._previous_at
                return bool(at and before and at - before < _FASTER_THAN_A_HUMAN)
            case _:
                return False

    def _from_model(self, turn: Turn) -> Message:
        value = turn.value
        model, usage = text_or_none(value.get("model")), self._usage(turn)
        origin = self._origin(value, model)
        parts = (
            *self._thoughts(turn),
            *_spoken(value, origin),
            *self._calls(turn),
        )
        if origin is Origin.COMMAND and usage is None:
            # The CLI names the model that is set, and asked none. Tokens are left from a cancelled reply.
            model = None
        return self._message(turn, _ASSISTANT, origin, parts, model=model, usage=usage)

    def _origin(self, value: dict[str, Any], model: str | None) -> Origin:
        """Return who really made a message of the type `gemini`."""
        if self._notice_before is not None and _is_run_by_command(value, self._notice_before):
            return Origin.COMMAND
        is_spoken_for = model is None and plain_text(value.get("content")).strip() in ACKNOWLEDGEMENTS
        return Origin.SYNTHETIC if is_spoken_for else _MODEL

    def _notice(self, turn: Turn, native_type: str | None) -> Message:
        parts = tuple(as_one_text(_notice_parts(turn.value.get("content"))))
        said = plain_text(turn.value.get("content"))
        if said.startswith(HOOK_BLOCKED):
            self._hooks_reason = said.removeprefix(HOOK_BLOCKED)
        level = _LEVELS.get(native_type or "")
        if level is None:
            self._wrong(turn, "message of unknown type")
        return self._message(turn, Role.SYSTEM, Origin.NOTICE, parts, level=level or Level.INFO)

    def _message(
        self,
        turn: Turn,
        role: Role,
        origin: Origin,
        parts: tuple[AnyPart, ...],
        *,
        model: str | None = None,
        usage: Usage | None = None,
        level: Level | None = None,
    ) -> Message:
        if not MESSAGE_FIELDS.issuperset(turn.value):
            unknown = {name: turn.value[name] for name in turn.value.keys() - MESSAGE_FIELDS}
            parts = (*parts, Unrecognised(unknown))
        at, started = self._at, self._imported_at
        return Message(
            turn.id,
            role,
            origin,
            turn.state,
            at,
            model,
            parts,
            usage,
            turn.places[0],
            level,
            tuple(turn.places[1:]) if len(turn.places) > 1 else (),
            turn.dropped_by,
            imported=turn.imported or (started is not None and at is not None and at < started),
        )

    def _thoughts(self, turn: Turn) -> list[Thought | Unrecognised]:
        thoughts = turn.value.get("thoughts")
        if thoughts is not None and not isinstance(thoughts, list):
            self._wrong(turn, f"thoughts are no list but {type(thoughts).__name__}")
            return []
        parts: list[Thought | Unrecognised] = []
        for thought in thoughts or ():
            if type(thought) is dict:
                text, subject = text_or_none(thought.get("description")), text_or_none(thought.get("subject"))
                parts.append(Thought(text or "", subject or "", parse_time(thought.get("timestamp"))))
                if (text is None and subject is None) or not _THOUGHT_FIELDS.issuperset(thought):
                    parts.append(Unrecognised(thought))
            elif isinstance(thought, str):
                parts.append(Thought(thought))
            else:
                self._wrong(turn, f"a thought is a {type(thought).__name__}")
                parts.append(Unrecognised(thought))
        return parts

    def _calls(self, turn: Turn) -> list[ToolCall]:
        calls = turn.value.get("toolCalls")
        if calls is not None and not isinstance(calls, list):
            self._wrong(turn, f"toolCalls are no list but {type(calls).__name__}")
            calls = None
        parts: list[ToolCall] = []
        for call in calls or ():
            if isinstance(call, dict):
                parts.append(tool_call(call))
            else:
                self._wrong(turn, f"a tool call is a {type(call).__name__}")
        for call_id, asked in turn.asked.items():
            if call_id not in self._recorded:
                parts.append(asked_call(asked, self._responses.get(call_id)))
        return parts

    def _usage(self, turn: Turn) -> Usage | None:
        """The tokens of the request. What is missing is unknown, and so is what is no count."""
        tokens = turn.value.get("tokens")
        if tokens is None:
            return None
        if not isinstance(tokens, dict):
            self._wrong(turn, f"tokens are a {type(tokens).__name__}")
            return None
        written: list[Any] = list(map(tokens.get, _TOKENS))
        are_numbers = set(map(type, written)) == _ONLY_INTEGERS
        if are_numbers and min(written) >= 0 and max(written) <= LARGEST_COUNT:
            # Nearly always all of them are there, and nothing has to be looked at twice.
            sent, cached, output, thoughts, tool, reported = written
            total = sent + output + thoughts + tool
            return Usage(
                1, sent, cached, None, output, thoughts, tool, total, None if reported == total else reported
            )
        return self._incomplete_usage(turn, written)

    def _incomplete_usage(self, turn: Turn, written: list[Any]) -> Usage | None:
        """The tokens of a request of which some are missing or no counts, in the order of `_TOKENS`."""
        counts = list(map(count_or_none, written))
        named = zip(_TOKENS, counts, written, strict=True)
        wrong = [name for name, count, number in named if count is None and number is not None]
        if wrong:
            self._wrong(turn, f"tokens.{wrong[0]} is no count")
        if not any(count is not None for count in counts):
            return None
        sent, cached, output, thoughts, tool, reported = counts
        is_split = not (sent is output is thoughts is tool is None)
        total = (sent or 0) + (output or 0) + (thoughts or 0) + (tool or 0) if is_split else reported
        differs = reported if reported != total else None
        return Usage(1, sent, cached, None, output, thoughts, tool, total, differs)

    def _wrong(self, turn: Turn, detail: str) -> None:
        place: Location = turn.places[-1]
        problem = Problem(place.file, ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)
        self.problems.append(problem)


def _import_time(turn: Turn) -> datetime | None:
    """When a session was begun from a file (`--session-file`): what is older was said in another session."""
    return parse_time(turn.value.get("timestamp")) if turn.id.startswith("import-") else None


def _responses(turns: Sequence[Turn]) -> dict[str, dict[str, Any]]:
    """What came back for calls, where it stands in a message of its own."""
    return {call_id: response for turn in turns for call_id, response in turn.answered.items()}


def _call_ids(turn: Turn) -> Iterator[str]:
    """The calls that a turn records with their end; that can be a later turn than the one that asked."""
    for call in calls_of(turn.value):
        if isinstance(call.get("id"), str):
            yield call["id"]


def _is_run_by_command(value: dict[str, Any], notice: str) -> bool:
    """Return whether a slash command (/memory add, /restore) ran the tools of a message behind a notice."""
    calls = calls_of(value)
    if value.get("content") or not calls or not all(map(_has_own_id, calls)):
        return False
    return notice.startswith(RUNS_TOOL) or not (value.get("thoughts") or value.get("tokens"))


def _has_own_id(call: dict[str, Any]) -> bool:
    """Return whether the CLI made the id of a call: the name of its tool, the time and a random number."""
    call_id, name = call.get("id"), call.get("name")
    if not (isinstance(call_id, str) and isinstance(name, str) and call_id.startswith(name)):
        return False
    return ID_UP_TO_030.fullmatch(call_id[len(name) :]) is not None


def _nobodys_words(part: AnyPart) -> AnyPart:
    """Words in the human's place that the CLI made up."""
    if isinstance(part, Text) and part.origin is Origin.HUMAN:
        return Text(part.text, Origin.SYNTHETIC)
    if isinstance(part, Attachment) and part.origin is Origin.HUMAN:
        return Attachment(part.mime_type, part.data, part.uri, Origin.INJECTED)
    return part


def _spoken(value: dict[str, Any], origin: Origin) -> Iterable[AnyPart]:
    """What a model's message says. Calls stand in `toolCalls` or were remembered by the replay."""
    content = value.get("content")
    if type(content) is str:
        return (Text(content, origin),) if content else ()
    return as_one_text(_spoken_pieces(value, content, origin))


def _spoken_pieces(value: dict[str, Any], content: object, origin: Origin) -> Iterator[AnyPart]:
    has_thoughts = bool(value.get("thoughts"))
    for piece in parts_of(content):
        match piece:
            case {"thought": True, "text": str(text)}:
                if not has_thoughts:
                    yield Thought(text)
            case {"functionCall": dict()}:
                continue
            case {"text": ""}:
                continue
            case _:
                yield result_part(piece, origin)


def _notice_parts(content: object) -> Iterator[Text | Attachment | FileReference | Unrecognised]:
    for piece in parts_of(content):
        yield result_part(piece, Origin.NOTICE)
