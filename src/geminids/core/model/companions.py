"""What an agent writes beside its sessions."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec


class CompanionKind(StrEnum):
    """What a file beside the sessions is."""

    PROMPT_LOG = "prompt-log"
    """Every line that the human typed."""
    SAVED_CHAT = "saved-chat"
    """A conversation saved under a name."""
    RESTORE_POINT = "restore-point"
    """The conversation and the files as they were before a tool changed something."""
    REPORT = "report"
    """A conversation as it was reported to the makers of the agent."""
    ACTIVITY_LOG = "activity-log"
    """Requests and answers as they went over the network."""
    TOOL_OUTPUT = "tool-output"
    """The whole output of a tool that was too long for its session."""
    PLAN = "plan"
    TASKS = "tasks"
    """Tasks and the state they are in."""
    MEMORY = "memory"
    """What the agent noted for later sessions."""
    IMAGE = "image"
    """A picture that the human pasted."""
    SHELL_HISTORY = "shell-history"
    """The last commands that the human gave to the shell."""
    MARKER = "marker"
    """The note that says which folder the project is."""


class Companion(msgspec.Struct, frozen=True, gc=False):
    """A file that an agent wrote beside its sessions."""

    kind: CompanionKind
    path: str
    size: int
    modified_at: datetime | None
    session_id: str | None = None
    """The session it belongs to, where its place says so."""


class LineKind(StrEnum):
    """The kind of a line that the user typed."""

    PROMPT = "prompt"
    COMMAND = "command"
    """A command to the agent itself, such as /clear."""
    SHELL = "shell"
    """A command for the shell."""


class TypedLine(msgspec.Struct, frozen=True, gc=False):
    """A line that the user typed, as the agent logged it."""

    text: str
    at: datetime | None
    kind: LineKind
    session_id: str | None
    """The session it was typed in; None where that cannot be told."""
    missing: str | None = None
    """Why the session does not hold it; None if it does, or need not."""
