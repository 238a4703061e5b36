"""What is known of the files of Gemini CLI, whatever they hold: names, words for them, credentials."""

from __future__ import annotations

import re

from geminids.core.agents.plain import PlainFiles
from geminids.core.lazy_patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_NOTHING = " that holds nothing to show"
"""What is ours to read and yet gave no session has no message in it."""

_OWN_NAME = lazy_pattern(
    r"tmp|chats|history|logs|memory|plans|tasks|tracker|images|checkpoints|tool[-_]outputs?|\.cache|\.gemini"
    r"|projects\.json|trustedFolders\.json|\.project_root|shell_history|checkpoint\.json|MEMORY\.md|GEMINI\.md"
    r"|logs\.json(\.[a-z_]+\.\d+\.bak)?|bug-report-history-\d+\.json|clipboard-\d+\.[a-z]+"
    r"|session-[0-9a-f]{8}-[0-9a-f-]{27}(\.jsonl)?"
    r"|[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f-]{27}(\.jsonl?)?|skill-extraction-[0-9a-f]{8}"
    r"|session-[0-9T-]+-[0-9a-f]{8}\.jsonl?(\.(unreadable|tmp)-\d+)?"
)
_SHARED_TURN = lazy_pattern(r"^## (?:USER|MODEL)", re.MULTILINE)


class GeminiFiles(PlainFiles):
    """The files of Gemini CLI."""

    def recognise(self, content: object) -> str | None:
        """What a document, a record or a text is; None if it is nothing of Gemini CLI."""
        match content:
            case str() if _SHARED_TURN.search(content):
                return "text that quotes a conversation shared from Gemini CLI as Markdown"
            case {"history": list(), "toolCall": _}:
                return "a /restore checkpoint of Gemini CLI" + _NOTHING
            case {"history": list()} | [{"role": "user" | "model", "parts": list()}, *_]:
                return "a saved chat of Gemini CLI" + _NOTHING
            case [{"sessionId": _, "messageId": _, "message": _}, *_]:
                return "the list of prompts that Gemini CLI keeps (logs.json)"
            case {"response": _, "stats": dict()}:
                return "the answer of a headless run of Gemini CLI (--output-format json)" + _NOTHING
            case {"projects": dict()}:
                return "the list of projects that Gemini CLI keeps (projects.json)"
            case {"type": "init", "session_id": str()}:
                return "the output of a headless run of Gemini CLI (--output-format stream-json)" + _NOTHING
            case {"type": "console" | "network", "payload": _}:
                return "an activity log of Gemini CLI" + _NOTHING
            case {"sessionId": _, "messages": _} | {"sessionId": _, "projectHash": _}:
                return "a session of Gemini CLI" + _NOTHING
            case _:
                return None

    def is_own_name(self, name: str) -> bool:
        """Whether Gemini CLI itself gives this name to files or folders: fixed words, ids and times."""
        return _OWN_NAME.fullmatch(name) is not None

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Gemini CLI keeps credentials in this file."""
        from geminids.agents.gemini.companion_files import keeps_secrets

        return keeps_secrets(str(path))
