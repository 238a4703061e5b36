"""What is known of the files of Claude Code, whatever they hold: names, words for them, credentials."""

from __future__ import annotations

from geminids.core.agents.plain import PlainFiles
from geminids.core.lazy_patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_OWN_NAME = lazy_pattern(
    r"\.claude|\.config|claude|projects|subagents|workflows|tool-results|session-memory|memory|plans|tasks|todos"
    r"|images|MEMORY\.md|CLAUDE\.md|history\.jsonl|sessions-index\.json|settings(\.local)?\.json"
    r"|file-history|shell-snapshots|statsig|debug|stats-cache\.json"
    r"|[0-9a-f]{8}-[0-9a-f-]{27}(\.jsonl)?|agent-(?:a[a-z]+-)?[0-9a-f]+(\.jsonl|\.meta\.json)?"
    r"|[0-9a-z]{9}\.txt|toolu_[0-9A-Za-z]+\.(txt|json)"
)
_KEEPS_BOOKS = frozenset(
    {"queue-operation", "file-history-snapshot", "mode", "permission-mode", "last-prompt"}
)


class ClaudeFiles(PlainFiles):
    """The files of Claude Code."""

    def recognise(self, content: object) -> str | None:
        """What a document, a record or a text is; None if it is nothing of Claude Code."""
        match content:
            case {"message": {"parts": _}}:
                # Another agent writes the same tree with other messages in it.
                return None
            case {"uuid": str(), "sessionId": str()} | {"type": "summary", "leafUuid": str()}:
                return "a session of Claude Code that holds nothing to show"
            case {"type": str(kind), "sessionId": str()} if kind in _KEEPS_BOOKS:
                return "a session of Claude Code that holds nothing to show"
            case {"type": "file-history-snapshot", "snapshot": dict()}:
                return "a session of Claude Code that holds nothing to show"
            case {"display": str(), "pastedContents": _, "project": str()}:
                return "the list of prompts that Claude Code keeps (history.jsonl)"
            case {"agentType": str(), "toolUseId": str()}:
                return "the note of Claude Code about a subagent"
            case _:
                return None

    def is_own_name(self, name: str) -> bool:
        """Whether Claude Code itself gives this name to files or folders: words it always uses, and ids.

        A project's folder is named after its path.
        """
        return _OWN_NAME.fullmatch(name) is not None

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Claude Code keeps credentials in this file."""
        from geminids.agents.claude.companion_files import keeps_secrets

        return keeps_secrets(str(path))
