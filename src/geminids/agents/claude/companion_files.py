"""What lies beside the sessions in a project's folder, and what else a home holds, told by name and place.

    <session>/subagents/agent-<id>.jsonl, .meta.json     read with the session
    <session>/tool-results/…                             outputs too long for a session
    <session>/session-memory/…, memory/…                 what the agent noted for later

Nothing is opened here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

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

OF_SESSIONS = "written for a session; the session's own records tell the same"

IN_HOME = {
    ".credentials.json": CREDENTIALS,
    ".claude.json": CREDENTIALS,
    "CLAUDE.md": "what the CLI is told in every session",
    "file-history": "files of projects as they were, for going back",
    "history.jsonl": "prompts, which the sessions also hold",
    **dict.fromkeys(("settings.json", "settings.local.json", "keybindings.json", "themes"), SETTINGS),
    **dict.fromkeys(("agents", "commands", "skills", "hooks", "output-styles", "plugins", "rules"), TAUGHT),
    **dict.fromkeys(("todos", "tasks", "plans", "paste-cache", "image-cache"), OF_SESSIONS),
    **dict.fromkeys(("debug", "logs", "cache", "statsig", "telemetry", "backups", "downloads"), STATE),
    **dict.fromkeys(("ide", "local", "shell-snapshots", "session-env", "sessions", "teams"), STATE),
    **dict.fromkeys(("stats-cache.json", "usage-data", "mcp-needs-auth-cache.json", "chrome"), STATE),
}
"""What a home holds beside its projects, and why it is left alone. Folders are not looked into."""
INDEX = "the CLI's own list of sessions, made from the sessions"

_IS_CREDENTIAL = lazy_pattern(
    r"(?:copy of )?(?:\.credentials\.json|\.claude\.json|\.env)(?:[^a-z0-9].*)?", re.IGNORECASE | re.DOTALL
)
"""The names of credentials in any case, and what people and editors call their copies."""
_LOOKS_LIKE = {
    LOOKS_SECRET: CREDENTIALS,
    r"settings\..+|.*\.local\.json": SETTINGS,
    r"security_warnings_state.*|.+\.(log|lock|pid|tmp|backup.*)": STATE,
}


def place(inside: Sequence[str]) -> CompanionRole | str:
    """What a file is by the names on its way through the project's folder, or why it is left alone."""
    if is_credential(inside[-1]):
        return CREDENTIALS
    match inside:
        case ["sessions-index.json"]:
            return INDEX
        case ["memory", _, *_]:
            return CompanionRole(CompanionKind.MEMORY)
        case [native_id, "tool-results", _, *_]:
            return CompanionRole(CompanionKind.TOOL_OUTPUT, native_id)
        case [native_id, "session-memory", _, *_]:
            return CompanionRole(CompanionKind.MEMORY, native_id)
        case [native_id, "plans", _, *_]:
            return CompanionRole(CompanionKind.PLAN, native_id)
        case [native_id, "tasks" | "todos", _, *_]:
            return CompanionRole(CompanionKind.TASKS, native_id)
        case [native_id, "images", _, *_]:
            return CompanionRole(CompanionKind.IMAGE, native_id)
        case _:
            return looks_like(inside[-1], _LOOKS_LIKE)


def why_left_alone(name: str) -> str:
    """Why an entry of a home is left alone."""
    return IN_HOME.get(name) or (CREDENTIALS if is_credential(name) else looks_like(name, _LOOKS_LIKE))


def is_credential(name: str) -> bool:
    """Whether the CLI keeps credentials under this name. Such a file is not opened, not even on request."""
    return _IS_CREDENTIAL.fullmatch(name) is not None


def keeps_secrets(path: str) -> bool:
    """Whether credentials lie there, or where a link leads to."""
    return leads_to_secret(path, is_credential, _is_secret_of_home)


def _is_secret_of_home(path: str) -> bool:
    """Whether a file in a home looks as if it were secret and is nothing that the CLI writes there."""
    _, is_in_home, inside = path.replace(os.sep, "/").rpartition("/.claude/")
    match inside.split("/"):
        case ["projects", *_]:
            return False
        case pieces:
            return bool(is_in_home) and why_left_alone(pieces[-1]) is CREDENTIALS
