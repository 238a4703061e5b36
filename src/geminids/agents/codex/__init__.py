"""Codex CLI sessions.

    ~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl    since 2025
    …-<thread>_<rollout>.jsonl                                    a thread that was taken back, since 2026
    ~/.codex/archived_sessions/rollout-….jsonl                    what `codex archive` put away
    ….jsonl.zst                                                   what was not used for long

A rollout is a log: what the model saw (items), what was shown (events), what was settled for a turn. A
legacy one is whole in itself, and a fork copies its parent; a paginated one numbers its lines, and a fork
points at its parent. Checked against releases 0.44 to 0.166, and files of the first months.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geminids.agents.codex import homes
from geminids.core.agents.packaged import PackagedSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from geminids.core.agents.records import Recorder


class CodexSource(PackagedSource):
    """What Codex CLI leaves in its home, and what is known of it."""

    package = __name__
    name = homes.AGENT
    title = "Codex CLI"
    revision = 3
    variables: Mapping[str, str] = homes.VARIABLES
    custody: Mapping[str, Any] = {
        "agent_view": "read.agent_view",
        "resuming": "custody.resume",
        "forecast": "custody.forecast",
        "restoring": "custody.restore",
    }
    file_facts: Mapping[str, Any] = {
        "recognise": "file_facts",
        "is_own_name": "file_facts",
        "keeps_secrets": "file_facts",
        "unpacked": "read.rollout_text",
        "moved_name": "read.rollouts:name_for_good",
    }
    project_facts: Mapping[str, Any] = {
        "data_folders": (homes.DATA_FOLDER,),
        "known_folders": "known_folders",
    }

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.codex.recorder import CodexRecorder

        return CodexRecorder()
