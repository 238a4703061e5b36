"""What a session is: frozen values without any input or output.

The classes here are the public contract; the JSON Schema in `docs/` is generated from them.
"""

from geminids.core.model.accounts import FileAccount, Tally
from geminids.core.model.companions import Companion, CompanionKind, LineKind, TypedLine
from geminids.core.model.moments import is_tellable
from geminids.core.model.parts import (
    Attachment,
    FileReference,
    Origin,
    ResultPart,
    Text,
    Thought,
    ToolResult,
    Unrecognised,
)
from geminids.core.model.problems import Problem, ProblemKind
from geminids.core.model.projects import KnownBy, Project, folder_hash
from geminids.core.model.session import (
    AnyPart,
    Counts,
    Level,
    Location,
    Message,
    Role,
    Session,
    SessionFile,
    SessionKind,
    SessionSummary,
    State,
    Status,
)
from geminids.core.model.tools import (
    AgentProgress,
    AnyDisplay,
    Diff,
    FileChange,
    Listing,
    MovedOutput,
    Operation,
    Plain,
    Screen,
    Todo,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
    UnrecognisedDisplay,
)
from geminids.core.model.usage import Unrecorded, Usage

__all__ = [
    "AgentProgress",
    "AnyDisplay",
    "AnyPart",
    "Attachment",
    "Companion",
    "CompanionKind",
    "Counts",
    "Diff",
    "FileAccount",
    "FileChange",
    "FileReference",
    "KnownBy",
    "Level",
    "LineKind",
    "Listing",
    "Location",
    "Message",
    "MovedOutput",
    "Operation",
    "Origin",
    "Plain",
    "Problem",
    "ProblemKind",
    "Project",
    "ResultPart",
    "Role",
    "Screen",
    "Session",
    "SessionFile",
    "SessionKind",
    "SessionSummary",
    "State",
    "Status",
    "Tally",
    "Text",
    "Thought",
    "Todo",
    "Todos",
    "ToolCall",
    "ToolKind",
    "ToolResult",
    "ToolStatus",
    "TypedLine",
    "Unrecognised",
    "UnrecognisedDisplay",
    "Unrecorded",
    "Usage",
    "folder_hash",
    "is_tellable",
]
