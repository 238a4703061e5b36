"""Sessions and their messages."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from geminids.core.model.companions import Companion
from geminids.core.model.parts import (
    Attachment,
    FileReference,
    Origin,
    Text,
    Thought,
    ToolResult,
    Unrecognised,
)
from geminids.core.model.problems import Problem
from geminids.core.model.projects import Project
from geminids.core.model.tools import ToolCall
from geminids.core.model.usage import Unrecorded, Usage

AnyPart = Text | Thought | ToolCall | ToolResult | Attachment | FileReference | Unrecognised


class SessionKind(StrEnum):
    """Whom the session serves, or what is left of it."""

    MAIN = "main"
    """A human led it."""
    SUBAGENT = "subagent"
    """Another session led it; `parent_id` says which."""
    CHECKPOINT = "checkpoint"
    """A conversation that the human saved under a name; `parent_id` is the one it was saved from."""
    COPY = "copy"
    """A conversation as it was shared, printed or reported; the session itself is elsewhere, if anywhere."""
    LOST = "lost"
    """Its file is gone; what the human typed is what remains."""


class Status(StrEnum):
    """How a session seems to have ended: an estimate, which the format does not record."""

    SUCCESS = "success"
    FAILURE = "failure"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    ERROR = "error"


class Role(StrEnum):
    """On whose side of the conversation a message stands."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class State(StrEnum):
    """Whether the agent still sees a message, or why it no longer does."""

    CURRENT = "current"
    REWOUND = "rewound"
    COMPRESSED = "compressed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    UNRECORDED = "unrecorded"
    """Typed in the session, but not in its conversation: only a log or a queue of the agent has the text."""


class Level(StrEnum):
    """How grave a notice is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Location(msgspec.Struct, frozen=True, gc=False):
    """Where a record stands: file, line (from 1) and bytes; inside a document also a JSON pointer."""

    file: str
    line: int
    start: int
    end: int
    pointer: str | None = None


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    id: str
    role: Role
    origin: Origin
    state: State
    at: datetime | None
    model: str | None
    parts: tuple[AnyPart, ...]
    usage: Usage | None
    source: Location
    level: Level | None = None
    """Set for notices only."""
    also_at: tuple[Location, ...] = ()
    """Later versions and copies of the same message."""
    dropped_by: Location | None = None
    """The record that took the message out of the agent's view."""
    imported: bool = False
    """Counted elsewhere: taken over from another session, or an earlier version of a message of this one."""
    request_id: str | None = None
    """What the provider calls the request that gave it: the same in every copy, whatever session it is in."""
    missing: str | None = None
    """Why the session's files do not hold it; set for what is unrecorded only."""

    @property
    def places(self) -> tuple[Location, ...]:
        """Everywhere it stands: where it was read, then its later versions and copies."""
        return (self.source, *self.also_at)

    def text(self, origin: Origin) -> str:
        """All its words of one origin, a blank line between the pieces."""
        return "\n\n".join(p.text for p in self.parts if isinstance(p, Text) and p.origin is origin)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls among its parts."""
        return [part for part in self.parts if isinstance(part, ToolCall)]


class SessionFile(msgspec.Struct, frozen=True, gc=False):
    """A file that holds a session or a piece of one."""

    path: str
    format: str
    size: int
    kept: bool = False
    """Whether the file is gone, and was read from a kept copy."""


class Counts(msgspec.Struct, frozen=True, gc=False):
    """How much there is of what."""

    prompts: int
    """What the human typed, dropped and unrecorded turns included, copies not."""
    replies: int
    tool_calls: int
    tool_errors: int
    dropped: int
    """What the agent no longer sees. What its files never held, or hold no more, is not among it."""


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session without its messages."""

    id: str
    agent: str
    native_id: str
    kind: SessionKind
    parent_id: str | None
    project: Project
    title: str | None
    summary: str | None
    started_at: datetime | None
    ended_at: datetime | None
    status: Status
    models: tuple[str, ...]
    counts: Counts
    usage: Usage
    files: tuple[SessionFile, ...]
    directories: tuple[str, ...] = ()
    companions: tuple[Companion, ...] = ()
    """What else the agent wrote for this session: plans, tasks, outputs, logs."""
    kept: bool = False
    problems: tuple[Problem, ...] = ()
    branch: str | None = None
    """The branch that was checked out, as far as the agent noted it: the last one."""
    reported: Usage | None = None
    """The agent's own total for the session, where it keeps one: to be compared with `usage`."""
    unrecorded: tuple[Unrecorded, ...] = ()
    """Requests that are known to be missing from its files."""

    @property
    def last_at(self) -> datetime | None:
        """The last moment that is known of it."""
        return self.ended_at or self.started_at

    @property
    def is_incomplete(self) -> bool:
        """Return whether records of its own files could not be read: then its numbers are lower bounds."""
        if not self.problems:
            return False
        own = {file.path for file in self.files}
        return any(problem.loses_records and problem.file in own for problem in self.problems)

    @property
    def file(self) -> str | None:
        """The first of its files, which tells it from another of the same id."""
        return self.files[0].path if self.files else None


class Session(SessionSummary, frozen=True, kw_only=True):
    """One conversation, whole."""

    messages: tuple[Message, ...]

    def without_messages(self) -> SessionSummary:
        """The same session in little."""
        return SessionSummary(**{name: getattr(self, name) for name in SessionSummary.__struct_fields__})
