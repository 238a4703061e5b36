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

from geminids.agents.gemini import homes as gemini_homes
from geminids.core.agents.source import Source
from geminids.core.disk import REAL, Disk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Companions, Home, Reading, Scan
    from geminids.core.agents.fates import Fate, Forecast
    from geminids.core.agents.protocols import Writer
    from geminids.core.agents.records import Recorder
    from geminids.core.agents.rescue import Stranded
    from geminids.core.agents.restore import Copy, Restoring
    from geminids.core.agents.resume import Circumstances, Resuming
    from geminids.core.agents.traces import Trace
    from geminids.core.model import Session


class GeminiSource(Source):
    """Reads what Gemini CLI leaves in its home. The readers are loaded when they are asked for."""

    name = gemini_homes.AGENT
    title = "Gemini CLI"
    revision = 5
    variables: Mapping[str, str] = {
        "GEMINI_CLI_HOME": "Where Gemini CLI keeps `.gemini`; looked at besides the user's home.",
        "GEMINI_SESSIONS_DIR": "A folder that holds projects of Gemini CLI; looked at besides the others.",
    }

    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The homes this machine has."""
        return gemini_homes.homes(environment, user_home)

    def homes_below(self, folder: str) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        return gemini_homes.homes_below(folder)

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each folder of a home, which is another one as soon as its content may be."""
        from geminids.agents.gemini.footprint import footprint

        return footprint(home)

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """The session files of a home or of some of its folders, in bundles."""
        from geminids.agents.gemini.layout import scan

        return scan(home, only)

    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle, and where every byte of its files went."""
        from geminids.agents.gemini.read.reading import read

        return read(bundle)

    def typed_mark(self, bundle: Bundle) -> str | None:
        """A text that is another one as soon as the prompt log may tell something else of some sessions."""
        from geminids.agents.gemini.companions.typed_words import typed_mark

        return typed_mark(bundle)

    def read_alone(self, path: Path) -> Reading | None:
        """What one file given by hand holds: a session, or a conversation that was saved or printed."""
        from geminids.agents.gemini.read.reading import read_alone

        return read_alone(path)

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """Saved chats and lost sessions of a project, and what became of every file beside its sessions."""
        from geminids.agents.gemini.companions import read_beside

        return read_beside(companions, traces, limit)

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session with the whole outputs of its tools, as far as they are there."""
        from geminids.agents.gemini.companions.outputs import with_outputs

        return with_outputs(session, disk)

    def named_ids(self, session: Session) -> Collection[str]:
        """The ids under which the session's own records say that files were put away."""
        from geminids.agents.gemini.companions.outputs import named_ids

        return named_ids(session)

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way."""
        from geminids.agents.gemini.read.evidence import named_folders

        return named_folders(session.messages)

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """None: Gemini CLI packs nothing."""
        return None

    def recognise(self, content: object) -> str | None:
        """What something that Gemini CLI wrote is, in words."""
        from geminids.agents.gemini.describing import recognise

        return recognise(content)

    def is_own_name(self, name: str) -> bool:
        """Whether Gemini CLI itself gives this name to files or folders."""
        from geminids.agents.gemini.describing import is_own_name

        return is_own_name(name)

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Gemini CLI keeps credentials in this file."""
        from geminids.agents.gemini.companion_files import keeps_secrets

        return keeps_secrets(str(path))

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The record exactly as Gemini CLI's own loader returns it from this file."""
        from geminids.agents.gemini.read.reading import read_as_agent

        return read_as_agent(path)

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How Gemini CLI would go on with a session, or why it cannot."""
        from geminids.agents.gemini.custody.resume import resuming

        return resuming(session, circumstances)

    def moved_name(self, path: str) -> str | None:
        """None: Gemini CLI copies sessions to another folder, and leaves them where they were."""
        return None

    def stranded(self, home: Home, circumstances: Circumstances) -> Iterable[Stranded]:
        """Sessions that Gemini CLI cannot show or resume though they are there, or not all of them."""
        from geminids.agents.gemini.custody.rescue import stranded

        return stranded(home, circumstances)

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Where the files of a kept session go so that Gemini CLI finds them, and with which bytes."""
        from geminids.agents.gemini.custody.restore import restoring

        return restoring(home, copies, circumstances)

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """What Gemini CLI is going to delete of a home by itself."""
        from geminids.agents.gemini.custody.forecasting import forecast

        return forecast(home, fates, circumstances)

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.gemini.record.recorder import GeminiRecorder

        return GeminiRecorder()

    def writer(self) -> Writer:
        """Sessions of any agent as Gemini CLI writes and shares them."""
        from geminids.agents.gemini.write.writer import GeminiWriter

        return GeminiWriter()
