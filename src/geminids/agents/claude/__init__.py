"""Claude Code sessions.

    ~/.claude/projects/<folder>/<session id>.jsonl                          all releases
    ~/.claude/projects/<folder>/agent-<id>.jsonl                            subagents of 2.0
    ~/.claude/projects/<folder>/<session id>/subagents/agent-<id>.jsonl     subagents since 2.1

A file is a tree of records, only ever appended to: each names the one it hangs on, and the conversation is
the way from its leaf to the root. One reply of the model is spread over several lines. A fork, and in 1.0
also a resume, copies what was said into a new file. Checked against releases 1.0.31, 1.0.120, 2.0.30, 2.0.76
and 2.1.325.

Credentials are never opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geminids.agents.claude import homes
from geminids.core.agents.packaged import PackagedSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from geminids.core.agents.records import Recorder


class ClaudeSource(PackagedSource):
    """What Claude Code leaves in its home, and what is known of it."""

    package = __name__
    name = homes.AGENT
    title = "Claude Code"
    revision = 4
    variables: Mapping[str, str] = {
        "CLAUDE_CONFIG_DIR": "Where Claude Code keeps its data; looked at besides `~/.claude`.",
        "CLAUDE_PROJECTS_DIR": "A folder that holds projects of Claude Code; looked at besides the others.",
    }
    custody: Mapping[str, Any] = {
        "agent_view": "reader:read_as_agent",
        "resuming": "custody.resume",
        "forecast": "custody.forecast",
        "restoring": "custody.restore",
    }
    beside: Mapping[str, Any] = {
        "read_beside": "companions",
        "with_outputs": "read.outputs",
        "named_ids": "read.outputs",
    }
    file_facts: Mapping[str, Any] = {
        "recognise": "file_facts",
        "is_own_name": "file_facts",
        "keeps_secrets": "companion_files",
    }
    project_facts: Mapping[str, Any] = {
        "data_folders": (homes.DATA_FOLDER,),
        "tree_folders": (homes.DATA_FOLDER,),
        "known_folders": "known_folders",
        "named_folders": "read.evidence",
    }

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.claude.recorder import ClaudeRecorder

        return ClaudeRecorder()
