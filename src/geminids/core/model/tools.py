"""Tool calls: what the model asked for, what came back, how it looked, what it changed."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from geminids.core.model.parts import ResultPart


class ToolKind(StrEnum):
    """What a tool does, in words that are the same for all agents."""

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"
    SEARCH = "search"
    LIST = "list"
    FETCH = "fetch"
    PLAN = "plan"
    ASK = "ask"
    MEMORY = "memory"
    AGENT = "agent"
    OTHER = "other"


class ToolStatus(StrEnum):
    """How a call ended."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"
    PENDING = "pending"
    """Asked for, but no end of it was recorded."""
    UNKNOWN = "unknown"


class Operation(StrEnum):
    """What happened to a file."""

    CREATE = "create"
    EDIT = "edit"
    DELETE = "delete"


class FileChange(msgspec.Struct, frozen=True, gc=False):
    """What a call did to one file, as far as the agent recorded it."""

    path: str
    operation: Operation
    diff: str | None = None
    before: str | None = None
    after: str | None = None
    added: int | None = None
    removed: int | None = None


class Plain(msgspec.Struct, frozen=True, gc=False, tag_field="display", tag="text"):
    """Text that was shown to the user."""

    text: str


class Diff(msgspec.Struct, frozen=True, gc=False, tag_field="display", tag="diff"):
    """A change to a file, shown as a unified diff. The whole texts are in the call's changes."""

    path: str
    diff: str


class Screen(msgspec.Struct, frozen=True, tag_field="display", tag="screen"):
    """A terminal: lines of styled cells, kept as they were."""

    cells: list[list[Any]]

    @property
    def text(self) -> str:
        """The screen as plain lines, without the padding of its right edge."""
        lines = ("".join(_cell_text(cell) for cell in line).rstrip() for line in self.cells)
        return "\n".join(lines).rstrip()


class Todo(msgspec.Struct, frozen=True, gc=False):
    """One thing on a list of things to do."""

    text: str
    status: str


class Todos(msgspec.Struct, frozen=True, tag_field="display", tag="todos"):
    """A list of things to do."""

    todos: tuple[Todo, ...]


class AgentProgress(msgspec.Struct, frozen=True, tag_field="display", tag="agent-progress"):
    """What a subagent was seen doing."""

    agent: str
    state: str | None
    result: str | None
    activity: tuple[Any, ...]
    ended_because: str | None = None


class Listing(msgspec.Struct, frozen=True, tag_field="display", tag="listing"):
    """Files or matches, with the sentence that sums them up."""

    summary: str
    items: tuple[Any, ...]
    other: dict[str, Any]


class UnrecognisedDisplay(msgspec.Struct, frozen=True, tag_field="display", tag="unrecognised"):
    """Something unrecognised that was shown, kept as it was."""

    raw: Any


AnyDisplay = Plain | Diff | Screen | Todos | AgentProgress | Listing | UnrecognisedDisplay


class MovedOutput(msgspec.Struct, frozen=True, gc=False):
    """The whole output of a call of which the session has only a piece: the agent moved it to a file."""

    path: str
    size: int
    text: str | None
    """The words of it; None if they could not be read."""
    left_out: int = 0
    """Bytes in the middle of a huge output that the text leaves out; it says where."""


class ToolCall(msgspec.Struct, frozen=True, tag_field="part", tag="tool-call"):
    """A request by the model to run a tool, with all that became of it."""

    call_id: str | None
    name: str
    """As the agent spells it."""
    kind: ToolKind
    arguments: dict[str, Any]
    status: ToolStatus
    native_status: str | None = None
    result: tuple[ResultPart, ...] = ()
    display: AnyDisplay | None = None
    changes: tuple[FileChange, ...] = ()
    at: datetime | None = None
    display_name: str | None = None
    description: str | None = None
    child_id: str | None = None
    """The session of the subagent that this call started."""
    exit_code: int | None = None
    """What a command of a shell ended with; agents call a call successful that ran and failed."""
    full_output: MovedOutput | None = None
    """What was moved out of the session, if it still exists; a session that is only listed has none."""
    other: dict[str, Any] = {}
    """What else the agent wrote about the call, kept as it was."""
    gist: str | None = None
    """What the call was about in a line, where no argument says so in plain words."""


def _cell_text(cell: object) -> str:
    match cell:
        case {"text": str(text)}:
            return text
        case str(text):
            return text
        case _:
            return ""
