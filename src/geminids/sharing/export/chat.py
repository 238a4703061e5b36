"""`chat`: messages as chat APIs and fine-tuning take them, one session a line.

    {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": null, "tool_calls": […]},
                  {"role": "tool", "tool_call_id": "…", "content": "…"}, …],
     "tools": [{"type": "function", "function": {"name": "…", "parameters": {…}}}, …]}

A line holds what a model would see if the session went on: turns that were rewound, failed or cancelled are
not in it, and in the place of turns that were compressed stands their summary. Only the level `everything`
also holds what was dropped, each with its `state`, and notices as system messages. Thoughts are
`reasoning_content`, a key that trainers know and the API does not, so they are written only at the levels
that tell thoughts.

What agents do not record is not made up: there is no system message, and `tools` has the functions that
were called, with the arguments they were called with. An API wants an answer to every call; where none was
recorded, the answer says so in brackets. There is no place for times, tokens, models and the names of
messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from geminids.core.model import AnyPart, Attachment, Message, Origin, Role, Session, State, Text, ToolCall
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode, encode_harmless
from geminids.sharing.export.dialogue import answer_to, each_call_once, known, reasoning_of, words_of
from geminids.sharing.transcript.entries import Detail
from geminids.sharing.transcript.visible import visible_session

PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
"""The pictures that the API takes; all else is named in words."""
JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


class Chat(PlainFormat):
    """One line a session, in the shape of chat completions."""

    name = "chat"
    title = "Chat messages (JSONL)"
    summary = "Messages for chat APIs and fine-tuning, one session per line."
    suffix = ".jsonl"
    holds_many = True
    level = "tools"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """A line for each session, also for one in which nothing was said."""
        for session in sessions:
            seen = _seen(each_call_once(session), manner.detail)
            messages = [written for message in seen for written in _written(message, manner.detail)]
            calls = [call for message in seen for call in message.tool_calls]
            yield encode_harmless({"messages": messages} | known(tools=_tools(calls))) + b"\n"


def _seen(session: Session, detail: Detail) -> list[Message]:
    """The messages that a model would see now; with everything, also those that it no longer sees."""
    if detail.everything:
        return list(session.messages)
    visible = visible_session(_with_summaries(session), detail)
    return [m for m in visible.messages if m.state is State.CURRENT and m.origin is not Origin.NOTICE]


def _with_summaries(session: Session) -> Session:
    """The session in which summaries stand in the place of the turns they were made of, and are told.

    An agent writes a summary after the turns that it kept as they were, but the model sees it before them.
    """
    compressed = [message for message in session.messages if message.state is State.COMPRESSED]
    dropped_by = {(m.dropped_by.file, m.dropped_by.start) for m in compressed if m.dropped_by}
    summaries = [message for message in session.messages if _is_summary(message, dropped_by)]
    if not summaries:
        return session
    others = [message for message in session.messages if not _is_summary(message, dropped_by)]
    place = others.index(compressed[0])
    messages = (*others[:place], *map(_as_models_words, summaries), *others[place:])
    return msgspec.structs.replace(session, messages=messages)


def _is_summary(message: Message, dropped_by: set[tuple[str, int]]) -> bool:
    """Whether a message came with the record that took other messages out of the agent's view."""
    if message.state is not State.CURRENT or message.origin is not Origin.SYNTHETIC:
        return False
    return (message.source.file, message.source.start) in dropped_by


def _as_models_words(message: Message) -> Message:
    """A summary as what it is, words of a model, which every level tells that tells replies."""
    parts = tuple(Text(part.text, Origin.MODEL) if isinstance(part, Text) else part for part in message.parts)
    return msgspec.structs.replace(message, origin=Origin.MODEL, parts=parts)


def _written(message: Message, detail: Detail) -> Iterator[dict[str, Any]]:
    """A message and, directly after it, the answers to its calls."""
    state = {} if message.state is State.CURRENT else {"state": message.state}
    match message.role:
        case Role.ASSISTANT:
            yield from (reply | state for reply in _reply(message))
            for call in message.tool_calls:
                yield {
                    "role": "tool",
                    "tool_call_id": call.call_id,
                    "content": answer_to(call, detail),
                } | state
        case _:
            if content := _content(message):
                yield {"role": message.role, "content": content} | state


def _reply(message: Message) -> Iterator[dict[str, Any]]:
    calls = [_call(call) for call in message.tool_calls]
    words, thoughts = words_of(message.parts), reasoning_of(message.parts)
    if words or thoughts or calls:
        content = words or (None if calls else "")
        yield {"role": "assistant", "content": content} | known(reasoning_content=thoughts, tool_calls=calls)


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": encode(call.arguments).decode()}
    return {"id": call.call_id, "type": "function", "function": function}


def _content(message: Message) -> str | list[dict[str, Any]]:
    """Words, or words and pictures: only a user's message may hold pictures."""
    if message.role is not Role.USER or not any(map(_picture_address, message.parts)):
        return words_of(message.parts)
    content: list[dict[str, Any]] = []
    for address, parts in groupby(message.parts, key=_picture_address):
        if address:
            content += ({"type": "image_url", "image_url": {"url": address}} for _ in parts)
        elif words := words_of(parts):
            content.append({"type": "text", "text": words})
    return content


def _picture_address(part: AnyPart) -> str | None:
    """The address of a picture that the API can load; the bytes themselves are an address, too."""
    match part:
        case Attachment(mime_type=str(kind), data=str(data)) if kind in PICTURES:
            return f"data:{kind};base64,{data}"
        case Attachment(mime_type=str(kind), uri=str(uri)) if kind in PICTURES and uri.startswith("https://"):
            return uri
        case _:
            return None


def _tools(calls: Iterable[ToolCall]) -> list[dict[str, Any]]:
    """The functions that were called, as far as the calls show what they take."""
    seen: dict[str, dict[str, set[str]]] = {}
    for call in calls:
        arguments = seen.setdefault(call.name, {})
        for name, value in call.arguments.items():
            arguments.setdefault(name, set()).add(JSON_TYPES.get(type(value), "object"))
    return [{"type": "function", "function": _function(name, seen[name])} for name in seen]


def _function(name: str, arguments: dict[str, set[str]]) -> dict[str, Any]:
    properties = {
        argument: {"type": next(iter(types))} if len(types) == 1 else {}
        for argument, types in arguments.items()
    }
    return {"name": name, "parameters": {"type": "object", "properties": properties}}
