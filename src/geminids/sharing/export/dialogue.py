"""What the interchange formats share: a session as a model, its tools and their callers exchanged it.

These formats know one call with one answer. An agent may write a call several times, without an id, and its
answer once more as a message; here each call stands once, under an id of its own, and its answer with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Message,
    Origin,
    ResultPart,
    Session,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
    Usage,
)
from geminids.sharing.export.data import encode
from geminids.sharing.transcript import words
from geminids.sharing.transcript.call_summary import output_text
from geminids.sharing.transcript.entries import Detail
from geminids.sharing.transcript.labels import call_trouble

LEFT_OUT = "(the result is left out)"
_NOTHING: tuple[Any, ...] = (None, "", [], {}, ())


def each_call_once(session: Session) -> Session:
    """The session in which every call has an id that no other has, and no message only repeats results."""
    called = {call.call_id for message in session.messages for call in message.tool_calls}
    taken: set[str] = set()
    messages: list[Message] = []
    for message in session.messages:
        visible = (
            part for part in message.parts if not (isinstance(part, ToolResult) and part.call_id in called)
        )
        parts = tuple(
            _with_own_id(part, taken, (session.id, message.id, str(place)))
            if isinstance(part, ToolCall)
            else part
            for place, part in enumerate(visible)
        )
        if parts or not message.parts:
            messages.append(msgspec.structs.replace(message, parts=parts))
    return msgspec.structs.replace(session, messages=tuple(messages))


def derived_id(*names: str) -> str:
    """An id made of names: 64 hexadecimal digits, the same whenever the names are."""
    return hashlib.sha256("\0".join(names).encode(errors="surrogatepass")).hexdigest()


def words_of(parts: Iterable[AnyPart]) -> str:
    """What a message says: all but its thoughts and calls, a blank line between the pieces."""
    return "\n\n".join(filter(None, map(part_words, parts)))


def part_words(part: AnyPart) -> str:
    """A piece of a message in words; what has none is named in brackets."""
    match part:
        case Text(text=text):
            return text
        case FileReference(path=path, text=None):
            return f"[file: {path}]"
        case FileReference(path=path, text=text):
            return f"Content of {path}:\n{text}"
        case Attachment():
            return _attachment_words(part)
        case ToolResult(name=name, parts=parts):
            return f"[result of {name or 'a tool'}]\n{_result_words(parts)}"
        case Unrecognised(raw=raw):
            return encode(raw).decode()
        case Thought() | ToolCall():
            return ""


def reasoning_of(parts: Iterable[AnyPart]) -> str:
    """What the model thought, each thought after its subject."""
    thoughts = (part for part in parts if isinstance(part, Thought))
    return "\n\n".join(": ".join(filter(None, (thought.subject, thought.text))) for thought in thoughts)


def result_of(call: ToolCall) -> str | None:
    """What came back from a call: what the model got, else what the human saw; None if nothing is known."""
    if call.result:
        return _result_words(call.result)
    return output_text(call) or None


def answer_to(call: ToolCall, detail: Detail) -> str:
    """What came back from a call, for formats in which every call has an answer: a missing one says so."""
    result = result_of(call)
    if result is not None:
        return result
    if not detail.tools:
        return LEFT_OUT
    trouble = call_trouble(call)
    return f"(no result was recorded: {trouble})" if trouble else "(no result was recorded)"


def origins_of(message: Message) -> list[Origin]:
    """Who made each piece of a message, where not all of it is by one."""
    made_by = [part.origin for part in message.parts if isinstance(part, Text | Attachment)]
    return made_by if len(set(made_by)) > 1 else []


def prompt_tokens(usage: Usage) -> int | None:
    """Tokens that went to the model: cached ones are part of the input, prompts for tools come on top."""
    return _sum(usage.input, usage.tool)


def completion_tokens(usage: Usage) -> int | None:
    """Tokens that the model made: these formats count thoughts as output."""
    return _sum(usage.output, usage.thoughts)


def known(**fields: Any) -> dict[str, Any]:
    """The fields that have a value. Nobody recorded the others, which no reader should take for a fact."""
    return {name: value for name, value in fields.items() if value not in _NOTHING}


def _with_own_id(call: ToolCall, taken: set[str], names: tuple[str, ...]) -> ToolCall:
    own_id = call.call_id
    while not own_id or own_id in taken:
        own_id = f"call_{derived_id(*names)[:24]}"
        names = (*names, "again")
    taken.add(own_id)
    return call if own_id == call.call_id else msgspec.structs.replace(call, call_id=own_id)


def _attachment_words(attachment: Attachment) -> str:
    kind = attachment.mime_type or "of unknown kind"
    match attachment:
        case Attachment(data=str(data)):
            # Three bytes are four letters.
            return f"[attachment: {kind}, {words.size(len(data) * 3 // 4)}]"
        case Attachment(uri=str(uri)):
            return f"[attachment: {kind}, {uri}]"
        case _:
            return f"[attachment: {kind}, not recorded]"


def _result_words(parts: Iterable[ResultPart]) -> str:
    return "\n".join(map(part_words, parts))


def _sum(*numbers: int | None) -> int | None:
    counted = [number for number in numbers if number is not None]
    return sum(counted) if counted else None
