"""Content as Gemini CLI stores it: a string, a part, or a list of parts and strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from geminids.core.model import AnyPart, Attachment, Origin, ResultPart, Text, ToolResult, Unrecognised
from geminids.reading.shapes import text_or_none

__all__ = [
    "as_one_text",
    "parts_of",
    "plain_text",
    "response_parts",
    "result_part",
    "text_or_none",
    "texts_of",
    "tool_result",
]

_WORDS = frozenset({"output", "error"})
_TOOL = Origin.TOOL
"""Under a name that Python looks up faster: every answer of a tool has it."""


def parts_of(content: object) -> list[Any]:
    """The pieces of a content, whatever its form; an empty text is no piece."""
    if isinstance(content, str):
        return [{"text": content}] if content else []
    if isinstance(content, list):
        return [{"text": part} if isinstance(part, str) else part for part in content]
    return [] if content is None else [content]


def texts_of(content: object) -> Iterator[str]:
    """The words of a content, thoughts left out."""
    for part in parts_of(content):
        match part:
            case {"thought": True}:
                continue
            case {"text": str(text)}:
                yield text


def plain_text(content: object) -> str:
    """The words of a content in one piece."""
    return content if isinstance(content, str) else "".join(texts_of(content))


def as_one_text(parts: Iterable[AnyPart]) -> Iterator[AnyPart]:
    """The same parts, neighbouring texts of one origin as one, which is how the CLI tells them."""
    text: Text | None = None
    for part in parts:
        if type(part) is Text and text is not None and part.origin is text.origin:
            text = Text(text.text + part.text, text.origin)
            continue
        if text is not None:
            yield text
        text = part if type(part) is Text else None
        if text is None:
            yield part
    if text is not None:
        yield text


def result_part(part: object, origin: Origin = Origin.TOOL) -> ResultPart:
    """A piece that is no call, no response and no thought."""
    match part:
        case {"text": str(text)}:
            return Text(text, origin)
        case {"inlineData": {"data": str(data), "mimeType": str(mime_type)}}:
            return Attachment(mime_type, data, origin=origin)
        case {"fileData": {"fileUri": str(uri), **about}}:
            mime = about.get("mimeType")
            return Attachment(mime if isinstance(mime, str) else None, uri=uri, origin=origin)
        case _:
            return Unrecognised(part)


def response_parts(response: dict[str, Any]) -> tuple[ResultPart, ...]:
    """What a `functionResponse` answers: its output, its error, and the media beside them."""
    answer, media = response.get("response"), response.get("parts")
    output = answer.get("output") if type(answer) is dict and len(answer) == 1 else None
    # Nearly every answer is an output and nothing else.
    parts = (Text(output, _TOOL),) if type(output) is str else tuple(_answer_parts(answer))
    return (*parts, *map(result_part, media)) if isinstance(media, list) else parts


def _answer_parts(answer: object) -> Iterator[ResultPart]:
    match answer:
        case dict():
            for name, value in answer.items():
                if type(value) is str and name in _WORDS:
                    yield Text(value, Origin.TOOL)
                elif type(value) is list and name == "content":
                    yield from (result_part(_as_part(block)) for block in value)
                else:
                    yield Unrecognised({name: value})
        case str():
            yield Text(answer, Origin.TOOL)
        case None:
            return
        case _:
            yield Unrecognised(answer)


def _as_part(block: object) -> object:
    """A block of the Model Context Protocol as a part of ours."""
    match block:
        case {"type": "text", "text": str(text)}:
            return {"text": text}
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(mime_type)}:
            return {"inlineData": {"data": data, "mimeType": mime_type}}
        case _:
            return block


def tool_result(response: dict[str, Any]) -> ToolResult:
    """A tool's answer that stands in a message of its own."""
    call_id, name = text_or_none(response.get("id")), text_or_none(response.get("name"))
    return ToolResult(call_id, name, response_parts(response))
