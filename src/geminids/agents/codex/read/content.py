"""Content as Codex stores it: pieces of text and pictures, in the words of the service that answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geminids.core.model import Attachment, Origin, ResultPart, Text, Unrecognised
from geminids.reading.shapes import text_or_none

__all__ = ["part_of", "picture", "pieces_of", "text_or_none", "texts_of"]

_DATA = "data:"


def pieces_of(content: object) -> list[Any]:
    """The pieces of a content, whatever its form; an empty text is no piece."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, list):
        return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in content]
    return [] if content is None else [content]


def texts_of(content: object) -> Iterator[str]:
    """The words of a content."""
    for piece in pieces_of(content):
        if type(piece) is dict and type(piece.get("text")) is str:
            yield piece["text"]


def part_of(piece: object, origin: Origin) -> ResultPart | None:
    """A piece as a part; None where it is encrypted, so that there is nothing to show."""
    match piece:
        case {"text": str(text)}:
            return Text(text, origin)
        case {"refusal": str(text)}:
            return Text(text, origin)
        case {"image_url": str(url)} | {"image_url": {"url": str(url)}}:
            return picture(url, origin)
        case {"type": "image" | "audio", "data": str(data), **about}:
            mime = about.get("mimeType")
            return Attachment(mime if isinstance(mime, str) else None, data, origin=origin)
        case {"type": "local_image", "path": str(path)}:
            return Attachment(None, uri=path, origin=origin)
        case {"type": "encrypted_content"}:
            return None
        case _:
            return Unrecognised(piece)


def picture(url: str, origin: Origin) -> Attachment:
    """A picture by its address, which often holds all of it."""
    kind, found, data = url.removeprefix(_DATA).partition(";base64,")
    if url.startswith(_DATA) and found:
        return Attachment(kind or None, data, origin=origin)
    return Attachment(None, uri=url, origin=origin)
