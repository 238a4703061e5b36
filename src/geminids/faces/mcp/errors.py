"""What can go wrong between an agent and a library, in sentences for its model."""

from __future__ import annotations

from geminids.core.errors import NOTHING_FOUND, WRONG_USAGE, GeminidsError
from geminids.core.installation import who_adds


class McpNotInstalledError(GeminidsError):
    """The packages of the server are missing."""

    exit_code = WRONG_USAGE

    def __init__(self, missing: str) -> None:
        super().__init__(f"The MCP server needs {missing!r}; {who_adds('mcp')} adds it.")


class BadArgumentsError(GeminidsError):
    """Arguments of a tool that are not to be understood."""


class NoSuchMessageError(GeminidsError):
    """A number that no message of a session has."""

    exit_code = NOTHING_FOUND

    def __init__(self, number: int, messages: int) -> None:
        super().__init__(f"There is no message {number}: the session has {messages:,}, counted from 1.")


class BadPlaceError(GeminidsError):
    """A cursor that no answer has given, or one of another question."""

    def __init__(self, given: str) -> None:
        super().__init__(f"{given!r} is no `next` of an earlier answer of this tool. Ask without `after`.")


class NoSuchResourceError(GeminidsError):
    """A name that no resource has."""

    exit_code = NOTHING_FOUND

    def __init__(self, uri: str) -> None:
        super().__init__(f"There is no resource {uri!r}. A session is geminids://session/ID.")


class NoSessionToTakeOverError(GeminidsError):
    """There is no earlier session."""

    exit_code = NOTHING_FOUND

    def __init__(self) -> None:
        super().__init__("There is no earlier session to take over. Give the id of one.")


class CancelledError(GeminidsError):
    """The agent no longer wants to know."""

    def __init__(self) -> None:
        super().__init__("The call was cancelled.")
