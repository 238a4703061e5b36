"""Tool calls: what the model asked for, what came back, and what the program said of it beside.

function_call, custom_tool_call, local_shell_call, …    paired by `call_id` with …_output exec_command_end,
patch_apply_end, item CommandExecution, FileChange, McpToolCall, …    the same call once more
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from geminids.agents.codex.homes import AGENT
from geminids.agents.codex.read.content import part_of, pieces_of, text_or_none
from geminids.agents.codex.read.patches import applied_changes, changes_in_patch
from geminids.agents.codex.read.records import ITEM
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    AnyDisplay,
    Attachment,
    Diff,
    FileChange,
    Origin,
    Plain,
    ResultPart,
    Text,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
    Unrecognised,
)
from geminids.core.names import UNNAMED_TOOL
from geminids.reading.jsonl import REFUSED, decode_strict
from geminids.reading.shapes import todo_of

SCRIPT = "exec"
"""The tool of models that write scripts; what a script runs has an id of its own."""
SPAWN = "spawn_agent"
_KINDS = {
    **dict.fromkeys(
        ("shell", "local_shell", "exec_command", "shell_command", "container.exec"), ToolKind.EXECUTE
    ),
    **dict.fromkeys(("write_stdin", "unified_exec", SCRIPT, "js_repl"), ToolKind.EXECUTE),
    "apply_patch": ToolKind.EDIT,
    "view_image": ToolKind.READ,
    "read_file": ToolKind.READ,
    "list_dir": ToolKind.LIST,
    "grep_files": ToolKind.SEARCH,
    "web_search": ToolKind.SEARCH,
    "tool_search": ToolKind.SEARCH,
    "update_plan": ToolKind.PLAN,
    "request_user_input": ToolKind.ASK,
    **dict.fromkeys((SPAWN, "send_input", "wait", "wait_agent", "close_agent"), ToolKind.AGENT),
    **dict.fromkeys(("resume_agent", "followup_task", "list_agents", "send_message"), ToolKind.AGENT),
}
_COMMANDS = frozenset(name for name, kind in _KINDS.items() if kind is ToolKind.EXECUTE)
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "powershell", "pwsh"})
_EXIT_CODE = lazy_pattern(r"(?:^|\n)(?:Exit code: |Process exited with code )(-?\d{1,10})\n")
_PRINTED = "Output:\n"
"""What stands between the report on a command and what it printed."""
_OF_COMMAND = lazy_pattern(
    r"(?:^|\n)(?:Exit code: -?\d|Process exited with code -?\d|Process running with session ID )"
)
_OF_OTHERS = lazy_pattern(r"(?:Script [^\n]{1,200}\n)?Wall time:? [\d.]+ seconds\nOutput:(?:\n|$)")
"""The report on a script, or on a tool of another program."""
_SCRIPT_ERROR = "Script error:\n"
_NOTHING_PRINTED = "(no output)"
"""What Codex shows of a command that printed nothing."""
_REPORT = 2_000
"""How a command ended stands at the beginning of what came back, behind the command itself."""
_FAILED = (
    "apply_patch verification failed",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "error: ",
    "failed to parse function arguments",
    "Script failed\n",
    "failed in sandbox",
    "exec_command failed",
)
"""Beginnings of the outputs that Codex writes when any tool fails."""
_FAILED_OWN_TOOL = lazy_pattern(
    r"[\w/]+(?: [a-z]+)? failed(?:: | for `)|\w+ handler received "
    r"|[\w ]+ (?:is|are) unavailable in this session"
    r"|failed to (?:parse|serialize) |patch rejected: |approval policy is \w+; reject command"
    r"|unable to \w+ image |image path `[^`\n]*` is not a file|unknown turn environment id "
    r"|invalid agent id |agent with id \S+ (?:not found|is closed)|Agent depth limit reached"
    r"|[a-z_]+ (?:ids )?must (?:be|not be) |update_plan is a TODO/checklist tool and is not allowed"
)
"""Beginnings of failed results of Codex's own tools; their successful results never begin like this."""
_ABORTED = lazy_pattern(r"(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user)?(?: after [\d.]+s)?\s*$")
_REJECTED = ("rejected by user", "exec command rejected by user", "patch rejected by user")
_WRAPPED = '{"output":'
_ENDS = {
    "completed": ToolStatus.SUCCESS,
    "success": ToolStatus.SUCCESS,
    "failed": ToolStatus.ERROR,
    "declined": ToolStatus.CANCELLED,
}
_TOOL = Origin.TOOL


class Call:
    """A call in the making: what is known of it comes from several records."""

    __slots__ = (
        "about",
        "arguments",
        "at",
        "changes",
        "child",
        "end",
        "exit_code",
        "name",
        "output",
        "payload",
        "result",
    )

    def __init__(self, kind: str, payload: dict[str, Any], at: datetime | None) -> None:
        self.payload = payload
        self.at = at
        self.name, self.arguments = _asked(kind, payload)
        self.output: Any = None
        self.result: tuple[ResultPart, ...] | None = None
        self.end: str | None = None
        """How it ended, as the program said."""
        self.exit_code: int | None = None
        self.changes: tuple[FileChange, ...] = ()
        self.child: str | None = None
        self.about: str | None = None
        """What it was about, where its arguments say it only by ids."""
        if kind in _WHOLE:
            self.end = text_or_none(payload.get("status"))
            self.result = tuple(_inner_result(payload))

    @property
    def call_id(self) -> str | None:
        """By which its output is found."""
        return text_or_none(self.payload.get("call_id")) or text_or_none(self.payload.get("id"))

    def answer(self, output: Any) -> None:
        """Note what came back."""
        self.output = output

    @property
    def is_answered(self) -> bool:
        """Whether something came back."""
        return self.output is not None or self.result is not None

    def build(self) -> ToolCall:
        """The call with all that became of it."""
        result, stated_code = self.result, None
        if self.output is not None:
            result, stated_code = result_of(self.output)
        is_aborted = stated_code is None and _is_aborted(result or ())
        # Of a command that was stopped the program says that it failed, with -1.
        exit_code = None if is_aborted else stated_code if self.exit_code is None else self.exit_code
        status = ToolStatus.CANCELLED if is_aborted else self._status(result, exit_code)
        changes = (self.changes or changes_in_patch(self._patch())) if status is ToolStatus.SUCCESS else ()
        namespace = self.payload.get("namespace")
        return ToolCall(
            self.call_id,
            self.name,
            _kind(self.name, namespace),
            self.arguments,
            status,
            None if is_aborted else self.end,
            result or (),
            self._display(changes) or _shown(result or ()),
            changes,
            self.at,
            child_id=f"{AGENT}:{child}" if (child := self.child or self._spawned(result or ())) else None,
            exit_code=exit_code,
            other={"namespace": namespace} if namespace else {},
            gist=self._gist(changes),
        )

    def _status(self, result: tuple[ResultPart, ...] | None, exit_code: int | None) -> ToolStatus:
        if self.end in _ENDS and self.end != "completed":
            return _ENDS[self.end]
        if result is None:
            return ToolStatus.PENDING if self.end is None else ToolStatus.UNKNOWN
        if exit_code is not None:
            return ToolStatus.ERROR if exit_code else ToolStatus.SUCCESS
        return self._status_in_words(_first_text(result))

    def _status_in_words(self, text: str) -> ToolStatus:
        """Return how the call ended, by what Codex writes instead of a result."""
        begin = text[:_REPORT]
        if begin.startswith(_REJECTED):
            return ToolStatus.CANCELLED
        is_own = _kind(self.name, self.payload.get("namespace")) is not ToolKind.OTHER
        has_failed = begin.startswith(_FAILED) or (is_own and _FAILED_OWN_TOOL.match(begin))
        return ToolStatus.ERROR if has_failed else ToolStatus.SUCCESS

    def _patch(self) -> str:
        """The patch that was asked for, in whatever way."""
        match self.name, self.arguments:
            case "apply_patch", {"input": str(patch)} | {"patch": str(patch)}:
                return patch
            case _, {"command": ["apply_patch" | "applypatch", str(patch)]}:
                return patch
            case _, {"command": [_, _, str(script)]} | {"command": str(script)} | {"cmd": str(script)}:
                return script if script.lstrip().startswith("apply_patch") else ""
            case _:
                return ""

    def _display(self, changes: tuple[FileChange, ...]) -> AnyDisplay | None:
        if self.name == "update_plan" and type(steps := self.arguments.get("plan")) is list:
            return Todos(tuple(todo_of(step, "step") for step in steps))
        match changes:
            case (FileChange(diff=str(diff)) as change,):
                return Diff(change.path, diff)
        return None

    def _gist(self, changes: tuple[FileChange, ...]) -> str | None:
        if self.name == "apply_patch" or changes:
            # A patch names files as people do, the program by their whole paths.
            paths = changes_in_patch(self._patch()) or changes
            return ", ".join(change.path for change in paths) or None
        if self.name in _COMMANDS:
            return command_line(self.arguments)
        query = self.arguments.get("query")
        return query if self.name == "web_search" and isinstance(query, str) else self.about

    def _spawned(self, result: Iterable[ResultPart]) -> str | None:
        """The thread of the subagent that the call started."""
        match decoded(_first_text(result)) if self.name == SPAWN else None:
            case {"agent_id": str(agent)}:
                return agent
            case _:
                return None


_WHOLE = frozenset(ITEM + name for name in ("web_search_call", "image_generation_call"))
"""Calls that stand with their end in one record."""


def _asked(kind: str, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a call."""
    name = text_or_none(payload.get("name")) or kind.removeprefix(ITEM).removesuffix("_call") or UNNAMED_TOOL
    for field in ("arguments", "input", "action"):
        if (asked := payload.get(field)) is not None:
            return name, _arguments(field, asked)
    return name, {}


def _arguments(field: str, asked: object) -> dict[str, Any]:
    """The arguments; a text that holds an object as that object, what is no object under its name."""
    value = decoded(asked) if field == "arguments" and type(asked) is str else asked
    if type(value) is dict:
        return value
    return {} if asked == "" else {field: asked}


def decoded(text: str) -> Any:
    """What a text holds as JSON; the text itself if it is none."""
    try:
        return decode_strict(text)
    except REFUSED:
        return text


def _kind(name: str, namespace: object) -> ToolKind:
    if isinstance(namespace, str) and namespace.startswith("mcp__"):
        return ToolKind.OTHER
    return _KINDS.get(name, ToolKind.OTHER)


def command_line(arguments: dict[str, Any]) -> str | None:
    """What a shell was asked for, as people type it."""
    match arguments:
        case {"command": [str(shell), str(flag), str(script)]} if shell in _SHELLS and flag.startswith("-"):
            return script
        case {"command": [*words]} if words and all(type(word) is str for word in words):
            return shlex.join(words)
        case {"command": str(line)} | {"cmd": str(line)} | {"chars": str(line)} | {"input": str(line)}:
            return line
        case _:
            return None


def result_of(output: Any) -> tuple[tuple[ResultPart, ...], int | None]:
    """What came back, and the exit code of a command where it says one."""
    if type(output) is str:
        return _text_result(output)
    if type(output) is dict:
        inner = output.get("content", output.get("output"))
        parts, exit_code = result_of(inner) if inner is not None else ((Unrecognised(output),), None)
        return parts, 1 if exit_code is None and output.get("success") is False else exit_code
    parts = tuple(part for piece in pieces_of(output) if (part := part_of(piece, _TOOL)) is not None)
    first = parts[0] if parts else None
    return parts, _exit_code(first.text) if type(first) is Text else None


def words_in(output: Any) -> str:
    """All words of what came back, however they are broken into lines."""
    parts, _ = result_of(output)
    return " ".join(" ".join(part.text for part in parts if type(part) is Text).split())


def _text_result(output: str) -> tuple[tuple[ResultPart, ...], int | None]:
    if output.startswith(_WRAPPED):
        match decoded(output):
            case {"output": str(text), "metadata": {"exit_code": int(exit_code)}}:
                return (Text(text, _TOOL),), exit_code
            case {"output": str(text)}:
                return (Text(text, _TOOL),), None
    elif output.startswith('[{"'):
        value = decoded(output)
        if type(value) is list and all(type(piece) is dict and "type" in piece for piece in value):
            return result_of(value)
    return (Text(output, _TOOL),), _exit_code(output)


def _shown(result: tuple[ResultPart, ...]) -> Plain | None:
    """What a tool printed, without the report that Codex puts above it for the model."""
    match result:
        case (Text(text=text), *others):
            end = _end_of_report(text)
        case _:
            return None
    if end is None or not all(type(part) is Text for part in others):
        return None
    texts = [text[end:], *(part.text for part in others if type(part) is Text)]
    printed = "\n".join(text.removeprefix(_SCRIPT_ERROR) for text in texts if text)
    return Plain(printed or _NOTHING_PRINTED)


def _end_of_report(text: str) -> int | None:
    """Where the report ends that a text begins with; None if it begins with none."""
    if of_others := _OF_OTHERS.match(text):
        return of_others.end()
    report, heading, _ = text[:_REPORT].partition(_PRINTED)
    return len(report) + len(heading) if heading and _OF_COMMAND.search(report) else None


def _first_text(parts: Iterable[ResultPart]) -> str:
    return next((part.text for part in parts if type(part) is Text), "")


def _exit_code(text: str) -> int | None:
    found = _EXIT_CODE.search(text[:_REPORT].partition(_PRINTED)[0])
    return int(found[1]) if found else None


def _is_aborted(result: Iterable[ResultPart]) -> bool:
    """Whether the human stopped a call; also the program calls it failed then."""
    return _ABORTED.match(_first_text(result)[:_REPORT]) is not None


def _inner_result(payload: dict[str, Any]) -> Iterator[ResultPart]:
    """What a call found that stands with its end in one record."""
    picture = payload.get("result")
    if isinstance(picture, str) and picture:
        yield Attachment("image/png", picture, origin=_TOOL)


def note_event(call: Call, said: dict[str, Any]) -> None:
    """Note what an event or an item says of a call."""
    status = text_or_none(said.get("status"))
    call.end = status or call.end
    if type(said.get("exit_code")) is int:
        call.exit_code = said["exit_code"]
    if said.get("success") is False:
        call.end = "failed"
    if changes := applied_changes(said.get("changes")):
        call.changes += changes
    match said:
        case {"result": {"isError": True} | {"Err": _} | {"Ok": {"isError": True}}}:
            call.end = "failed"
        case {"receiver_thread_ids": [str(child), *_]} if call.name == SPAWN:
            call.child = child
        case {"agent_thread_id": str(child)} | {"new_thread_id": str(child)} if call.name == SPAWN:
            call.child = child
