"""What lies beside the sessions in a project's folder, told by its name and place.

    logs.json, logs.json.<reason>.<ms>.bak            what the human typed
    checkpoint-<tag>.json, checkpoint.json            /chat save
    checkpoints/<time>-<file>-<tool>.json             /restore
    bug-report-history-<ms>.json                      /bug
    logs/session-<id>.jsonl                           requests and answers, where that was switched on
    tool-outputs/session-<id>/<tool>_<call>.txt       outputs too long for a session, since 0.29
    tool_output/…, <tool>_<call>.txt, <call>.output   the same, in older releases
    <session id>/plans/…, /tasks/…, /tracker/…        and without the session before 0.30
    memory/…, images/…, shell_history, .project_root

Nothing is opened here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from geminids.model import CompanionKind


class Place(NamedTuple):
    """What a file is, and the agent's id of the session it belongs to."""

    kind: CompanionKind
    native_id: str | None = None


IGNORED = {
    r"bug-memory-\d+\.heapsnapshot": "a memory image of the CLI, written by /bug",
    r"compression_state\.json|trace\.log": "state of an experiment of the CLI",
    r"logs/rag-trace\.log": "a trace of code suggestions, none of the sessions",
    r"otel/.*": "telemetry of developers of the CLI",
    r"memory/\.extraction(-state\.json|\.lock)": "state of the CLI's background work",
    r"discovered-tools.*|policies/.*": "settings of the CLI",
}
"""What is known and left alone, and why."""
UNKNOWN = "not known to geminids"

_ID = r"(?P<id>[\w-]+)"
_PLACES = (
    (r"logs\.json(\..+\.bak)?", CompanionKind.PROMPT_LOG),
    (r"checkpoint(-.+)?\.json", CompanionKind.SAVED_CHAT),
    (r"checkpoints/.+\.json", CompanionKind.RESTORE_POINT),
    (r"bug-report-history-.+\.json", CompanionKind.REPORT),
    (rf"logs/session-{_ID}\.jsonl", CompanionKind.ACTIVITY_LOG),
    (rf"tool-outputs/session-{_ID}/.+", CompanionKind.TOOL_OUTPUT),
    (r"tool-outputs/.+|tool_output/.+|[\w.#-]+\.(output|txt)", CompanionKind.TOOL_OUTPUT),
    (rf"({_ID}/)?plans/.+", CompanionKind.PLAN),
    (rf"({_ID}/)?(tasks|tracker)/.+", CompanionKind.TASKS),
    (r"memory/.+", CompanionKind.MEMORY),
    (r"images/.+", CompanionKind.IMAGE),
    (r"shell_history", CompanionKind.SHELL_HISTORY),
    (r"\.project_root", CompanionKind.MARKER),
)
_PLACE = [(re.compile(pattern, re.DOTALL), kind) for pattern, kind in _PLACES]
_IGNORED = [(re.compile(pattern, re.DOTALL), reason) for pattern, reason in IGNORED.items()]


def place(inside: str) -> Place | None:
    """What a file is by its path inside the project's folder (with `/`); None if we have no name for it."""
    if why_ignored(inside):
        return None
    for pattern, kind in _PLACE:
        if found := pattern.fullmatch(inside):
            return Place(kind, found.groupdict().get("id"))
    return None


def why_ignored(inside: str) -> str | None:
    """Why a file is left alone; None if it is not."""
    return next((reason for pattern, reason in _IGNORED if pattern.fullmatch(inside)), None)
