"""What is known of the files of Codex CLI, whatever they hold: names, words for them, credentials."""

from __future__ import annotations

import re

from geminids.core.agents.plain import PlainFiles
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_NOTHING = " that holds nothing to show"
"""What is ours to read and yet gave no session has no message in it."""
_UUID = r"[0-9a-f]{8}-[0-9a-f-]{27}"
_OWN_NAME = lazy_pattern(
    r"\.codex|sessions|archived_sessions|\d{4}|\d\d|session_index\.jsonl|history\.jsonl|config\.toml|AGENTS\.md"
    r"|(?:state|logs|thread_history|memories|goals)_\d+\.sqlite(?:-wal|-shm)?|log|auth\.json|version\.json"
    rf"|rollout-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-{_UUID}(?:_{_UUID})?\.jsonl(?:\.zst)?"
)
_SECRET = lazy_pattern(
    r"(?:\.|copy of )?(?:auth|\.?credentials)\.json(?:[^a-z0-9].*)?|auth[ _(-].*\.json|\.env(?:[^a-z0-9].*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Files that hold credentials, and what people call their copies."""


class CodexFiles(PlainFiles):
    """The files of Codex CLI."""

    def recognise(self, content: object) -> str | None:
        """What a document, a record or a text is; None if it is nothing of Codex CLI."""
        match content:
            case {"type": "session_meta" | "response_item" | "event_msg" | "turn_context", "payload": dict()}:
                return "a session of Codex CLI" + _NOTHING
            case {"type": "thread.started", "thread_id": str()}:
                return "the output of a headless run of Codex CLI (--json)" + _NOTHING
            case {"session_id": str(), "ts": int(), "text": str()}:
                return "the list of prompts that Codex CLI keeps (history.jsonl)"
            case {"id": str(), "thread_name": str(), "updated_at": _}:
                return "the list of names that Codex CLI keeps (session_index.jsonl)"
            case {"OPENAI_API_KEY": _}:
                return "the credentials of Codex CLI"
            case _:
                return None

    def is_own_name(self, name: str) -> bool:
        """Whether Codex CLI itself gives this name to files or folders: fixed words, ids and times."""
        return _OWN_NAME.fullmatch(name) is not None

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Codex CLI keeps credentials in this file, or somebody a copy of them."""
        return _SECRET.fullmatch(path.name) is not None

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """The text of a rollout that was compressed."""
        from geminids.agents.codex.read.rollout_text import unpacked

        return unpacked(path, disk)

    def moved_name(self, path: str) -> str | None:
        """The name of a rollout as it was begun: Codex CLI archives it, takes it back and packs it."""
        from geminids.agents.codex.read.rollouts import name_for_good

        return name_for_good(path)
