"""Tool calls: what was asked for, what came back, what it changed.

A call stands in a line of the model, its answer in a `user` line beside what the CLI itself knows of the
result (`toolUseResult`: an object, a text, or a list of blocks; subagents of 2.1 have none).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from geminids.agents.claude.read.changes import asked_changes, changes_of
from geminids.agents.claude.read.content import object_or_empty, result_parts, text_or_none
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    AgentProgress,
    AnyDisplay,
    Diff,
    FileChange,
    Plain,
    ResultPart,
    Text,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.reading.shapes import todo_of

SHELL = "Bash"
AGENTS = frozenset({"Task", "Agent"})
TOOL_KINDS = {
    **dict.fromkeys(("Read", "NotebookRead", "ReadMcpResourceTool"), ToolKind.READ),
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), ToolKind.EDIT),
    **dict.fromkeys((SHELL, "BashOutput", "KillShell", "KillBash", "PowerShell"), ToolKind.EXECUTE),
    **dict.fromkeys(("TaskOutput", "TaskStop", "AgentOutputTool", "Monitor"), ToolKind.EXECUTE),
    **dict.fromkeys(("Grep", "Glob", "WebSearch", "web_search", "ToolSearch", "LSP"), ToolKind.SEARCH),
    **dict.fromkeys(("LS", "ListMcpResourcesTool"), ToolKind.LIST),
    **dict.fromkeys(("WebFetch", "web_fetch"), ToolKind.FETCH),
    **dict.fromkeys(("TodoWrite", "TodoRead", "EnterPlanMode", "ExitPlanMode"), ToolKind.PLAN),
    **dict.fromkeys(("exit_plan_mode", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), ToolKind.PLAN),
    "AskUserQuestion": ToolKind.ASK,
    **dict.fromkeys(("Skill", "SlashCommand", "Memory"), ToolKind.MEMORY),
    **dict.fromkeys((*AGENTS, "SendMessage", "TeamCreate", "TeamDelete"), ToolKind.AGENT),
}
_TASK_WORDS = ("content", "subject")
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
)
"""How the answer begins where the human said no."""
_EXIT_CODE = lazy_pattern(r"(?:Error: )?Exit code (-?[0-9]{1,10})(?:\n|$)")
"""No system has one of more digits; a command may print anything."""
_TOOL_ERROR = lazy_pattern(
    r"<tool_use_error>(?:InputValidationError: [^\n]* following issues?:\n)?(.*?)(?:</tool_use_error>|\Z)",
    re.DOTALL,
)
"""What is wrong with a call, without what only announces that something is."""
_CALL_FIELDS = frozenset({"type", "id", "name", "input", "cache_control", "caller"})
_RESULT_FIELDS = frozenset(
    {"stdout", "stderr", "interrupted", "isImage", "noOutputExpected", "type", "file", "content", "mode"}
    | {"filenames", "numFiles", "numLines", "totalLines", "totalMatches", "countIsComplete", "truncated"}
    | {"durationMs", "filePath", "oldString", "newString", "originalFile", "structuredPatch", "userModified"}
    | {"replaceAll", "edits", "originalFileContents", "oldTodos", "newTodos", "agentId", "prompt", "usage"}
    | {"description", "isAsync", "status", "outputFile", "canReadOutputFile", "canContinueAgent", "tasks"}
    | {"result", "results", "questions", "answers", "plan", "task", "output", "persistedOutputPath"}
    | {"persistedOutputSize", "appliedLimit", "appliedOffset", "sandboxed", "resolvedModel", "isAgent"}
)
"""What the result of a call tells again, or what is told in another way."""
_SUCCESS, _ERROR, _PENDING = ToolStatus.SUCCESS, ToolStatus.ERROR, ToolStatus.PENDING
"""Under names that Python looks up faster: every call is asked for them."""
_OTHER = ToolKind.OTHER


class Answer(msgspec.Struct, frozen=True):
    """What came back for a call."""

    block: dict[str, Any]
    known: object
    """What the CLI itself knows of the result."""
    denied: bool = False
    """Whether the call was not allowed, or stopped."""


def tool_call(
    block: dict[str, Any], answer: Answer | None, at: datetime | None, child_id: str | None
) -> ToolCall:
    """A call with its answer."""
    name = text_or_none(block.get("name")) or "unknown"
    arguments = block.get("input")
    if type(arguments) is not dict:
        arguments = {} if arguments is None else {"input": arguments}
    result = result_parts(answer.block.get("content")) if answer else ()
    known = answer.known if answer else None
    status = _status(answer, result)
    kind = TOOL_KINDS.get(name, _OTHER)
    changes: tuple[FileChange, ...] = ()
    if kind is ToolKind.EDIT and status is _SUCCESS:
        recorded = changes_of(known) if type(known) is dict else ()
        changes = recorded or asked_changes(name, arguments, result)
    failure = _failure(name, result) if status is _ERROR else None
    return ToolCall(
        text_or_none(block.get("id")),
        name,
        kind,
        arguments,
        status,
        result=result,
        display=Plain(failure.words) if failure else _display(name, arguments, known, changes),
        changes=changes,
        at=at,
        child_id=child_id,
        exit_code=failure.exit_code if failure else None,
        other=_other(block, known),
        gist=_gist(name, arguments),
    )


def _status(answer: Answer | None, result: Iterable[ResultPart]) -> ToolStatus:
    if answer is None:
        return _PENDING
    if answer.block.get("is_error") is not True:
        known = answer.known
        was_stopped = type(known) is dict and known.get("interrupted") is True
        return ToolStatus.CANCELLED if was_stopped else _SUCCESS
    texts = (part.text for part in result if isinstance(part, Text))
    is_refused = answer.denied or any(text.startswith(_REFUSED) for text in texts)
    return ToolStatus.CANCELLED if is_refused else _ERROR


class _Failure(NamedTuple):
    """What a command that failed printed, or what is wrong with a call."""

    words: str
    exit_code: int | None = None


def _failure(name: str, result: Iterable[ResultPart]) -> _Failure | None:
    """What went wrong, where the model is told more than that; only its words tell the code of a command."""
    for part in result:
        if not isinstance(part, Text):
            continue
        if name == SHELL and (ended := _EXIT_CODE.match(part.text)):
            return _Failure(part.text[ended.end() :], int(ended[1]))
        if found := _TOOL_ERROR.match(part.text):
            return _Failure(found[1])
    return None


def _display(
    name: str, arguments: dict[str, Any], known: object, changes: tuple[FileChange, ...]
) -> AnyDisplay | None:
    """What was shown for a call, where that is another thing than its answer."""
    if changes:
        return next((Diff(change.path, change.diff) for change in changes if change.diff), None)
    match name, arguments, known:
        case "TodoWrite", {"todos": list(todos)}, _:
            return Todos(tuple(todo_of(todo, *_TASK_WORDS) for todo in todos))
        case "TaskList" | "TaskCreate" | "TaskUpdate", _, {"tasks": list(tasks)}:
            return Todos(tuple(todo_of(task, *_TASK_WORDS) for task in tasks))
        case "ExitPlanMode" | "exit_plan_mode", {"plan": str(plan)}, _:
            return Plain(plan)
        case "Agent" | "Task", _, {"content": list(blocks), "harnessNoteCount": int(notes), **facts}:
            return _report(arguments, facts, blocks[notes:])
        case _:
            return None


def _report(arguments: dict[str, Any], facts: dict[Any, Any], blocks: list[Any]) -> AgentProgress | None:
    """What a subagent handed back, without what the agent says around it to the model: seen in 2.1.325."""
    tail = facts.get("harnessTailCount")
    own = blocks[:-tail] if type(tail) is int and tail > 0 else blocks
    words = [block["text"] for block in own if isinstance(block, dict) and type(block.get("text")) is str]
    if not words:
        return None
    name = text_or_none(facts.get("agentType")) or text_or_none(arguments.get("subagent_type"))
    return AgentProgress(name or "", text_or_none(facts.get("status")), "\n".join(words), ())


def _gist(name: str, arguments: dict[str, Any]) -> str | None:
    """What a call was about, where no argument says so in plain words."""
    match name, arguments:
        case "TaskUpdate", {"taskId": str(task), **about}:
            status = text_or_none(about.get("status"))
            return f"task {task}: {status}" if status else f"task {task}"
        case "TaskGet", {"taskId": str(task)}:
            return f"task {task}"
        case "Skill", {"skill": str(skill)}:
            return skill
        case "KillShell" | "BashOutput", {"shell_id": str(shell)} | {"bash_id": str(shell)}:
            return f"shell {shell}"
        case _:
            return None


def _other(block: dict[str, Any], known: object) -> dict[str, Any]:
    """What else was written about a call, kept as it was."""
    other = {} if _CALL_FIELDS.issuperset(block) else {n: block[n] for n in block.keys() - _CALL_FIELDS}
    if type(known) is dict and not _RESULT_FIELDS.issuperset(known):
        names = known.keys() - _RESULT_FIELDS
        other |= {name: known[name] for name in sorted(names) if known[name] not in (None, "", False)}
    return other


def agent_named(known: object) -> str | None:
    """The id of the subagent that a call started."""
    return text_or_none(object_or_empty(known).get("agentId"))
