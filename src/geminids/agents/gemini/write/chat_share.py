"""A conversation as Gemini CLI itself shares it (`/chat share FILE.md`).

    ## USER 🧑‍💻

    <the texts of the turn, put together without anything between them>

    ---

    ## MODEL ✨

    Let me look.**Tool Command**:
    ```json
    {…}
    ```

Nothing in a text is escaped there, and neither is it here: only what steers a terminal is made harmless. The
shape has no place for notices, thoughts, pictures, turns that were taken back and what only the log of what
was typed has. A turn that follows one of the same side joins it only behind the CLI's own texts, as there;
two prompts in a row, which the CLI would put together without a blank, stay apart. Seen with 0.61.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from geminids.agents.gemini.phrases import FILES_BEGIN, FILES_END
from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Message,
    Origin,
    ResultPart,
    Role,
    Session,
    State,
    Text,
    ToolCall,
    ToolStatus,
    Unrecognised,
)
from geminids.sharing.export.base import encoded
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.transcript import safe

USER = "## USER 🧑‍💻"
MODEL = "## MODEL ✨"
DIVIDER = b"\n\n---\n\n"
LEFT_OUT = {State.REWOUND, State.SUPERSEDED, State.UNRECORDED}
"""Turns in place of which there are others, and what the session does not hold, such as commands to the CLI
itself: the shape could not tell them from the rest."""

_SHELL = (
    "I ran the following shell command:\n```sh\n{}\n```\n\nThis produced the following result:\n```\n{}\n```"
)


def shared(sessions: Iterable[Session]) -> Iterator[bytes]:
    """The file. The shape knows one conversation: several read as one."""
    gap = b""
    for session in sessions:
        for heading, text in _turns(session):
            yield gap + encoded(f"{heading}\n\n{text}")
            gap = DIVIDER


def _turns(session: Session) -> Iterator[tuple[str, str]]:
    """Heading and text of each turn; what the CLI put in goes with what follows on the same side."""
    opening = ""
    for message in session.messages:
        if message.state in LEFT_OUT:
            continue
        text = _text(message)
        if message.role is Role.USER and text:
            if _is_the_clis(message):
                opening += text
            else:
                yield USER, opening + text
                opening = ""
        elif message.role is Role.ASSISTANT:
            if opening:
                yield USER, opening
                opening = ""
            yield from _model_turns(message, text)
    if opening:
        yield USER, opening


def _model_turns(message: Message, text: str) -> Iterator[tuple[str, str]]:
    """What the model said and asked for, and the answers of tools."""
    calls = message.tool_calls
    asked = text + "".join(_block("Command", _asked(call)) for call in calls)
    if asked:
        yield MODEL, asked
    answers = [_block("Response", _answered(call)) for call in calls if call.result]
    if answers:
        yield USER, "".join(answers)


def _is_the_clis(message: Message) -> bool:
    """Whether a turn is a text of the CLI that shows by itself where it ends."""
    return message.origin is Origin.SHELL or (
        message.origin is Origin.INJECTED and _text(message).endswith("\n</session_context>")
    )


def _text(message: Message) -> str:
    """The texts of a message as they were sent."""
    match message:
        case Message(
            origin=Origin.SHELL, parts=(*_, Text(text=command), Text(text=output, origin=Origin.SHELL))
        ):
            # What was typed stands before it, where the CLI sent it in another spelling.
            return safe.text(_SHELL.format(command, output))
        case Message(origin=Origin.COMMAND) if message.text(Origin.COMMAND):
            # What the human typed was never sent.
            return safe.text(message.text(Origin.COMMAND))
        case Message(origin=Origin.NOTICE):
            return ""
        case _:
            return safe.text("".join(_texts(message.parts)))


def _texts(parts: Sequence[AnyPart]) -> Iterator[str]:
    files = [part for part in parts if isinstance(part, FileReference)]
    for part in parts:
        if isinstance(part, Text) and part.origin is not Origin.TOOL:
            yield part.text
        elif files and part is files[0]:
            yield FILES_BEGIN
            for file in files:
                yield f"\nContent from @{file.path}:\n{file.text or ''}"
            yield FILES_END


def _asked(call: ToolCall) -> dict[str, Any]:
    named = {"name": call.name, "args": call.arguments}
    return named | {"id": call.call_id} if call.call_id is not None else named


def _answered(call: ToolCall) -> dict[str, Any]:
    named = {"id": call.call_id} if call.call_id is not None else {}
    words = "error" if call.status is ToolStatus.ERROR or call.status is ToolStatus.CANCELLED else "output"
    answer: dict[str, Any] = {"name": call.name, "response": _response(call.result, words)}
    media = [_media(part) for part in call.result if isinstance(part, Attachment)]
    return named | answer | ({"parts": media} if media else {})


def _response(parts: Sequence[ResultPart], words: str) -> dict[str, Any]:
    texts = [part.text for part in parts if isinstance(part, Text)]
    response: dict[str, Any] = {words: "\n".join(texts)} if texts else {}
    for part in parts:
        if isinstance(part, Unrecognised) and isinstance(part.raw, dict):
            response |= part.raw
    return response


def _media(attachment: Attachment) -> dict[str, Any]:
    if attachment.data is None:
        return {"fileData": {"mimeType": attachment.mime_type, "fileUri": attachment.uri}}
    return {"inlineData": {"mimeType": attachment.mime_type, "data": attachment.data}}


def _block(title: str, value: dict[str, Any]) -> str:
    json_text = msgspec.json.format(encode_harmless(value), indent=2).decode()
    return f"**Tool {title}**:\n```json\n{json_text}\n```"
