"""What tells most about a tool call: one argument, one line of an error, the size of a change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from geminids.core.model import (
    AgentProgress,
    AnyDisplay,
    AnyPart,
    Attachment,
    Diff,
    FileChange,
    FileReference,
    Listing,
    Origin,
    Plain,
    ResultPart,
    Screen,
    Text,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing.transcript.limits import LONGEST_ARGUMENT, cut

TELLING_ARGUMENTS = (
    "file_path",
    "absolute_path",
    "notebook_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "path",
    "dir_path",
    "paths",
    "include",
    "prompt",
    "objective",
    "task",
    "fact",
    "question",
    "questions",
    "title",
    "name",
)
"""What agents call the argument that says most, the most telling first; else a reader gives a gist."""
PLACES = ("path", "dir_path")
HANDS_BACK = {"complete_task"}
"""Tools with which subagents give their result to the session that started them."""
MOST_ANSWERS = 8

_IN_A_LINE = json.JSONEncoder(ensure_ascii=False, default=str)
_INDENTED = json.JSONEncoder(ensure_ascii=False, default=str, indent=2)


def stand_together(before: AnyPart, part: AnyPart) -> bool:
    """Close stand tool calls, a command and its output, words and the files they name; else there is room."""
    if isinstance(part, ToolCall):
        return isinstance(before, ToolCall)
    is_output = isinstance(part, Text) and part.origin in {Origin.COMMAND, Origin.SHELL}
    return (is_output and isinstance(before, Text)) or isinstance(part, FileReference | Attachment)


def value_words(value: Any, *, indented: bool = False) -> str:
    """A value of an agent: words as they are, everything else as JSON, in one line unless it is indented."""
    if isinstance(value, str):
        return value
    return (_INDENTED if indented else _IN_A_LINE).encode(value)


def line_argument(call: ToolCall, project_path: str | None, *, is_whole_below: bool) -> str:
    """What a call was about, for its line.

    Where all arguments stand below it, a long one is cut. What a call is said to do in general, if it has no
    argument, does not stand there. What a subagent hands back is told whole below the line, in any case.
    """
    if is_whole_below:
        argument = main_argument(call, project_path)
        is_description = argument == (call.description or "").strip()
        return argument if is_description else cut(argument, LONGEST_ARGUMENT)
    return "" if result_of_task(call) else main_argument(call, project_path)


def main_argument(call: ToolCall, project_path: str | None) -> str:
    """The argument that says what the call was about; paths inside the project are shortened."""
    if call.gist:
        return _inside(call.gist, project_path)
    for name in TELLING_ARGUMENTS:
        if words := _in_words(call.arguments.get(name)):
            return _who(call) + _inside(words, project_path) + _where(call, name, project_path)
    for value in call.arguments.values():
        if isinstance(value, str) and value.strip():
            return _inside(value, project_path)
    return _progress(call) or (call.description or "").strip()


def answer_lines(call: ToolCall) -> list[str]:
    """What the human answered where the model asked."""
    if call.kind is not ToolKind.ASK or call.status is not ToolStatus.SUCCESS:
        return []
    lines = [line.strip() for line in output_text(call).split("\n")]
    return [line for line in lines if line and not line.startswith("**")][:MOST_ANSWERS]


def result_of_task(call: ToolCall) -> str:
    """What a subagent handed back, in words; nothing for other calls."""
    return _first_words(call.arguments) if call.name in HANDS_BACK else ""


def output_text(call: ToolCall) -> str:
    """What the tool answered, as words: what the human saw if that was recorded, else what the model got.

    What was too long for the session, and is at hand, is told whole.
    """
    if call.full_output and call.full_output.text is not None:
        return call.full_output.text
    return _shown(call.display) or _result_text(call.result)


def error_line(call: ToolCall) -> str:
    """The first line of what went wrong, or nothing."""
    if call.status is not ToolStatus.ERROR:
        return ""
    lines = (line.strip() for line in _trouble(call).split("\n"))
    return next(filter(None, lines), "")


def _trouble(call: ToolCall) -> str:
    """What went wrong. The model is told most of it, but at times with words around it that say little."""
    shown, answered = _shown(call.display), _result_text(call.result)
    if call.exit_code:
        # Of a command people want what it printed, and not what the model was told besides.
        return shown if call.display else answered
    is_piece = bool(shown) and shown in answered
    return shown if is_piece or not answered else answered


def changed_lines(changes: Sequence[FileChange]) -> tuple[int, int] | None:
    """Lines added and removed by all changes together; None if nobody counted."""
    counted = [(change.added, change.removed) for change in changes if change.added is not None]
    if not counted:
        return None
    return sum(added or 0 for added, _ in counted), sum(removed or 0 for _, removed in counted)


def diff_lines(call: ToolCall) -> list[str]:
    """The changes of the call as lines of a unified diff, without its headings.

    Where several files were changed, the path of each stands before its lines.
    """
    diffs = [(change.path, change.diff) for change in call.changes if change.diff]
    if not diffs and isinstance(call.display, Diff):
        diffs = [(call.display.path, call.display.diff)]
    lines: list[str] = []
    for path, diff in diffs:
        lines += [f"@@ {path}"] if len(diffs) > 1 else []
        lines += _without_heading(diff.removesuffix("\n").split("\n"))
    return lines


def _without_heading(diff: Sequence[str]) -> Sequence[str]:
    begins = [place for place, line in enumerate(diff) if line.startswith("@@")]
    return [line for line in diff[begins[0] if begins else 0 :] if not line.startswith("\\ No newline")]


def _in_words(value: Any) -> str:
    match value:
        case str(text):
            return text.strip()
        case [str(), *_]:
            return ", ".join(str(item) for item in value)
        case [{"question": str()}, *_]:
            return " ".join(str(item.get("question", "")) for item in value if isinstance(item, dict))
        case _:
            return ""


def _first_words(value: Any) -> str:
    """The first words in a value, however deep they lie."""
    match value:
        case str(text):
            return text.strip()
        case dict() | list():
            values = value.values() if isinstance(value, dict) else value
            return next(filter(None, map(_first_words, values)), "")
        case _:
            return ""


def _progress(call: ToolCall) -> str:
    """How far a list of things to do has come."""
    match call.display, call.arguments.get("todos"):
        case Todos(todos=todos), _:
            things = [(todo.status, todo.text) for todo in todos]
        case _, [{"status": str()}, *_] as written:
            things = [
                (str(t.get("status")), str(t.get("description", ""))) for t in written if isinstance(t, dict)
            ]
        case _:
            return ""
    done = sum(status == "completed" for status, _ in things)
    now = next((f", now: {text}" for status, text in things if status == "in_progress" and text), "")
    return f"{done} of {len(things)} done{now}"


def _who(call: ToolCall) -> str:
    """The agent that was called, where one tool calls many."""
    agent = _in_words(call.arguments.get("agent_name"))
    return f"{agent}: " if agent else ""


def _where(call: ToolCall, argument_name: str, project_path: str | None) -> str:
    """The place of a search, which tells half of it."""
    if argument_name not in {"pattern", "query"}:
        return ""
    places = [place for name in PLACES if (place := _in_words(call.arguments.get(name)))]
    return f" in {_inside(places[0], project_path)}" if places else ""


def _inside(words: str, project_path: str | None) -> str:
    if project_path and words == project_path:
        return "."
    if project_path and words.startswith(project_path.rstrip("/\\") + "/"):
        return words[len(project_path.rstrip("/\\")) + 1 :]
    return words


def _result_text(parts: Sequence[ResultPart]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _shown(display: AnyDisplay | None) -> str:
    match display:
        case Plain(text=text) | Screen(text=text):
            return text
        case Todos(todos=todos):
            return "\n".join(f"[{todo.status}] {todo.text}" for todo in todos)
        case AgentProgress(result=str(result)):
            return result
        case Listing(summary=summary, items=items):
            return "\n".join([summary, *map(_item, items)])
        case _:
            return ""


def _item(item: Any) -> str:
    match item:
        case {"filePath": str(path), "lineNumber": int(line), "line": str(text)}:
            return f"{path}:{line}: {text}"
        case dict():
            return "  ".join(str(value) for value in item.values())
        case _:
            return str(item)
