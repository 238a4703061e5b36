"""Records as messages: the lines of a reply joined, calls with their answers, who said what.

One reply of the model is spread over lines, one for each block, all with its id and its usage. The answers to
its calls stand in `user` lines, wherever those hang. So a message is a reply with all that came back to it,
or one line of another kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from geminids.agents.claude.read.attachments import attached, referred_file
from geminids.agents.claude.read.content import (
    block_part,
    blocks_of,
    object_or_empty,
    plain_text,
    result_parts,
    text_or_none,
)
from geminids.agents.claude.read.origins import INTERRUPTED, STOPPED, Said, of_nobody, said, said_by_user
from geminids.agents.claude.read.queue import MISSING, queued
from geminids.agents.claude.read.records import SPOKEN, why_silent
from geminids.agents.claude.read.tokens import larger, usage_of_request
from geminids.agents.claude.read.tools import Answer, tool_call
from geminids.agents.claude.read.tree import Fate, Laid
from geminids.core.model import (
    AnyPart,
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
    ToolResult,
    Unrecognised,
    Usage,
)
from geminids.core.timestamps import parse_time

SYNTHETIC_MODEL = "<synthetic>"
_NOT_THE_MODELS = frozenset({"", "No response requested.", "(no content)"})
"""Texts that Claude Code itself writes as an answer."""
_LEVELS = {"warning": Level.WARNING, "warn": Level.WARNING, "error": Level.ERROR}
_MODEL, _ASSISTANT = Origin.MODEL, Role.ASSISTANT
"""Under names that Python looks up faster: most messages have them."""


class _Draft(msgspec.Struct):
    """A message in the making."""

    id: str
    role: Role
    origin: Origin
    fate: Fate
    at: datetime | None
    parts: list[AnyPart]
    source: Location
    also_at: dict[Location, None]
    """In order, each once."""
    model: str | None = None
    usage: Usage | None = None
    level: Level | None = None
    request_id: str | None = None
    missing: str | None = None

    def stands_also_at(self, laid: Laid) -> None:
        """Note that a further record belongs to the message."""
        self.also_at[laid.record.place] = None
        self.also_at.update(dict.fromkeys(laid.copies))

    def message(self) -> Message:
        return Message(
            self.id,
            self.role,
            self.origin,
            self.fate.state,
            self.at,
            self.model,
            tuple(self.parts),
            self.usage,
            self.source,
            self.level,
            tuple(self.also_at),
            self.fate.dropped_by,
            imported=self.fate.is_version,
            request_id=self.request_id,
            missing=self.missing,
        )


class _Answered(msgspec.Struct, frozen=True):
    """An answer, when it came and where it stands."""

    answer: Answer
    at: datetime | None
    place: Location


class MessageBuilder:
    """Makes messages of the records of one conversation, in order."""

    def __init__(self, laid: Sequence[Laid], children: Mapping[str, str], *, of_subagent: bool) -> None:
        self._laid = laid
        self._children = children
        self._of_subagent = of_subagent
        self._drafts: list[_Draft] = []
        self._replies: dict[str, _Draft] = {}
        self._asked: set[str] = set()
        self._interrupted: set[object] = set()
        """The ids of records after which the human stopped the model."""
        self._answers: dict[str, _Answered] = {}
        self._prompt: _Draft | None = None
        """The last words of the human, which files may be put in for."""
        self.problems: list[Problem] = []

    def build(self) -> tuple[Message, ...]:
        """All records that say something, as messages."""
        for laid in self._laid:
            self._find_calls(laid)
        for laid in self._laid:
            self._build(laid)
        return tuple(draft.message() for draft in self._drafts)

    def _find_calls(self, laid: Laid) -> None:
        """Note what is asked and answered in a line: an answer may come before the rest of the reply."""
        value = laid.record.value
        kind = laid.record.kind
        if kind not in SPOKEN or laid.fate.is_version:
            return
        message = value.get("message")
        content = message.get("content") if type(message) is dict else None
        if type(content) is not list:
            return
        for block in content:
            if type(block) is not dict:
                continue
            if kind == "user" and str(block.get("text", "")).startswith(INTERRUPTED):
                self._interrupted.add(text_or_none(value.get("parentUuid")))
            answered = block.get("tool_use_id")
            if type(answered) is str and answered not in self._answers:
                answer = Answer(block, value.get("toolUseResult"), "toolDenialKind" in value)
                at = parse_time(value.get("timestamp"))
                self._answers[answered] = _Answered(answer, at, laid.record.place)
            elif type(called := block.get("id")) is str and kind == "assistant":
                self._asked.add(called)

    def _build(self, laid: Laid) -> None:
        if laid.fate.is_version:
            self._said_before(laid)
            return
        match laid.record.kind:
            case "assistant":
                self._from_model(laid)
            case "user":
                self._from_user(laid)
            case "attachment":
                self._attached(laid)
            case "system":
                self._noticed(laid)
            case "queue-operation":
                self._only_queued(laid)

    def _said_before(self, laid: Laid) -> None:
        """An earlier version of a record: its words, tied to nothing."""
        by_model = laid.record.kind == "assistant"
        role, origin = (_ASSISTANT, _MODEL) if by_model else (Role.USER, Origin.HUMAN)
        draft = self._draft(laid, role, origin)
        for block in blocks_of(self._message_of(laid).get("content")):
            match block:
                case {"type": "thinking", "thinking": str(thought)}:
                    draft.parts.append(Thought(thought))
                case {"type": "tool_use"}:
                    draft.parts.append(tool_call(block, None, None, None))
                case {"tool_use_id": str(call_id), **answer}:
                    draft.origin = origin if by_model else Origin.TOOL
                    draft.parts.append(ToolResult(call_id, None, result_parts(answer.get("content"))))
                case _:
                    draft.parts.append(block_part(block, origin))

    # The model

    def _from_model(self, laid: Laid) -> None:
        value = laid.record.value
        message = self._message_of(laid)
        model = text_or_none(message.get("model"))
        if model == SYNTHETIC_MODEL:
            self._said_for_model(laid, message)
            return
        reply_id = text_or_none(message.get("id"))
        reply = self._replies.get(reply_id) if reply_id else None
        if reply is None:
            reply = self._draft(laid, _ASSISTANT, _MODEL)
            reply.model = model
            reply.request_id = reply_id or text_or_none(value.get("requestId"))
            if reply_id:
                self._replies[reply_id] = reply
        else:
            reply.stands_also_at(laid)
        self._add_blocks(reply, message.get("content"))
        usage, wrong = usage_of_request(message.get("usage"))
        if wrong:
            self._wrong(laid, wrong)
        reply.usage = larger(reply.usage, usage)

    def _add_blocks(self, reply: _Draft, content: object) -> None:
        for block in blocks_of(content):
            match block:
                case {"type": "text", "text": str(text)}:
                    if text:
                        reply.parts.append(Text(text, _MODEL))
                case {"type": "thinking", "thinking": str(thought)}:
                    if thought:
                        reply.parts.append(Thought(thought))
                case {"type": "redacted_thinking"}:
                    # Nothing of it was shown to anybody.
                    continue
                case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "id": str(call_id)}:
                    reply.parts.append(self._call(reply, block, call_id))
                case {"tool_use_id": str(call_id)} if call_id in self._asked:
                    # What the provider's own tools answer stands in the reply itself.
                    continue
                case _:
                    reply.parts.append(block_part(block, _MODEL))

    def _call(self, reply: _Draft, block: dict[str, Any], call_id: str) -> AnyPart:
        found = self._answers.get(call_id)
        if found is None:
            return tool_call(block, None, None, self._children.get(call_id))
        if found.place != reply.source:
            reply.also_at[found.place] = None
        return tool_call(block, found.answer, found.at, self._children.get(call_id))

    def _said_for_model(self, laid: Laid, message: dict[str, Any]) -> None:
        """Add a text that Claude Code wrote as an answer: an API error, or that there was nothing to say.

        Releases 2.1, up to 2.1.150 at least, also write the beginning of a stopped answer in this way.
        """
        is_error = laid.record.value.get("isApiErrorMessage") is True
        origin = Origin.NOTICE if is_error else Origin.SYNTHETIC
        if not is_error and laid.record.value.get("uuid") in self._interrupted:
            said_by_program = plain_text(message.get("content")).strip() in _NOT_THE_MODELS
            origin = origin if said_by_program else _MODEL
        draft = self._draft(laid, Role.SYSTEM if is_error else _ASSISTANT, origin)
        draft.parts += (block_part(block, origin) for block in blocks_of(message.get("content")))
        draft.level = Level.ERROR if is_error else None

    # The human's place

    def _from_user(self, laid: Laid) -> None:
        value = laid.record.value
        content = self._message_of(laid).get("content")
        parts: list[AnyPart] = []
        if type(content) is list:
            parts, content = self._unasked(content)
            if not content and not parts:
                return
        words = said_by_user(value, content) if content is not None else Said((), Origin.INJECTED)
        if self._of_subagent:
            origin = Origin.SYNTHETIC if words.origin is Origin.HUMAN else words.origin
            words = Said(of_nobody(words.parts), origin)
        if words.origin is Origin.SHELL and self._goes_on_in_shell(laid, words):
            return
        if not parts and self._is_nothing_printed(laid, words):
            return
        draft = self._draft(laid, Role.USER, Origin.TOOL if parts and not words.parts else words.origin)
        draft.parts += (*parts, *words.parts)
        draft.level = _level_of(words) if draft.origin is Origin.NOTICE else None
        self._prompt = draft if draft.origin is Origin.HUMAN else self._prompt

    def _only_queued(self, laid: Laid) -> None:
        """Add a prompt that no other record holds."""
        words = queued(laid.record)
        draft = self._draft(laid, Role.USER, words.origin)
        draft.parts += words.parts
        draft.missing = MISSING

    def _unasked(self, content: list[Any]) -> tuple[list[AnyPart], list[Any]]:
        """Answers to calls that are nowhere, and the rest of a content without any answers."""
        parts: list[AnyPart] = []
        rest: list[Any] = []
        for block in content:
            match block:
                case {"tool_use_id": str(call_id)} if call_id in self._asked:
                    continue
                case {"tool_use_id": str(call_id), "content": answer}:
                    parts.append(ToolResult(call_id, None, result_parts(answer)))
                case {"type": "tool_result"}:
                    parts.append(Unrecognised(block))
                case _:
                    rest.append(block)
        return parts, rest

    def _goes_on_in_shell(self, laid: Laid, words: Said) -> bool:
        """Whether a line is what a command of the shell printed: it is one message with the command."""
        last = self._drafts[-1] if self._drafts else None
        if last is None or last.origin is not Origin.SHELL or last.fate.state is not laid.fate.state:
            return False
        if any(isinstance(part, Text) and part.origin is not Origin.SHELL for part in words.parts):
            return False
        last.parts += words.parts
        last.stands_also_at(laid)
        return True

    def _is_nothing_printed(self, laid: Laid, words: Said) -> bool:
        """Whether a line says that a command of the CLI printed nothing: then it belongs to the command."""
        last = self._drafts[-1] if self._drafts else None
        if words.parts or words.origin is not Origin.NOTICE or last is None:
            return False
        last.stands_also_at(laid)
        return True

    # What the CLI put in or told

    def _attached(self, laid: Laid) -> None:
        value = laid.record.value
        if why_silent("attachment", value):
            return
        prompt = self._prompt
        if prompt is not None and (file := referred_file(value, _human_words(prompt))):
            prompt.parts.append(file)
            prompt.stands_also_at(laid)
            return
        words = attached(value)
        # What a human typed while the model was at work may be handed to it as from the system.
        is_aside = words.origin is not Origin.HUMAN and value.get("renderedRole") == "system"
        role = Role.SYSTEM if is_aside or words.origin is Origin.NOTICE else Role.USER
        draft = self._draft(laid, role, words.origin)
        draft.parts += words.parts
        draft.level = Level.INFO if words.origin is Origin.NOTICE else None
        self._prompt = draft if words.origin is Origin.HUMAN else prompt

    def _noticed(self, laid: Laid) -> None:
        value = laid.record.value
        if why_silent("system", value):
            return
        content = value.get("content")
        if value.get("subtype") == "local_command" and isinstance(content, str):
            words = said(content)
            if self._is_nothing_printed(laid, words):
                return
            draft = self._draft(laid, Role.USER, words.origin)
            draft.parts += words.parts
        else:
            draft = self._draft(laid, Role.SYSTEM, Origin.NOTICE)
            draft.parts += _notice_parts(value, content)
        if draft.origin is Origin.NOTICE:
            level = value.get("level")
            draft.level = _LEVELS.get(level, Level.INFO) if isinstance(level, str) else Level.INFO

    # Common

    def _message_of(self, laid: Laid) -> dict[str, Any]:
        message = laid.record.value.get("message")
        if type(message) is dict:
            return message
        if message is not None or laid.record.complete:
            self._wrong(laid, f"message is a {type(message).__name__}")
        return {"content": message} if isinstance(message, str) else {}

    def _draft(self, laid: Laid, role: Role, origin: Origin) -> _Draft:
        value, place = laid.record.value, laid.record.place
        uuid = value.get("uuid")
        draft = _Draft(
            uuid if type(uuid) is str and uuid else f"line-{place.line}+{place.start}",
            role,
            origin,
            laid.fate,
            parse_time(value.get("timestamp")),
            [],
            place,
            dict.fromkeys(laid.copies),
        )
        self._drafts.append(draft)
        return draft

    def _wrong(self, laid: Laid, detail: str) -> None:
        place = laid.record.place
        problem = Problem(place.file, ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)
        self.problems.append(problem)


def _level_of(words: Said) -> Level:
    """How grave a notice in the human's place is: that the model was stopped belongs to the story."""
    is_stop = any(isinstance(part, Text) and part.text.startswith(STOPPED) for part in words.parts)
    return Level.WARNING if is_stop else Level.INFO


def _human_words(draft: _Draft) -> str:
    return "\n".join(
        part.text for part in draft.parts if isinstance(part, Text | FileReference) and part.text
    )


def _notice_parts(value: dict[str, Any], content: object) -> Iterable[AnyPart]:
    """What a `system` line tells: its words, or what went wrong."""
    parts: list[AnyPart] = [block_part(block, Origin.NOTICE) for block in blocks_of(content)]
    match value:
        case {"hookErrors": [_, *_] as errors}:
            parts += (Text(error, Origin.NOTICE) for error in errors if isinstance(error, str))
        case {"error": dict(error)}:
            words = text_or_none(error.get("message")) or text_or_none(error.get("formatted"))
            nested = text_or_none(object_or_empty(error.get("error")).get("message"))
            parts += (Text(text, Origin.NOTICE) for text in (words or nested,) if text)
    return parts or [Unrecognised({"subtype": value.get("subtype")})]
