"""Tokens that nobody recorded, guessed from the length of what was said.

Only for replies of models without a count of their own. Such numbers are kept apart from those that agents
recorded and are shown on request, as estimates.
"""

from __future__ import annotations

from typing import Any

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    AnyPart,
    FileReference,
    Message,
    Origin,
    Session,
    Text,
    Thought,
    ToolCall,
    ToolResult,
)
from geminids.core.model.summary import says_something

_PER_TOKEN = 4
"""Characters of Western writing and code that make a token, by common experience."""
_DENSE = lazy_pattern("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Characters of which each is about a token."""


def estimates(session: Session) -> dict[str, tuple[int, int]]:
    """For each reply without recorded tokens, by its id: those of its prompt and of its answer.

    The prompt is all that was said before it in the session; what the agent adds to it is not known.
    """
    if not any(map(_lacks_usage, session.messages)):
        return {}
    guessed: dict[str, tuple[int, int]] = {}
    said = 0
    for message in session.messages:
        answer = sum(_tokens(part) for part in message.parts)
        if _lacks_usage(message):
            guessed[message.id] = said, answer
        said += answer + sum(_result_tokens(part) for part in message.parts)
    return guessed


def _lacks_usage(message: Message) -> bool:
    return (
        message.origin is Origin.MODEL
        and message.usage is None
        and not message.imported
        and says_something(message)
    )


def _tokens(part: AnyPart) -> int:
    match part:
        case Text(text=text) | Thought(text=text):
            return _of_text(text)
        case FileReference(text=str(text)):
            return _of_text(text)
        case ToolCall(name=name, arguments=arguments):
            return _of_text(name) + _of_value(arguments)
        case ToolResult(parts=parts):
            return sum(_of_text(p.text) for p in parts if isinstance(p, Text))
        case _:
            return 0


def _result_tokens(part: AnyPart) -> int:
    """What a tool answered: it is no part of the reply that called it."""
    if not isinstance(part, ToolCall):
        return 0
    return sum(_of_text(p.text) for p in part.result if isinstance(p, Text))


def _of_value(value: Any) -> int:
    match value:
        case str():
            return _of_text(value)
        case dict():
            return sum(_of_text(str(name)) + _of_value(item) for name, item in value.items())
        case list():
            return sum(map(_of_value, value))
        case _:
            return 1


def _of_text(text: str) -> int:
    dense = 0 if text.isascii() else len(_DENSE.findall(text))
    return dense + (len(text) - dense + _PER_TOKEN - 1) // _PER_TOKEN
