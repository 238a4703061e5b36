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

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import CompanionKind
from geminids.reading.companions import (
    CREDENTIALS,
    LOOKS_SECRET,
    SETTINGS,
    STATE,
    TAUGHT,
    CompanionRole,
    leads_to_secret,
    looks_like,
)

FILES_BEFORE = "files of projects as they were, for /restore"

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

_IS_CREDENTIAL = lazy_pattern(
    r"(?:\.|copy of )?(?:"
    r"oauth_creds|google_accounts|google_account_id|mcp-oauth-tokens|a2a-oauth-tokens|gemini-credentials"
    r")(?:[^a-z0-9].*)?|\.env(?:[^a-z0-9].*)?",
    re.IGNORECASE | re.DOTALL,
)
"""The same names in any case, and what people and editors call their copies."""
_LOOKS_LIKE = {
    LOOKS_SECRET: CREDENTIALS,
    r"antigravity.*": IN_HOME["antigravity"],
    r"(projects|trustedFolders)\.json\..+": "left where the CLI was stopped while it wrote",
    r"settings\.json\..+|.*-enablement\.json|extension_integrity\.json|sandbox.*": SETTINGS,
    r"litert-server\..+|seen_.+\.json|.+\.(log|lock|pid|tmp)": STATE,
}


def place(inside: str) -> CompanionRole | str:
    """What a file is by its path inside the project's folder (with `/`), or why it is left alone."""
    folder, _, name = inside.rpartition("/")
    if is_credential(name):
        return CREDENTIALS
    if not folder:
        return _place_of_file(name)
    return _place_in(folder) or _place_by_both(folder.split("/"), name)


@lru_cache(maxsize=512)
def _place_in(folder: str) -> CompanionRole | None:
    """What all files in a folder are; None where their names matter. One may hold tens of thousands."""
    match folder.split("/"):
        case ["tool-outputs", name, *_] if name.startswith("session-"):
            return CompanionRole(CompanionKind.TOOL_OUTPUT, name.removeprefix("session-"))
        case ["tool-outputs" | "tool_output", *_]:
            return CompanionRole(CompanionKind.TOOL_OUTPUT)
        case ["logs" | "checkpoints" | "memory" | "otel" | "policies", *_]:
            return None
        case ["images", *_]:
            return CompanionRole(CompanionKind.IMAGE)
        case ["plans", *_]:
            return CompanionRole(CompanionKind.PLAN)
        case ["tasks" | "tracker", *_]:
            return CompanionRole(CompanionKind.TASKS)
        case [native_id, "plans", *_]:
            return CompanionRole(CompanionKind.PLAN, native_id)
        case [native_id, "tasks" | "tracker", *_]:
            return CompanionRole(CompanionKind.TASKS, native_id)
        case _:
            return None


def _place_by_both(folders: Sequence[str], name: str) -> CompanionRole | str:
    """What a file is in a folder that holds several kinds."""
    match [*folders, name]:
        case ["logs", _] if name.startswith("session-") and name.endswith(".jsonl"):
            return CompanionRole(
                CompanionKind.ACTIVITY_LOG, name.removeprefix("session-").removesuffix(".jsonl")
            )
        case ["logs", "rag-trace.log"]:
            return "a trace of code suggestions"
        case ["checkpoints", _] if name.endswith(".json"):
            return CompanionRole(CompanionKind.RESTORE_POINT)
        case ["memory", ".extraction-state.json" | ".extraction.lock"]:
            return STATE
        case ["memory", *_]:
            return CompanionRole(CompanionKind.MEMORY)
        case ["otel", *_]:
            return "telemetry of developers of the CLI"
        case ["policies", *_]:
            return SETTINGS
        case _:
            return looks_like(name, _LOOKS_LIKE)


def _place_of_file(name: str) -> CompanionRole | str:
    """What a file is that lies directly in the project's folder."""
    match name.split("."):
        case ["logs", "json"] | ["logs", "json", *_, "bak"]:
            return CompanionRole(CompanionKind.PROMPT_LOG)
        case [start, *_, "json"] if start == "checkpoint" or start.startswith("checkpoint-"):
            return CompanionRole(CompanionKind.SAVED_CHAT)
        case [start, *_, "json"] if start.startswith("bug-report-history-"):
            return CompanionRole(CompanionKind.REPORT)
        case [start, "heapsnapshot"] if start.startswith("bug-memory-"):
            return "a memory image of the CLI, written by /bug"
        case ["shell_history"]:
            return CompanionRole(CompanionKind.SHELL_HISTORY)
        case ["", "project_root"]:
            return CompanionRole(CompanionKind.MARKER)
        case ["compression_state", "json"] | ["trace", "log"]:
            return "state of an experiment of the CLI"
        case [start, *_, "output" | "txt"] if start:
            return CompanionRole(CompanionKind.TOOL_OUTPUT)
        case [start, *_] if start.startswith("discovered-tools"):
            return SETTINGS
        case _:
            return looks_like(name, _LOOKS_LIKE)


def why_left_alone(name: str, known: Mapping[str, str]) -> str:
    """Why an entry of a home, or of its folder of projects, is left alone."""
    return known.get(name) or looks_like(name, _LOOKS_LIKE)


def is_credential(name: str) -> bool:
    """Whether the CLI keeps credentials under this name. Such a file is not opened, not even on request."""
    return _IS_CREDENTIAL.fullmatch(name) is not None


def keeps_secrets(path: str) -> bool:
    """Whether credentials lie there, or where a link leads to."""
    return leads_to_secret(path, is_credential, _is_secret_of_home)


def _is_secret_of_home(path: str) -> bool:
    """Whether a file in a home looks as if it were secret and is nothing that the CLI writes there."""
    _, is_in_home, inside = path.replace(os.sep, "/").rpartition("/.gemini/")
    match inside.split("/"):
        case ["tmp", _, "chats", *_]:
            return False
        case ["tmp", _, name] if re.fullmatch(LOOKS_SECRET, name):
            # Outputs lay there once, named after their tools; nobody can tell them from a secret.
            return place(name) in (CREDENTIALS, CompanionRole(CompanionKind.TOOL_OUTPUT))
        case ["tmp", _, _, *_]:
            return place(inside.split("/", 2)[2]) is CREDENTIALS
        case pieces:
            return bool(is_in_home) and why_left_alone(pieces[-1], IN_HOME) is CREDENTIALS
