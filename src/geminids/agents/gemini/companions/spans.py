"""Where the pieces of a JSON document stand in its bytes.

The fast decoder gives the pieces as raw bytes but not their places; they follow one another, so the
places are found by walking along them. What does not fit is damaged, and somebody else's to salvage.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import msgspec

from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.jsonl import REFUSED, in_whole_characters

BETWEEN = lazy_pattern(rb"[\s,]*")
"""What stands between two elements of a list."""
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_NAME = lazy_pattern(rb'[\s,{]*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*', re.DOTALL)
_BOM = b"\xef\xbb\xbf"
_Pieces = TypeVar("_Pieces")
_BLANK = lazy_pattern(rb"(?:\xef\xbb\xbf)?\s*")


class Span(NamedTuple):
    """A stretch of bytes."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.end - self.start


def whole(content: bytes) -> Span:
    """The document in a file: all of it but the blanks and the byte order mark around it."""
    found = _BLANK.match(content)
    start = found.end() if found else 0
    return Span(start, max(start, len(content.rstrip())))


def sound(content: bytes, span: Span, decode: Callable[[bytes], _Pieces]) -> tuple[bytes, _Pieces] | None:
    """The pieces of a document and the bytes they were read from: half a character in it does no harm."""
    try:
        return content, decode(content[span.start : span.end])
    except REFUSED:
        readable = in_whole_characters(content)
    if readable == content:
        return None
    try:
        return readable, decode(readable[span.start : span.end])
    except REFUSED:
        return None


def members(content: bytes, span: Span) -> dict[str, Span] | None:
    """The members of an object by name; None if these bytes are no sound object."""
    read = sound(content, span, _members)
    if read is None:
        return None
    content, found = read
    spans: dict[str, Span] = {}
    end = span.start
    for name, raw in found.items():
        before = _NAME.match(content, end)
        if before is None or not content.startswith(bytes(raw), before.end()):
            # A name that stands twice.
            return None
        end = before.end() + len(raw)
        spans[name] = Span(before.end(), end)
    return spans


def elements(content: bytes, span: Span) -> list[Span] | None:
    """The elements of a list; None if these bytes are no sound list."""
    read = sound(content, span, _elements)
    if read is None:
        return None
    content, found = read
    spans = []
    end = span.start + 1
    for raw in found:
        between = BETWEEN.match(content, end)
        start = between.end() if between else end
        end = start + len(raw)
        spans.append(Span(start, end))
    return spans
