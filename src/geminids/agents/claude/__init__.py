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

from geminids.agents.claude import homes as claude_homes
from geminids.core.agents.source import Source
from geminids.core.disk import REAL, Disk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Companions, Home, Reading, Scan
    from geminids.core.agents.fates import Fate, Forecast
    from geminids.core.agents.records import Recorder
    from geminids.core.agents.rescue import Stranded
    from geminids.core.agents.restore import Copy, Restoring
    from geminids.core.agents.resume import Circumstances, Resuming
    from geminids.core.agents.traces import Trace
    from geminids.core.model import Session


class ClaudeSource(Source):
    """Reads what Claude Code leaves in its home. The readers are loaded when they are asked for."""

    name = claude_homes.AGENT
    title = "Claude Code"
    revision = 4
    variables: Mapping[str, str] = {
        "CLAUDE_CONFIG_DIR": "Where Claude Code keeps its data; looked at besides `~/.claude`.",
        "CLAUDE_PROJECTS_DIR": "A folder that holds projects of Claude Code; looked at besides the others.",
    }

    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The homes this machine has."""
        return claude_homes.homes(environment, user_home)

    def homes_below(self, folder: str) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        return claude_homes.homes_below(folder)

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each folder of a home, which is another one as soon as its content may be."""
        from geminids.agents.claude.footprint import footprint

        return footprint(home)

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """The session files of a home or of some of its folders, in bundles."""
        from geminids.agents.claude.layout import scan

        return scan(home, only)

    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle, and where every byte of its files went."""
        from geminids.agents.claude.read.reading import read

        return read(bundle)

    def typed_mark(self, bundle: Bundle) -> str | None:
        """None: its sessions are told by their own files."""
        return None

    def read_alone(self, path: Path) -> Reading | None:
        """The session in a file given by hand."""
        from geminids.agents.claude.read.reading import read_alone

        return read_alone(path)

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """What became of every file beside the sessions; none of them holds a session."""
        from geminids.agents.claude.companions import read_beside

        return read_beside(companions, limit)

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session with the whole outputs of its tools, as far as they are there."""
        from geminids.agents.claude.read.outputs import with_outputs

        return with_outputs(session, disk)

    def named_ids(self, session: Session) -> Collection[str]:
        """The ids under which the session's own records say that files were put away."""
        from geminids.agents.claude.read.outputs import named_ids

        return named_ids(session)

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way."""
        from geminids.agents.claude.read.evidence import named_folders

        return named_folders(session)

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """None: Claude Code packs nothing."""
        return None

    def recognise(self, content: object) -> str | None:
        """What something that Claude Code wrote is, in words."""
        from geminids.agents.claude.describing import recognise

        return recognise(content)

    def is_own_name(self, name: str) -> bool:
        """Whether Claude Code itself gives this name to files or folders."""
        from geminids.agents.claude.describing import is_own_name

        return is_own_name(name)

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Claude Code keeps credentials in this file."""
        from geminids.agents.claude.companion_files import keeps_secrets

        return keeps_secrets(str(path))

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The records that Claude Code would go on with, in order, from its last compaction on."""
        from geminids.agents.claude.read.reading import read_as_agent

        return read_as_agent(path)

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How Claude Code would go on with a session, or why it cannot."""
        from geminids.agents.claude.custody.resume import resuming

        return resuming(session, circumstances)

    def moved_name(self, path: str) -> str | None:
        """None: Claude Code moves no session."""
        return None

    def stranded(self, home: Home, circumstances: Circumstances) -> Iterable[Stranded]:
        """None: no session is known that Claude Code has on the disk and cannot resume."""
        return ()

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Where the files of a kept session go so that Claude Code finds them, and with which bytes."""
        from geminids.agents.claude.custody.restore import restoring

        return restoring(home, copies)

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """What Claude Code is going to delete of a home by itself."""
        from geminids.agents.claude.custody.forecasting import forecast

        return forecast(home, fates, circumstances)

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.claude.record.recorder import ClaudeRecorder

        return ClaudeRecorder()
