"""What lies beside the sessions in a project's folder, and what else a home holds, told by name and place.

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
from collections.abc import Mapping
from typing import NamedTuple

from geminids.model import CompanionKind


class Place(NamedTuple):
    """What a file is, and the agent's id of the session it belongs to."""

    kind: CompanionKind
    native_id: str | None = None


UNKNOWN = "not known to geminids"
CREDENTIALS = "credentials: never opened"
FILES_BEFORE = "files of projects as they were, for /restore"
SETTINGS = "settings of the CLI"
STATE = "state of the CLI"
TAUGHT = "what the human taught the CLI"

_SETTINGS = ("settings.json", "settings.json.orig", "keybindings.json", "policies", "themes")
_CREDENTIALS = (
    "oauth_creds.json",
    "google_accounts.json",
    "google_account_id",
    "mcp-oauth-tokens.json",
    "mcp-oauth-tokens-v2.json",
    "a2a-oauth-tokens.json",
    "gemini-credentials.json",
    ".env",
)
IN_HOME = {
    "projects.json": "the registry of projects: read to name them",
    "projects.json.lock": "the lock of the registry of projects",
    "trustedFolders.json": "trusted folders: read to name projects",
    "GEMINI.md": "what the CLI is told in every session",
    "antigravity": "of another product",
    **dict.fromkeys(_SETTINGS, SETTINGS),
    **dict.fromkeys(("commands", "agents", "skills", "extensions", "hooks", "acknowledgments"), TAUGHT),
    **dict.fromkeys(("state.json", "installation_id", "user_id", "cache", "bin", "ide", "worktrees"), STATE),
    **dict.fromkeys(_CREDENTIALS, CREDENTIALS),
}
"""What a home holds beside its projects, and why it is left alone. Folders are not looked into."""
IN_PROJECTS_FOLDER = {
    "bin": "programs that the CLI uses",
    "background-processes": STATE,
}
"""The same beside the folders of the projects."""

# Only names that no table has are compared with these.
_LOOKS_SECRET = (
    r"(?i)\.env\b.*|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|keystore|kdbx)"
    r"|.*(credential|cred[s.]|token|secret|passw|api[-_]?key|oauth|account).*"
)
_LOOKS_LIKE = {
    _LOOKS_SECRET: CREDENTIALS,
    r"antigravity.*": IN_HOME["antigravity"],
    r"(projects|trustedFolders)\.json\..+": "left where the CLI was stopped while it wrote",
    r"settings\.json\..+|.*-enablement\.json|extension_integrity\.json|sandbox.*": SETTINGS,
    r"litert-server\..+|seen_.+\.json|.+\.(log|lock|pid|tmp)": STATE,
}


def place(inside: str) -> Place | str:
    """What a file is by its path inside the project's folder (with `/`), or why it is left alone."""
    match inside.split("/"):
        case [name]:
            return _place_of_file(name)
        case ["tool-outputs", folder, _, *_] if folder.startswith("session-"):
            return Place(CompanionKind.TOOL_OUTPUT, folder.removeprefix("session-"))
        case ["tool-outputs" | "tool_output", _, *_]:
            return Place(CompanionKind.TOOL_OUTPUT)
        case ["logs", name] if name.startswith("session-") and name.endswith(".jsonl"):
            return Place(CompanionKind.ACTIVITY_LOG, name.removeprefix("session-").removesuffix(".jsonl"))
        case ["logs", "rag-trace.log"]:
            return "a trace of code suggestions"
        case ["checkpoints", name] if name.endswith(".json"):
            return Place(CompanionKind.RESTORE_POINT)
        case ["memory", ".extraction-state.json" | ".extraction.lock"]:
            return STATE
        case ["memory", _, *_]:
            return Place(CompanionKind.MEMORY)
        case ["images", _, *_]:
            return Place(CompanionKind.IMAGE)
        case ["plans", _, *_]:
            return Place(CompanionKind.PLAN)
        case ["tasks" | "tracker", _, *_]:
            return Place(CompanionKind.TASKS)
        case ["otel", _, *_]:
            return "telemetry of developers of the CLI"
        case ["policies", _, *_]:
            return SETTINGS
        case [native_id, "plans", _, *_]:
            return Place(CompanionKind.PLAN, native_id)
        case [native_id, "tasks" | "tracker", _, *_]:
            return Place(CompanionKind.TASKS, native_id)
        case pieces:
            return _looks_like(pieces[-1])


def _place_of_file(name: str) -> Place | str:
    """What a file is that lies directly in the project's folder."""
    match name.split("."):
        case ["logs", "json"] | ["logs", "json", *_, "bak"]:
            return Place(CompanionKind.PROMPT_LOG)
        case [start, *_, "json"] if start == "checkpoint" or start.startswith("checkpoint-"):
            return Place(CompanionKind.SAVED_CHAT)
        case [start, *_, "json"] if start.startswith("bug-report-history-"):
            return Place(CompanionKind.REPORT)
        case [start, "heapsnapshot"] if start.startswith("bug-memory-"):
            return "a memory image of the CLI, written by /bug"
        case ["shell_history"]:
            return Place(CompanionKind.SHELL_HISTORY)
        case ["", "project_root"]:
            return Place(CompanionKind.MARKER)
        case ["compression_state", "json"] | ["trace", "log"]:
            return "state of an experiment of the CLI"
        case [start, *_, "output" | "txt"] if start:
            return Place(CompanionKind.TOOL_OUTPUT)
        case [start, *_] if start.startswith("discovered-tools"):
            return SETTINGS
        case _:
            return _looks_like(name)


def why_left_alone(name: str, known: Mapping[str, str]) -> str:
    """Why an entry of a home, or of its folder of projects, is left alone."""
    return known.get(name) or _looks_like(name)


def is_credential(name: str) -> bool:
    """Whether the CLI keeps credentials under this name. Such a file is not opened, not even on request."""
    return IN_HOME.get(name) is CREDENTIALS


def _looks_like(name: str) -> str:
    return next((why for pattern, why in _LOOKS_LIKE.items() if re.fullmatch(pattern, name)), UNKNOWN)
