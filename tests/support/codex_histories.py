"""What Codex sends when it goes on with a session, and what our messages say it would send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from geminids.agents.codex.read.injected import origin_of
from geminids.core.model import Attachment, Message, Origin, Session, State, Text, ToolCall

Said = tuple[str, str]
_OWN_COMMAND = re.compile(
    r"<user_shell_command>\n<command>\n(?P<command>.*)\n</command>\n<result>\nExit code: (?P<code>\d+)\n"
    r"Duration: [\d.]+ seconds\nOutput:\n(?P<output>.*)\n</result>\n</user_shell_command>",
    re.DOTALL,
)


def sent(items: Iterable[dict[str, Any]]) -> list[Said]:
    """The items of a request, without the context that the program puts in."""
    return [said for item in items for said in _sent(item)]


def _sent(item: dict[str, Any]) -> Iterator[Said]:
    match item:
        case {"type": "message", "role": "assistant", "content": list(content)}:
            yield "model", "".join(piece.get("text", "") for piece in content)
        case {"type": "message", "role": "user", "content": list(content)}:
            texts = [piece["text"] for piece in content if "text" in piece]
            if any(origin_of(text) is not Origin.INJECTED for text in texts):
                yield "user", _without_wrapping("".join(texts))
            for piece in content:
                if "image_url" in piece:
                    yield "picture", piece["image_url"].partition(",")[2]
        case {"type": "function_call" | "custom_tool_call", "call_id": call_id, "name": name}:
            yield "call", f"{call_id} {name}"
        case {"type": "local_shell_call" | "web_search_call"}:
            yield "call", f"{item.get('call_id') or item.get('id')} {item['type'].removesuffix('_call')}"


def _without_wrapping(text: str) -> str:
    """A command that the human ran and what it printed, as our messages tell them: one behind the other."""
    run = _OWN_COMMAND.fullmatch(text)
    if run is None:
        return text
    code = "" if run["code"] == "0" else f"\nExit code: {run['code']}"
    return run["command"] + (run["output"].rstrip() if code else run["output"]) + code


def outputs_sent(items: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The outputs in a request, by the ids of their calls."""
    return {
        item["call_id"]: _output(item["output"])
        for item in items
        if item["type"] in ("function_call_output", "custom_tool_call_output")
    }


def _output(output: Any) -> str:
    if isinstance(output, list):
        return "\n".join(piece.get("text") or piece["image_url"].partition(",")[2] for piece in output)
    if output.startswith(('{"output":', '[{"type"')):
        inner = json.loads(output)
        return str(inner["output"]) if isinstance(inner, dict) else _output(inner)
    return str(output)


def current(session: Session) -> list[Message]:
    """The messages that the agent still sees."""
    return [message for message in session.messages if message.state is State.CURRENT]


def told(session: Session) -> list[Said]:
    """The same as `sent`, from our messages."""
    return [said for message in current(session) for said in _told(message)]


def _told(message: Message) -> Iterator[Said]:
    pictures = [part for part in message.parts if isinstance(part, Attachment)]
    if message.origin is Origin.MODEL:
        for part in message.parts:
            if isinstance(part, Text):
                yield "model", part.text
            elif isinstance(part, ToolCall):
                yield "call", f"{part.call_id} {part.name}"
    elif message.origin in (Origin.HUMAN, Origin.SHELL, Origin.SYNTHETIC):
        yield "user", "".join(part.text for part in message.parts if isinstance(part, Text))
    if message.origin is not Origin.MODEL:
        yield from (("picture", picture.data or "") for picture in pictures)


def outputs_told(session: Session) -> dict[str, str]:
    """The same as `outputs_sent`, from our messages."""
    calls = [call for message in current(session) for call in message.tool_calls]
    return {call.call_id or "": "\n".join(_result_text(part) for part in call.result) for call in calls}


def _result_text(part: Any) -> str:
    return part.text if isinstance(part, Text) else part.data or ""


def without_bridge(items: list[Said], ours: list[Said]) -> list[Said]:
    """What was sent, where 0.44 puts all prompts and the summary of a compaction into one message."""
    if not items or not items[0][1].startswith("You were originally given instructions"):
        return items
    inside = [said for said in ours if said[0] == "user" and said[1] in items[0][1]]
    return inside + items[1:]
