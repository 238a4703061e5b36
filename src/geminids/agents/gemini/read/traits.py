"""What the pieces of a message are recognised by, wherever they are repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from geminids.agents.gemini.read.content import parts_of
from geminids.agents.gemini.read.injected import ACKNOWLEDGEMENTS
from geminids.agents.gemini.read.records import calls_of
from geminids.core.lazy_patterns import lazy_pattern

Trait = tuple[str, str]
"""What a piece of a message is recognised by."""

ANSWERED = "answered"
"""The answer to a call that is recorded with the call itself."""
UNIQUE = frozenset({"call", "response", ANSWERED, "context"})
"""What is there once: it is the same wherever it is repeated."""
ANYWHERE = frozenset({"context", "spoken for"})
"""What the CLI puts in wherever it likes: it says nothing about how far a restatement has come."""
_UNSEEN = lazy_pattern("<!--(?:(?!<!--|-->).)*-->|[\u200b-\u200f\u2060\ufeff]", re.DOTALL)
_CONTEXT = lazy_pattern(r"\s*<(session_context|hook_context)>")


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


def is_context(piece: object) -> bool:
    """Whether a piece is context that the CLI put in."""
    match piece:
        case {"text": str(text)}:
            return _CONTEXT.match(text) is not None
        case _:
            return False


def without_unseen(text: str) -> str:
    """A text as it is shown: without comments and characters of no width."""
    return _UNSEEN.sub("", text)


def _trait(side: str, piece: object) -> Trait | None:
    match piece:
        case {"thought": True}:
            return None
        case {"text": str(text)}:
            words = " ".join(without_unseen(text).split())
            if side == "gemini" and words in ACKNOWLEDGEMENTS:
                return "spoken for", words
            return ("context" if is_context(piece) else side, words) if words else None
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
