"""Codex CLI sessions.

    ~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl    since 2025
    …-<thread>_<rollout>.jsonl                                    a thread that was taken back, since 2026
    ~/.codex/archived_sessions/rollout-….jsonl                    what `codex archive` put away
    ….jsonl.zst                                                   what was not used for long

A rollout is a log: what the model saw (items), what was shown (events), what was settled for a turn. A
legacy one is whole in itself, and a fork copies its parent; a paginated one numbers its lines, and a fork
points at its parent. Checked against releases 0.44 to 0.169, and files of the first months.
"""

from __future__ import annotations

from geminids.agents.codex import homes as codex_homes
from geminids.core.agents.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Home, Reading, Scan
    from geminids.core.agents.clients import Client
    from geminids.core.agents.protocols import (
        Custodian,
        FileFacts,
        Installer,
        ProjectFacts,
    )
    from geminids.core.agents.records import Recorder


class CodexSource(Source):
    """Reads what Codex CLI leaves in its home. The readers are loaded when they are asked for."""

    name = codex_homes.AGENT
    title = "Codex CLI"
    program = "codex"
    revision = 7
    # Some events are told in words of ours.
    reworded = ("notice",)
    variables: Mapping[str, str] = codex_homes.VARIABLES

    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The homes this machine has."""
        return codex_homes.homes(environment, user_home)

    def homes_below(self, folder: str) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        return codex_homes.homes_below(folder)

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each folder of a home, which is another one as soon as its content may be."""
        from geminids.agents.codex.footprint import footprint

        return footprint(home)

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """The rollouts of a home or of some of its days, in bundles."""
        from geminids.agents.codex.layout import scan

        return scan(home, only)

    def read(self, bundle: Bundle) -> Reading:
        """The session of a bundle, and where every byte of its files went."""
        from geminids.agents.codex.reader import read

        return read(bundle)

    def read_alone(self, path: Path) -> Reading | None:
        """The session in one file given by hand."""
        from geminids.agents.codex.reader import read_alone

        return read_alone(path)

    def files(self) -> FileFacts:
        """What is known of its files, whatever they hold."""
        from geminids.agents.codex.file_facts import CodexFiles

        return CodexFiles()

    def projects(self) -> ProjectFacts:
        """Where it is used."""
        from geminids.agents.codex.project_facts import CodexProjects

        return CodexProjects()

    def custodian(self) -> Custodian:
        """What it deletes, and how its sessions come back."""
        from geminids.agents.codex.custodian import CodexCustodian

        return CodexCustodian()

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.codex.recorder import CodexRecorder

        return CodexRecorder()

    def client(self) -> Client:
        """What it tells a server that it has started."""
        from geminids.agents.codex.client import CodexClient

        return CodexClient()

    def installer(self) -> Installer:
        """Where geminids is registered with it."""
        from geminids.agents.codex.install.installer import CodexInstaller

        return CodexInstaller()
