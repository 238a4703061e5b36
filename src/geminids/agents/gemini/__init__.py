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

from geminids.agents.gemini import homes as gemini_homes
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
        Writer,
    )
    from geminids.core.agents.records import Recorder


class GeminiSource(Source):
    """Reads what Gemini CLI leaves in its home. The readers are loaded when they are asked for."""

    name = gemini_homes.AGENT
    title = "Gemini CLI"
    program = "gemini"
    revision = 9
    reworded = ()
    variables: Mapping[str, str] = {
        "GEMINI_CLI_HOME": "Where Gemini CLI keeps `.gemini`; read in addition to the user's home.",
        "GEMINI_SESSIONS_DIR": "A folder with projects of Gemini CLI; read in addition to the others.",
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
        from geminids.agents.gemini.reader import read

        return read(bundle)

    def read_with_fates(self, bundle: Bundle) -> Reading:
        """The same, with what its own cleaning would see of the files."""
        from geminids.agents.gemini.reader import read_with_fates

        return read_with_fates(bundle)

    def read_alone(self, path: Path) -> Reading | None:
        """What one file given by hand holds: a session, or a conversation that was saved or printed."""
        from geminids.agents.gemini.reader import read_alone

        return read_alone(path)

    def companions(self) -> CompanionReader:
        """What lies beside its sessions."""
        from geminids.agents.gemini.companion_reader import GeminiCompanions

        return GeminiCompanions()

    def files(self) -> FileFacts:
        """What is known of its files, whatever they hold."""
        from geminids.agents.gemini.file_facts import GeminiFiles

        return GeminiFiles()

    def projects(self) -> ProjectFacts:
        """Where it is used."""
        from geminids.agents.gemini.project_facts import GeminiProjects

        return GeminiProjects()

    def custodian(self) -> Custodian:
        """What it deletes, and how its sessions come back."""
        from geminids.agents.gemini.custodian import GeminiCustodian

        return GeminiCustodian()

    def recorder(self) -> Recorder:
        """Which members of its records a session tells, whose they are, and how they are translated."""
        from geminids.agents.gemini.recorder import GeminiRecorder

        return GeminiRecorder()

    def writer(self) -> Writer:
        """Sessions of any agent as Gemini CLI writes and shares them."""
        from geminids.agents.gemini.writer import GeminiWriter

        return GeminiWriter()

    def client(self) -> Client:
        """What it tells a server that it has started."""
        from geminids.agents.gemini.client import GeminiClient

        return GeminiClient()

    def installer(self) -> Installer:
        """Where geminids is registered with it."""
        from geminids.agents.gemini.install.installer import GeminiInstaller

        return GeminiInstaller()
