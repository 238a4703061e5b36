"""Content as Claude Code stores it: a string, or a list of blocks as the provider's API has them."""

from __future__ import annotations

from typing import Any

from geminids.core.model import Attachment, Origin, ResultPart, Text, Unrecognised
from geminids.reading.shapes import text_or_none

__all__ = ["block_part", "blocks_of", "object_or_empty", "plain_text", "result_parts", "text_or_none"]

_TOOL = Origin.TOOL
"""Under a name that Python looks up faster: every answer of a tool has it."""


def object_or_empty(value: object) -> dict[str, Any]:
    """The value if it is an object."""
    return value if type(value) is dict else {}


def blocks_of(content: object) -> list[Any]:
    """The blocks of a content, whatever its form; an empty text is no block."""
    if type(content) is list:
        return content
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [] if content is None else [content]


def plain_text(content: object) -> str:
    """The words of a content in one piece."""
    if isinstance(content, str):
        return content
    texts = (object_or_empty(block).get("text") for block in blocks_of(content))
    return "\n".join(text for text in texts if isinstance(text, str))


def result_parts(content: object) -> tuple[ResultPart, ...]:
    """What a tool answered."""
    if type(content) is str:
        return (Text(content, _TOOL),) if content else ()
    return tuple(block_part(block, _TOOL) for block in blocks_of(content))


def block_part(block: object, origin: Origin) -> ResultPart:
    """A block that is no call, no answer and no thought."""
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text, origin)
        case {"type": "image" | "document", "source": dict(source)}:
            return _attachment(source, origin) or Unrecognised(block)
        case str(text):
            return Text(text, origin)
        case _:
            return Unrecognised(block)


def _attachment(source: dict[str, Any], origin: Origin) -> Text | Attachment | None:
    mime_type = text_or_none(source.get("media_type"))
    match source:
        case {"type": "text", "data": str(text)}:
            return Text(text, origin)
        case {"data": str(data)}:
            return Attachment(mime_type, data, origin=origin)
        case {"url": str(uri)} | {"file_id": str(uri)}:
            return Attachment(mime_type, uri=uri, origin=origin)
        case _:
            return None
