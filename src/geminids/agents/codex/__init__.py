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

from geminids.agents.codex import homes as codex_homes
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


class CodexSource(Source):
    """Reads what Codex CLI leaves in its home. The readers are loaded when they are asked for."""

    name = codex_homes.AGENT
    title = "Codex CLI"
    revision = 3
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
        from geminids.agents.codex.read.reading import read

        return read(bundle)

    def typed_mark(self, bundle: Bundle) -> str | None:
        """None: its sessions are told by their own files."""
        return None

    def read_alone(self, path: Path) -> Reading | None:
        """The session in one file given by hand."""
        from geminids.agents.codex.read.reading import read_alone

        return read_alone(path)

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """Nothing: what Codex writes beside its sessions says no more than they do."""
        from geminids.core.agents.base import Reading

        return Reading((), (), ())

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session as it is: Codex keeps the outputs of tools in the session itself."""
        return session

    def named_ids(self, session: Session) -> Collection[str]:
        """None: nothing is put away under an id."""
        return ()

    def named_folders(self, session: Session) -> Iterable[str]:
        """The folder that a session was worked in, which its records say."""
        return (session.project.path,) if session.project.path else ()

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """The text of a rollout that was compressed."""
        from geminids.agents.codex.read.opening import unpacked

        return unpacked(path, disk)

    def recognise(self, content: object) -> str | None:
        """What something of Codex CLI's is called."""
        from geminids.agents.codex.describing import recognise

        return recognise(content)

    def is_own_name(self, name: str) -> bool:
        """Whether Codex CLI itself gives this name to files or folders."""
        from geminids.agents.codex.describing import is_own_name

        return is_own_name(name)

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Codex CLI keeps credentials in this file."""
        from geminids.agents.codex.secrets import keeps_secrets

        return keeps_secrets(path.name)

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The history exactly as Codex CLI would rebuild it from this file."""
        from geminids.agents.codex.read.agent_view import agent_view

        return agent_view(path)

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How Codex CLI would go on with a session, or why it cannot."""
        from geminids.agents.codex.custody.resume import resuming

        return resuming(session, circumstances)

    def moved_name(self, path: str) -> str | None:
        """The name of a rollout as it was begun: Codex CLI archives it, takes it back and packs it."""
        from geminids.agents.codex.read.rollouts import name_for_good

        return name_for_good(path)

    def stranded(self, home: Home, circumstances: Circumstances) -> Iterable[Stranded]:
        """None: no session is known that Codex CLI has on the disk and cannot resume."""
        return ()

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Where the files of a kept session go so that Codex CLI finds them, and with which bytes."""
        from geminids.agents.codex.custody.restore import restoring

        return restoring(home, copies)

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """That Codex CLI deletes nothing by itself."""
        from geminids.agents.codex.custody.forecasting import forecast

        return forecast(home)

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.codex.record.recorder import CodexRecorder

        return CodexRecorder()
