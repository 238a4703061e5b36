"""Attachments: what the CLI put in beside a prompt, and at times the human's own words.

A release since 2.1 says what the model was shown (`rendered`); before, each kind has its own fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geminids.agents.claude.read.content import blocks_of, object_or_empty, plain_text, text_or_none
from geminids.agents.claude.read.origins import Said, said
from geminids.core.model import AnyPart, FileReference, Origin, Text, Unrecognised

_FILES = frozenset({"file", "already_read_file", "directory", "pdf_reference", "compact_file_reference"})
_SHOWN_TO_MODEL = frozenset({"SessionStart", "UserPromptSubmit", "SubagentStart"})
_WORDS = ("text", "message", "stdout", "stderr", "snippet", "blockingError", "planContent", "addedContent")


def referred_file(record: dict[str, Any], prompt: str) -> FileReference | None:
    """The file that the human pointed at with `@`; None if the prompt does not name it."""
    attachment = object_or_empty(record.get("attachment"))
    if "@" not in prompt or text_or_none(attachment.get("type")) not in _FILES:
        return None
    path = text_or_none(attachment.get("filename")) or text_or_none(attachment.get("path"))
    shown = text_or_none(attachment.get("displayPath"))
    if path is None or not any(name and _names(prompt, name) for name in (path, shown)):
        return None
    return FileReference(path, _file_text(attachment.get("content")))


def _names(prompt: str, name: str) -> bool:
    return f"@{name}" in prompt or f'@"{name}"' in prompt


def _file_text(content: object) -> str | None:
    match content:
        case {"file": {"content": str(text)}} | {"content": str(text)}:
            return text
        case str(text):
            return text
        case _:
            return None


def attached(record: dict[str, Any]) -> Said:
    """The words of an attachment, and whose they are."""
    attachment = object_or_empty(record.get("attachment"))
    match attachment:
        case {"type": "queued_command", "prompt": prompt, **about}:
            # Typed while the model was at work, and given to it at the next occasion.
            words = said(plain_text(prompt))
            is_from_cli = about.get("commandMode") == "task-notification"
            if words.parts and not is_from_cli:
                return words
    origin = _origin(record, attachment)
    parts: list[AnyPart] = [
        Text(words, origin) for words in dict.fromkeys(_rendered(record) or _own_words(attachment))
    ]
    return Said(tuple(parts) or (Unrecognised(record.get("attachment")),), origin)


def _origin(record: dict[str, Any], attachment: dict[str, Any]) -> Origin:
    """Who is told: the model, but for what hooks print while tools are used."""
    event = text_or_none(attachment.get("hookEvent"))
    is_shown = event is None or event in _SHOWN_TO_MODEL or bool(record.get("rendered"))
    return Origin.INJECTED if is_shown else Origin.NOTICE


def _rendered(record: dict[str, Any]) -> list[str]:
    """What the model was shown of it."""
    rendered = record.get("rendered")
    pieces = [object_or_empty(piece).get("content") for piece in rendered] if type(rendered) is list else []
    return [text for piece in pieces if (text := plain_text(piece))]


def _own_words(attachment: dict[str, Any]) -> Iterator[str]:
    content = attachment.get("content")
    text = _file_text(content) or plain_text([block for block in blocks_of(content) if type(block) is dict])
    strings = [item for item in blocks_of(content) if isinstance(item, str)]
    others = [attachment.get(name) for name in _WORDS]
    for words in (text, *strings, *others):
        if isinstance(words, str) and words.strip():
            yield words.removesuffix("\n")
