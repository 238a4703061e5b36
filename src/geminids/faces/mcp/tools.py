"""The tools: what each takes and gives, and the line by which a model knows what it is for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import msgspec

from geminids.faces.documents.recalled import (
    BriefAnswer,
    EditsAnswer,
    ListAnswer,
    ReadAnswer,
    Recalled,
    SearchAnswer,
    UsageAnswer,
)
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import Asked, AskedOfSession
from geminids.faces.mcp.desk import Desk
from geminids.faces.mcp.errors import BadArgumentsError
from geminids.faces.mcp.find_edits import AskedForEdits, find_edits
from geminids.faces.mcp.list_sessions import AskedForSessions, list_sessions
from geminids.faces.mcp.read_session import AskedForWindow, read_session
from geminids.faces.mcp.search_history import AskedForWords, search_history
from geminids.faces.mcp.session_brief import session_brief
from geminids.faces.mcp.usage import AskedForUsage, usage


class Tool(NamedTuple):
    """One tool."""

    name: str
    title: str
    description: str
    asked: type[Asked]
    answer: type[Recalled]
    give: Callable[[Desk, Any, int], Recalled]
    """Gives an answer of so many bytes at most."""
    told: Callable[[Any], str]
    """The same answer as text."""


SEARCH_HISTORY = Tool(
    "search_history",
    "Search past sessions",
    "Find messages of past coding sessions (yours and other agents') by words. Use it when the user "
    "refers to earlier work, or before solving what may have been solved before.",
    AskedForWords,
    SearchAnswer,
    search_history,
    told.search,
)
READ_SESSION = Tool(
    "read_session",
    "Read a past session",
    "Read messages of one past session, from a message on; ids and numbers come from the other tools.",
    AskedForWindow,
    ReadAnswer,
    read_session,
    told.read,
)
LIST_SESSIONS = Tool(
    "list_sessions",
    "List past sessions",
    "List past sessions of this project (or all), newest first; use it for what was done lately.",
    AskedForSessions,
    ListAnswer,
    list_sessions,
    told.sessions,
)
SESSION_BRIEF = Tool(
    "session_brief",
    "A past session in brief",
    "What one session asked for, changed and ran, what failed, and what was open at its end. Use it to "
    "continue earlier work.",
    AskedOfSession,
    BriefAnswer,
    session_brief,
    told.brief,
)
USAGE = Tool(
    "usage",
    "Tokens and cost",
    "Tokens, cost and counts of past sessions, by day, model, project or tool.",
    AskedForUsage,
    UsageAnswer,
    usage,
    told.usage,
)
FIND_EDITS = Tool(
    "find_edits",
    "Find edits of a file",
    "Which past sessions changed a file, and in which messages; use it to learn why code is as it is.",
    AskedForEdits,
    EditsAnswer,
    find_edits,
    told.edits,
)
TOOLS = (SEARCH_HISTORY, READ_SESSION, LIST_SESSIONS, SESSION_BRIEF, USAGE, FIND_EDITS)
"""All of them, in the order in which they are listed."""
BY_NAME = {tool.name: tool for tool in TOOLS}


@cache
def input_schema(tool: Tool) -> dict[str, Any]:
    """What a tool takes, as JSON Schema without references."""
    return _schema(tool.asked)


@cache
def output_schema(tool: Tool) -> dict[str, Any]:
    """What a tool gives, the same way."""
    return _schema(tool.answer)


def arguments(tool: Tool, given: dict[str, Any]) -> Asked:
    """What is asked of a tool. Raises BadArgumentsError, which says what is wrong with which argument."""
    try:
        return msgspec.convert(given, tool.asked)
    except msgspec.ValidationError as error:
        sentence = str(error).replace("Object", "The call").replace("$.", "").replace("$", "the arguments")
        names = ", ".join(tool.asked.__struct_fields__)
        raise BadArgumentsError(f"{tool.name}: {sentence}. It takes: {names}.") from error


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    (schema,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    whole: dict[str, Any] = _without_references(schema, parts)
    return whole


def _without_references(value: Any, parts: dict[str, Any]) -> Any:
    """A schema with each part in the place where it is named: not every agent follows references."""
    match value:
        case {"$ref": str(name)}:
            return _without_references(parts[name], parts)
        case dict():
            return {
                key: _without_references(held, parts)
                for key, held in value.items()
                if not (key == "title" and isinstance(held, str))
            }
        case list():
            return [_without_references(held, parts) for held in value]
        case _:
            return value
