"""Tool calls: every shape of result and display that Gemini CLI has written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from geminids.agents.gemini.read.content import response_parts, result_part, text_or_none
from geminids.agents.gemini.read.records import CALL_FIELDS
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    AgentProgress,
    AnyDisplay,
    Diff,
    FileChange,
    Listing,
    Operation,
    Origin,
    Plain,
    ResultPart,
    Screen,
    Text,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
    UnrecognisedDisplay,
)
from geminids.core.names import UNNAMED_TOOL
from geminids.core.timestamps import parse_time
from geminids.reading.shapes import todo_of

SHELL = "run_shell_command"
TOOL_KINDS = {
    "read_file": ToolKind.READ,
    "read_many_files": ToolKind.READ,
    "get_internal_docs": ToolKind.READ,
    "write_file": ToolKind.EDIT,
    "replace": ToolKind.EDIT,
    SHELL: ToolKind.EXECUTE,
    "glob": ToolKind.SEARCH,
    "search_file_content": ToolKind.SEARCH,
    "grep_search": ToolKind.SEARCH,
    "grep_search_ripgrep": ToolKind.SEARCH,
    "google_web_search": ToolKind.SEARCH,
    "list_directory": ToolKind.LIST,
    "web_fetch": ToolKind.FETCH,
    "write_todos": ToolKind.PLAN,
    "enter_plan_mode": ToolKind.PLAN,
    "exit_plan_mode": ToolKind.PLAN,
    "ask_user": ToolKind.ASK,
    "save_memory": ToolKind.MEMORY,
    "activate_skill": ToolKind.MEMORY,
    "invoke_agent": ToolKind.AGENT,
    "delegate_to_agent": ToolKind.AGENT,
    "codebase_investigator": ToolKind.AGENT,
    "generalist": ToolKind.AGENT,
}
_STATUSES = {
    "success": ToolStatus.SUCCESS,
    "error": ToolStatus.ERROR,
    "cancelled": ToolStatus.CANCELLED,
    "validating": ToolStatus.PENDING,
    "scheduled": ToolStatus.PENDING,
    "executing": ToolStatus.PENDING,
    "awaiting_approval": ToolStatus.PENDING,
    "pending": ToolStatus.PENDING,
}
_EXIT_CODE = lazy_pattern(r"^Exit Code: (-?[0-9]{1,10})$", re.MULTILINE)
"""No system has one of more digits; a command may print anything."""
_REPORT_LENGTH = 400
"""A shell's report ends with how it ended."""
_EDITING = frozenset(name for name, kind in TOOL_KINDS.items() if kind is ToolKind.EDIT)
_SUCCESS, _UNKNOWN = ToolStatus.SUCCESS, ToolStatus.UNKNOWN
"""Under names that Python looks up faster: every call is asked for them."""
MASKED = "<tool_output_masked>"
"""How the rest of an output begins that was moved to a file because the model no longer needs it."""
_AGENT_ANSWER = "Subagent '"


def tool_call(call: dict[str, Any]) -> ToolCall:
    """One entry of `toolCalls`."""
    name = text_or_none(call.get("name")) or UNNAMED_TOOL
    arguments = call.get("args")
    native_status = text_or_none(call.get("status"))
    status = _STATUSES.get(native_status or "", _UNKNOWN)
    result = results(call)
    display, changes = _displayed(call.get("resultDisplay"))
    agent_id = text_or_none(call.get("agentId"))
    return ToolCall(
        text_or_none(call.get("id")),
        name,
        TOOL_KINDS.get(name) or kind_of_tool(name, result),
        _arguments(call),
        status,
        native_status,
        result,
        display,
        (changes or _asked_changes(name, arguments)) if status is _SUCCESS else (),
        parse_time(call.get("timestamp")),
        text_or_none(call.get("displayName")),
        text_or_none(call.get("description")),
        f"gemini:{agent_id}" if agent_id else None,
        _exit_code(result) if name == SHELL else None,
        other={} if CALL_FIELDS.issuperset(call) else {n: call[n] for n in call.keys() - CALL_FIELDS},
    )


def asked_call(call: dict[str, Any], response: dict[str, Any] | None) -> ToolCall:
    """A `functionCall` of which only the answer was recorded, or not even that."""
    name = text_or_none(call.get("name")) or UNNAMED_TOOL
    result = response_parts(response) if response else ()
    return ToolCall(
        text_or_none(call.get("id")),
        name,
        kind_of_tool(name, result),
        _arguments(call),
        _answered_status(response),
        result=result,
    )


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    """The arguments; what is no object stands under its name."""
    arguments = call.get("args")
    return arguments if type(arguments) is dict else {} if arguments is None else {"args": arguments}


def _answered_status(response: dict[str, Any] | None) -> ToolStatus:
    match response:
        case None:
            return ToolStatus.PENDING
        case {"response": {"error": _}}:
            return ToolStatus.ERROR
        case _:
            return ToolStatus.SUCCESS


def results(call: dict[str, Any]) -> tuple[ResultPart, ...]:
    """What came back. After a checkpoint the field also holds the answers to parallel calls: left out."""
    stored = call.get("result")
    if stored is None:
        return ()
    if isinstance(stored, str):
        return (Text(stored, Origin.TOOL),)
    entries = stored if isinstance(stored, list) else [stored]
    if len(entries) == 1 and type(entries[0]) is dict:
        response = entries[0].get("functionResponse")
        if type(response) is dict:
            # Nearly every result is one response and nothing else.
            return response_parts(response)
    own = _own_responses(entries, call.get("id"))
    parts: list[ResultPart] = []
    for entry in own:
        response = entry.get("functionResponse") if type(entry) is dict else None
        if type(response) is dict:
            parts.extend(response_parts(response))
        else:
            parts.append(result_part({"text": entry} if isinstance(entry, str) else entry))
    return tuple(parts)


def _own_responses(entries: list[Any], call_id: object) -> list[Any]:
    """The answers to this call, each with the media that stand behind it."""
    if len(entries) < 2:
        return entries
    own: list[Any] = []
    is_own = True
    for entry in entries:
        answered = _response_id(entry)
        is_own = is_own if answered is None else answered == call_id
        if is_own:
            own.append(entry)
    return own or entries


def _response_id(entry: object) -> object:
    match entry:
        case {"functionResponse": {"id": response_id}}:
            return response_id
        case _:
            return None


def kind_of_tool(name: str, result: Iterable[ResultPart]) -> ToolKind:
    """What a tool does; a user's own agents are tools under their own names, only their answers tell."""
    kind = TOOL_KINDS.get(name)
    if kind is not None:
        return kind
    is_agent = any(isinstance(part, Text) and part.text.startswith(_AGENT_ANSWER) for part in result)
    return ToolKind.AGENT if is_agent else ToolKind.OTHER


def _displayed(display: object) -> tuple[AnyDisplay | None, tuple[FileChange, ...]]:
    """What was shown for a call, and the change to a file if it was one."""
    if display is None or display == "":
        return None, ()
    if isinstance(display, str):
        return Plain(display), ()
    if isinstance(display, list) and all(isinstance(line, list) for line in display):
        return Screen(display), ()
    if isinstance(display, dict):
        return _displayed_object(display)
    return UnrecognisedDisplay(display), ()


def _displayed_object(display: dict[str, Any]) -> tuple[AnyDisplay, tuple[FileChange, ...]]:
    match display:
        case {"fileDiff": str(diff)}:
            change = _file_change(diff, display)
            return Diff(change.path, diff), (change,)
        case {"todos": list(todos)}:
            return Todos(tuple(todo_of(todo, "description") for todo in todos)), ()
        case {"isSubagentProgress": True}:
            return _agent_progress(display), ()
        case {"summary": str(summary), "matches": list(items)} | {
            "summary": str(summary),
            "files": list(items),
        }:
            other = {
                name: value for name, value in display.items() if value is not items and name != "summary"
            }
            return Listing(summary, tuple(items), other), ()
        case _:
            return UnrecognisedDisplay(display), ()


def _file_change(diff: str, about: dict[str, Any]) -> FileChange:
    before, after = text_or_none(about.get("originalContent")), text_or_none(about.get("newContent"))
    path = text_or_none(about.get("filePath")) or text_or_none(about.get("fileName")) or ""
    is_new = about.get("isNewFile") is True or (before is None and after is not None)
    _, _, hunks = f"\n{diff}".partition("\n@@")
    lines = hunks.split("\n")
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    operation = Operation.CREATE if is_new else Operation.EDIT
    return FileChange(path, operation, diff, before, after, added, removed)


def _asked_changes(name: str, arguments: object) -> tuple[FileChange, ...]:
    """Changes of which no diff was stored (before 0.25): what was asked for."""
    if name not in _EDITING:
        return ()
    match arguments:
        case {"file_path": str(path), "content": str(after)}:
            return (FileChange(path, Operation.EDIT, after=after),)
        case {"file_path": str(path)}:
            return (FileChange(path, Operation.EDIT),)
        case _:
            return ()


def _agent_progress(progress: dict[str, Any]) -> AgentProgress:
    activity = progress.get("recentActivity")
    return AgentProgress(
        text_or_none(progress.get("agentName")) or "",
        text_or_none(progress.get("state")),
        text_or_none(progress.get("result")),
        tuple(activity) if isinstance(activity, list) else (),
        text_or_none(progress.get("terminateReason")),
    )


def _exit_code(result: Iterable[ResultPart]) -> int | None:
    """The exit code in a shell's report, where it has one."""
    for part in result:
        end = part.text[-_REPORT_LENGTH:] if isinstance(part, Text) else ""
        if "Exit Code: " in end and (found := _EXIT_CODE.search(end)):
            return int(found[1])
    return None
