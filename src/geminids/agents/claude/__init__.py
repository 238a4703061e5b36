"""Claude Code sessions.

    ~/.claude/projects/<folder>/<session id>.jsonl                          all releases
    ~/.claude/projects/<folder>/agent-<id>.jsonl                            subagents of 2.0
    ~/.claude/projects/<folder>/<session id>/subagents/agent-<id>.jsonl     subagents since 2.1

A file is a tree of records, only ever appended to: each names the one it hangs on, and the conversation is
the way from its leaf to the root. One reply of the model is spread over several lines. A fork, and in 1.0
also a resume, copies what was said into a new file. Checked against releases 1.0.31, 1.0.120, 2.0.30, 2.0.42,
2.0.76, 2.1.150, 2.1.325 and 2.1.328.

Credentials are never opened.
"""

from __future__ import annotations

from geminids.agents.claude import homes as claude_homes
from geminids.core.agents.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Home, Reading, Scan
    from geminids.core.agents.clients import Client
    from geminids.core.agents.protocols import (
        CompanionReader,
        Custodian,
        FileFacts,
        Installer,
        ProjectFacts,
    )
    from geminids.core.agents.records import Recorder


class ClaudeSource(Source):
    """Reads what Claude Code leaves in its home. The readers are loaded when they are asked for."""

    name = claude_homes.AGENT
    title = "Claude Code"
    program = "claude"
    revision = 7
    # A command and its arguments stand apart in a record.
    reworded = ("command",)
    variables: Mapping[str, str] = {
        "CLAUDE_CONFIG_DIR": "Where Claude Code keeps its data; read in addition to `~/.claude`.",
        "CLAUDE_PROJECTS_DIR": "A folder with projects of Claude Code; read in addition to the others.",
        "CLAUDE_CODE_SESSION_ID": "The session that started `geminids mcp`, as Claude Code sets it.",
        "CLAUDE_PROJECT_DIR": "The project of that session, as Claude Code sets it.",
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
        from geminids.agents.claude.reader import read

        return read(bundle)

    def read_with_fates(self, bundle: Bundle) -> Reading:
        """The same, with what its own cleaning would see of the files."""
        from geminids.agents.claude.reader import read_with_fates

        return read_with_fates(bundle)

    def read_alone(self, path: Path) -> Reading | None:
        """The session in a file given by hand."""
        from geminids.agents.claude.reader import read_alone

        return read_alone(path)

    def companions(self) -> CompanionReader:
        """What lies beside its sessions."""
        from geminids.agents.claude.companion_reader import ClaudeCompanions

        return ClaudeCompanions()

    def files(self) -> FileFacts:
        """What is known of its files, whatever they hold."""
        from geminids.agents.claude.file_facts import ClaudeFiles

        return ClaudeFiles()

    def projects(self) -> ProjectFacts:
        """Where it is used."""
        from geminids.agents.claude.project_facts import ClaudeProjects

        return ClaudeProjects()

    def custodian(self) -> Custodian:
        """What it deletes, and how its sessions come back."""
        from geminids.agents.claude.custodian import ClaudeCustodian

        return ClaudeCustodian()

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.claude.recorder import ClaudeRecorder

        return ClaudeRecorder()

    def client(self) -> Client:
        """What it tells a server that it has started."""
        from geminids.agents.claude.client import ClaudeClient

        return ClaudeClient()

    def installer(self) -> Installer:
        """Where geminids is registered with it."""
        from geminids.agents.claude.install.installer import ClaudeInstaller

        return ClaudeInstaller()
