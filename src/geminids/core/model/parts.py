"""The pieces of a message, in the order the agent wrote them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec


class Origin(StrEnum):
    """Who really made a message or a piece of one, whatever its role says."""

    HUMAN = "human"
    MODEL = "model"
    TOOL = "tool"
    INJECTED = "injected"
    """Context that the agent or a hook put in: folders, memory, editor state."""
    COMMAND = "command"
    """What a slash command of the human was expanded to."""
    SHELL = "shell"
    """What a command that the human gave to the shell produced."""
    NOTICE = "notice"
    """What the agent told the human: information, warnings, errors."""
    SYNTHETIC = "synthetic"
    """Words the agent invented on somebody's behalf: nudges, summaries, acknowledgements."""


class Text(msgspec.Struct, frozen=True, gc=False, tag_field="part", tag="text"):
    """Words, and whose they are."""

    text: str
    origin: Origin


class Thought(msgspec.Struct, frozen=True, gc=False, tag_field="part", tag="thought"):
    """A piece of the model's reasoning, as far as it was shown."""

    text: str
    subject: str = ""
    at: datetime | None = None


class Attachment(msgspec.Struct, frozen=True, tag_field="part", tag="attachment"):
    """A picture, sound or document: its bytes (base64, as stored), its address, or only its kind."""

    mime_type: str | None
    data: str | None = None
    uri: str | None = None
    origin: Origin = Origin.HUMAN


class FileReference(msgspec.Struct, frozen=True, tag_field="part", tag="file-reference"):
    """A file that the user referred to, with its text."""

    path: str
    text: str | None = None


class Unrecognised(msgspec.Struct, frozen=True, tag_field="part", tag="unrecognised"):
    """Something unrecognised that the agent wrote, kept as it was."""

    raw: Any


ResultPart = Text | Attachment | Unrecognised
"""What a tool can answer with."""


class ToolResult(msgspec.Struct, frozen=True, tag_field="part", tag="tool-result"):
    """What a tool answered, where the agent recorded it as a message of its own."""

    call_id: str | None
    name: str | None
    parts: tuple[ResultPart, ...]
