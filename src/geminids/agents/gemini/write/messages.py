"""Messages as Gemini CLI records them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import msgspec

from geminids.agents.gemini.own_words import whose_words
from geminids.agents.gemini.phrases import GO_ON
from geminids.agents.gemini.read.content import as_one_text
from geminids.agents.gemini.write.calls import answer_piece, call_record, has_failed
from geminids.agents.gemini.write.content import (
    Piece,
    has_place,
    piece_of,
    pieces_beside_answers,
    pieces_of,
    sent_pieces,
    unknown_fields,
)
from geminids.agents.gemini.write.names import moment
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Message,
    Origin,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
    Usage,
)

_FIELDS = frozenset({"id", "timestamp", "type", "content", "displayContent"}) | {
    *("model", "thoughts", "tokens", "toolCalls")
}
_MARKED = lazy_pattern(r"\s*<hook_context>|User (?:steering update|hints):")
"""How texts begin in which the agent marks what is not the human's."""


_EXPANDED = frozenset({Origin.COMMAND, Origin.INJECTED})


class _Prompt(NamedTuple):
    """What a human typed, and what the agent made of it."""

    typed: str
    sent: str


class MessageWriter:
    """Writes the messages of one session, in order."""

    def __init__(self, messages: Sequence[Message], *, of_subagent: bool) -> None:
        self._of_subagent = of_subagent
        self._failed = {own_id: has_failed(call) for m in messages for own_id, call in _calls(m)}
        self._prompt: _Prompt | None = None
        """The last words of the human."""
        self._ids: set[str] = set()
        self._unanswered: dict[str, list[str]] = {}
        """The ids that calls without one were given, by the names of their tools."""

    def record(self, message: Message) -> dict[str, Any]:
        """One message."""
        if len(message.parts) > 1:
            message = msgspec.structs.replace(message, parts=tuple(as_one_text(message.parts)))
        match message.role:
            case Role.USER:
                native_type, said = "user", self._sent(message)
            case Role.ASSISTANT:
                native_type, said = "gemini", self._answered(message)
            case Role.SYSTEM:
                native_type, said = str(message.level or Level.INFO), {"content": _short(message.parts)}
        own_id = _not_among(self._ids, message.id or "message")
        self._ids.add(own_id)
        about = {"id": own_id, "timestamp": moment(message.at), "type": native_type}
        known = {name: value for name, value in (about | said).items() if value is not None}
        return known | unknown_fields(_unnamed(message), _is_known)

    def _sent(self, message: Message) -> dict[str, Any]:
        """What stands in the human's place, and what the human typed where that is something else."""
        parts = message.parts
        if any(isinstance(part, ToolResult) for part in parts):
            return {"content": list(self._tool_turn(parts))}
        # What leaves nothing parted them: they are read as one.
        parts = tuple(as_one_text(filter(has_place, parts)))
        typed, sent = _typed_and_sent(parts)
        if typed is None and _is_made_up(parts):
            typed = self._repeated("\n".join(part.text for part in parts if isinstance(part, Text)))
        if not (typed and _is_made_up(parts)):
            self._prompt = _prompt_of(parts, typed) or self._prompt
        return {"content": sent_pieces(sent), "displayContent": [{"text": typed}] if typed else None}

    def _repeated(self, words: str) -> str | None:
        """What the agent shows for words it made up: the last prompt. That is how they are recognised."""
        last = self._prompt
        if self._of_subagent or last is None or last.typed.strip() in ("", words.strip()):
            return None
        is_another = last.typed.strip() not in words and last.sent.strip() != words.strip()
        return last.typed if words.strip() == GO_ON or is_another else None

    def _tool_turn(self, parts: Sequence[AnyPart]) -> Iterator[Piece]:
        for is_answer, some in groupby(parts, key=lambda part: isinstance(part, ToolResult)):
            if is_answer:
                yield from (self._answer(part) for part in some if isinstance(part, ToolResult))
            else:
                yield from pieces_beside_answers(list(some))

    def _answer(self, answer: ToolResult) -> Piece:
        call_id = answer.call_id
        if not call_id and (given := self._unanswered.get(answer.name or "")):
            call_id = given.pop(0)
        return answer_piece(answer, call_id, failed=self._failed.get(call_id or "", False))

    def _answered(self, message: Message) -> dict[str, Any]:
        return {
            "content": _short(message.parts),
            "thoughts": list(_thoughts(message.parts)) or None,
            "tokens": _tokens(message.usage) if message.usage else None,
            "model": message.model,
            "toolCalls": list(self._recorded(message)) or None,
        }

    def _recorded(self, message: Message) -> Iterator[dict[str, Any]]:
        for own_id, call in _calls(message):
            if not call.call_id:
                self._unanswered.setdefault(call.name, []).append(own_id)
            yield call_record(call, own_id)


def _calls(message: Message) -> Iterator[tuple[str, ToolCall]]:
    """The calls of a message, each with an id of its own: the agent ties answers to them."""
    ids: set[str] = set()
    for number, call in enumerate(message.tool_calls, 1):
        own_id = _not_among(ids, call.call_id or f"{call.name}-{message.id}-{number}")
        ids.add(own_id)
        yield own_id, call


def _not_among(taken: Collection[str], wanted: str) -> str:
    """The wanted id, or one like it that is not taken."""
    own_id, number = wanted, 1
    while own_id in taken:
        number += 1
        own_id = f"{wanted}~{number}"
    return own_id


def _typed_and_sent(parts: tuple[AnyPart, ...]) -> tuple[str | None, tuple[AnyPart, ...]]:
    """What the human typed, where something else was sent for it, and what was sent."""
    match parts:
        case (Text(text=typed, origin=Origin.HUMAN), Text(origin=Origin.COMMAND), *_) if _is_command(typed):
            return typed, parts[1:]
        case (
            Text(text=typed, origin=Origin.HUMAN),
            Text(origin=Origin.INJECTED),
            Text(origin=Origin.SHELL),
        ):
            return typed, parts[1:]
        case (Text(text=typed, origin=Origin.HUMAN), Text(text=sent, origin=Origin.INJECTED), *rest) if (
            _names_the_same(typed, sent) and _has_files(rest)
        ):
            return typed, parts[1:]
        case (Text(text=typed), *rest) if rest and _are_all_files(rest) and not _shows_its_maker(typed):
            return (typed if _has_files(rest) or "@" in typed else None), parts
        case _:
            return None, parts


def _is_command(typed: str) -> bool:
    return typed.lstrip().startswith("/")


def _names_the_same(typed: str, sent: str) -> bool:
    """Whether both are the same prompt, with a path spelled out in one of them."""
    before, at, _ = typed.partition("@")
    return bool(at) and sent.startswith(before + at) and not _shows_its_maker(sent)


def _has_files(parts: Sequence[AnyPart]) -> bool:
    return any(isinstance(part, FileReference) for part in parts)


def _are_all_files(parts: Sequence[AnyPart]) -> bool:
    return all(isinstance(part, FileReference | Attachment) for part in parts)


def _prompt_of(parts: Sequence[AnyPart], typed: str | None) -> _Prompt | None:
    """What a reader takes for the human's words in a message, and for what was sent for them."""
    words = [part for part in parts if isinstance(part, Text) and part.origin is not Origin.SHELL]
    human = [typed] if typed else [part.text for part in words if not _shows_its_maker(part.text)]
    sent = [part.text for part in words if part.text not in human and part.origin in _EXPANDED]
    return _Prompt("\n".join(human), "\n".join(sent or human)) if human else None


def _is_made_up(parts: Sequence[AnyPart]) -> bool:
    """Whether all words are the agent's own, and nothing but what was typed before shows it."""
    words = [part for part in parts if isinstance(part, Text) and part.origin is Origin.SYNTHETIC]
    return bool(words) and len(words) == len(parts) and not any(_shows_its_maker(part.text) for part in words)


def _shows_its_maker(text: str) -> bool:
    """Whether a text shows by itself that no human typed it."""
    return whose_words(text) is not Origin.HUMAN or _MARKED.match(text) is not None


def _short(parts: Sequence[AnyPart]) -> str | list[Piece]:
    """A content: one text as it is, more as a list. Neighbouring texts are one, as a reader takes them."""
    joined: list[Piece] = []
    for piece in pieces_of(parts):
        if joined and joined[-1].keys() == piece.keys() == {"text"}:
            joined[-1] = {"text": joined[-1]["text"] + piece["text"]}
        else:
            joined.append(piece)
    match joined:
        case []:
            return ""
        case [{"text": str(text), **rest}] if not rest:
            return text
        case pieces:
            return pieces


def _thoughts(parts: Sequence[AnyPart]) -> Iterator[dict[str, Any]]:
    """What the model thought; a thought without words is none."""
    for part, after in pairwise((*parts, None)):
        if isinstance(part, Thought):
            if isinstance(after, Unrecognised) and _is_as_written(part, after):
                yield after.raw
            elif part.text or part.subject:
                at = {"timestamp": moment(part.at)} if part.at else {}
                yield {"subject": part.subject, "description": part.text} | at


def _is_as_written(thought: Thought, after: Unrecognised) -> bool:
    """Whether what follows a thought is the same with more to it than we have names for."""
    fields = after.raw.keys() if isinstance(after.raw, dict) else None
    is_nameless = not thought.text and not thought.subject
    return fields is not None and (is_nameless or not fields.isdisjoint({"subject", "description"}))


def _unnamed(message: Message) -> Iterator[AnyPart]:
    """What has no other place than beside the message; a thought as it was stands among the thoughts."""
    for before, part in pairwise((None, *message.parts)):
        if isinstance(part, Unrecognised) and piece_of(part) is None:
            is_written = isinstance(before, Thought) and _is_as_written(before, part)
            if not is_written:
                yield part


def _is_known(name: str) -> bool:
    """Whether a field of a message means something to the agent."""
    return name in _FIELDS or name.startswith("$")


def _tokens(usage: Usage) -> Mapping[str, int] | None:
    counted = {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "thoughts": usage.thoughts,
        "tool": usage.tool,
        "total": usage.total if usage.reported_total is None else usage.reported_total,
    }
    known = {name: number for name, number in counted.items() if number is not None}
    if "total" not in known and not known.keys() <= {"cached"}:
        known["total"] = sum(number for name, number in known.items() if name != "cached")
    return known or None
