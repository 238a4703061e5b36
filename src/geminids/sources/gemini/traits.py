"""What the pieces of a message are recognised by, wherever they are repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from geminids.sources.gemini.content import parts_of
from geminids.sources.gemini.records import calls_of

Trait = tuple[str, str]
"""What a piece of a message is recognised by."""

ANSWERED = "answered"
"""The answer to a call that is recorded with the call itself."""
UNIQUE = frozenset({"call", "response", ANSWERED, "context"})
"""What is there once: it is the same wherever it is repeated."""
_UNSEEN = re.compile("<!--.*?-->|[\u200b-\u200f\u2060\ufeff]", re.DOTALL)
_CONTEXT = re.compile(r"\s*<(session_context|hook_context)>")


def traits(value: dict[str, Any]) -> Iterator[tuple[Trait, Any]]:
    """What the pieces of a message are recognised by, each with the piece; calls recorded beside it too."""
    side = str(value.get("type"))
    for piece in parts_of(value.get("content")):
        trait = _trait(side, piece)
        if trait is not None:
            yield trait, piece
    for call in calls_of(value):
        if isinstance(call.get("id"), str):
            yield ("call", call["id"]), None
            if call.get("result"):
                yield (ANSWERED, call["id"]), None


def _trait(side: str, piece: object) -> Trait | None:
    match piece:
        case {"thought": True}:
            return None
        case {"text": str(text)}:
            words = " ".join(_UNSEEN.sub("", text).split())
            place = "context" if _CONTEXT.match(text) else side
            return (place, words) if words else None
        case {"functionCall": {"id": str(call_id)}}:
            return "call", call_id
        case {"functionResponse": {"id": str(call_id)}}:
            return "response", call_id
        case {"functionCall": {"name": str(name)}}:
            return "call of", name
        case {"functionResponse": {"name": str(name)}}:
            return "response of", name
        case {"inlineData": {"data": str(data)}}:
            return "data", data
        case _:
            return "piece", repr(piece)
