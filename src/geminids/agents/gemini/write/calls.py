"""Tool calls as Gemini CLI records them: arguments, answer, how it ended, what was shown."""

from __future__ import annotations

from typing import Any

from geminids.agents.gemini.write.content import Piece, response_of
from geminids.agents.gemini.write.names import moment, session_id
from geminids.core.model import (
    AgentProgress,
    AnyDisplay,
    Diff,
    FileChange,
    Listing,
    Operation,
    Plain,
    Screen,
    Todos,
    ToolCall,
    ToolResult,
    ToolStatus,
    UnrecognisedDisplay,
)

_STATUSES = {
    ToolStatus.SUCCESS: "success",
    ToolStatus.ERROR: "error",
    ToolStatus.CANCELLED: "cancelled",
    ToolStatus.PENDING: "executing",
}
_FAILED = frozenset({ToolStatus.ERROR, ToolStatus.CANCELLED})
_ENDED = _FAILED | {ToolStatus.SUCCESS}
_FIELDS = frozenset({"id", "name", "args", "result", "status", "timestamp", "agentId"}) | {
    *("displayName", "description", "resultDisplay", "renderOutputAsMarkdown")
}


def call_record(call: ToolCall, call_id: str) -> dict[str, Any]:
    """One entry of `toolCalls`. What is not known is not there."""
    known = {
        "id": call_id,
        "name": call.name,
        "args": call.arguments,
        "result": _result(call, call_id),
        "status": call.native_status or _STATUSES.get(call.status),
        "timestamp": moment(call.at),
        "agentId": session_id(call.child_id) if call.child_id else None,
        "resultDisplay": _shown(call),
        "displayName": call.display_name,
        "description": call.description,
    }
    other = {name: call.other[name] for name in sorted(call.other) if name not in _FIELDS}
    return {name: value for name, value in known.items() if value is not None} | other


def has_failed(call: ToolCall) -> bool:
    """Whether what came back is an error, and not an output."""
    return call.status in _FAILED


def answer_piece(answer: ToolResult, call_id: str | None, *, failed: bool) -> Piece:
    """An answer that stands in a message of its own; pictures stand inside it."""
    response, beside = response_of(answer.parts, failed=failed)
    about = {"id": call_id, "name": answer.name, "response": response, "parts": beside or None}
    return {"functionResponse": {name: value for name, value in about.items() if value is not None}}


def _result(call: ToolCall, call_id: str) -> list[Piece] | None:
    """What came back. A call that ended has an answer, an empty one if need be: the model waits for it."""
    response, beside = response_of(call.result, failed=has_failed(call))
    if not response and not beside and call.status not in _ENDED:
        return None
    # Pictures stand behind the answer: what stands inside it the agent leaves out when it goes on.
    return [{"functionResponse": {"id": call_id, "name": call.name, "response": response}}, *beside]


def _shown(call: ToolCall) -> Any:
    if isinstance(call.display, Diff):
        path, diff = call.display.path, call.display.diff
        return _file_diff(path, diff, next((c for c in call.changes if c.path == path), None))
    if call.display is None:
        change = next((change for change in call.changes if change.diff), None)
        return _file_diff(change.path, change.diff or "", change) if change else None
    return _display(call.display)


def _display(display: AnyDisplay) -> Any:
    match display:
        case Plain(text=text):
            return text or None
        case Screen(cells=cells):
            return cells
        case Todos(todos=todos):
            return {"todos": [{"description": todo.text, "status": todo.status} for todo in todos]}
        case AgentProgress():
            return _progress(display)
        case Listing(summary=summary, items=items, other=other):
            are_matches = "files" in other or any(isinstance(item, dict) for item in items)
            return {"summary": summary, "matches" if are_matches else "files": list(items)} | other
        case UnrecognisedDisplay(raw=raw):
            return raw


def _file_diff(path: str, diff: str, change: FileChange | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"fileDiff": diff, "fileName": path.replace("\\", "/").rpartition("/")[2]}
    shown["filePath"] = path
    if change is not None:
        shown |= {"originalContent": change.before} if change.before is not None else {}
        shown |= {"newContent": change.after} if change.after is not None else {}
        shown["isNewFile"] = change.operation is Operation.CREATE
    return shown


def _progress(progress: AgentProgress) -> dict[str, Any]:
    shown = {
        "isSubagentProgress": True,
        "agentName": progress.agent,
        "recentActivity": list(progress.activity),
        "state": progress.state,
        "result": progress.result,
        "terminateReason": progress.ended_because,
    }
    return {name: value for name, value in shown.items() if value is not None}
