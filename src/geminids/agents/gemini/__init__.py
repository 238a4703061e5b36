"""Gemini CLI sessions.

    ~/.gemini/tmp/<project>/chats/session-<minute>-<id>.jsonl    since 0.39, April 2026
    ~/.gemini/tmp/<project>/chats/session-<minute>-<id>.json     0.4 to 0.38
    …/chats/<session id>/<agent id>.jsonl                        subagents, since 0.37

A `.jsonl` file is a log of changes, not a list of messages: a record with a known id replaces the
earlier one, `$rewindTo` takes back a message and all after it, `$set` changes the session itself and,
since 0.44, may replace its messages. Checked against releases 0.4 to 0.61.

What lies beside the sessions (saved chats, what the human typed, outputs, plans) is read after them,
and tied to them by what they hold in common. Credentials are never opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geminids.agents.gemini import homes
from geminids.core.agents.packaged import PackagedSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from geminids.core.agents.protocols import Writer
    from geminids.core.agents.records import Recorder


class GeminiSource(PackagedSource):
    """What Gemini CLI leaves in its home, and what is known of it."""

    package = __name__
    name = homes.AGENT
    title = "Gemini CLI"
    revision = 5
    variables: Mapping[str, str] = {
        "GEMINI_CLI_HOME": "Where Gemini CLI keeps `.gemini`; looked at besides the user's home.",
        "GEMINI_SESSIONS_DIR": "A folder that holds projects of Gemini CLI; looked at besides the others.",
    }
    custody: Mapping[str, Any] = {
        "agent_view": "reader:read_as_agent",
        "resuming": "custody.resume",
        "forecast": "custody.forecast",
        "restoring": "custody.restore",
        "stranded": "custody.rescue",
    }
    beside: Mapping[str, Any] = {
        "read_beside": "companions",
        "typed_mark": "companions.typed_words",
        "with_outputs": "companions.outputs",
        "named_ids": "companions.outputs",
    }
    file_facts: Mapping[str, Any] = {
        "recognise": "file_facts",
        "is_own_name": "file_facts",
        "keeps_secrets": "companion_files",
    }
    project_facts: Mapping[str, Any] = {
        "marks": (homes.DATA_FOLDER, "GEMINI.md"),
        "data_folders": (homes.DATA_FOLDER,),
        "tree_folders": (homes.DATA_FOLDER,),
        "named_folders": "read.evidence",
    }

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.gemini.recorder import GeminiRecorder

        return GeminiRecorder()

    def writer(self) -> Writer:
        """Sessions of any agent as Gemini CLI writes and shares them."""
        from geminids.agents.gemini.writer import GeminiWriter

        return GeminiWriter()
