"""What the package of an agent may offer besides a reader, each by itself.

    CompanionReader    what lies beside the sessions: saved chats, outputs that were moved out of them
    FileFacts          what the agent's files are, whatever they hold: names, packing, credentials
    ProjectFacts       where the agent is used: folders that it knows, and those that it makes
    Custodian          what the agent deletes, and how its sessions are resumed, put back and rescued
    Writer             sessions in the shapes in which the agent itself writes them
    Recorder           what is known of its records, for verifiable records of its sessions (`records.py`)
    Installer          where geminids is registered, so that the agent can ask it and has sessions kept

None of them holds state, prints or writes anything. `plain.py` has the plainest answers for agents that say
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from geminids.core.disk import REAL, Disk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Companions, Reading
    from geminids.core.agents.fates import Fate, Forecast
    from geminids.core.agents.homes import Home
    from geminids.core.agents.install import Installing, Launch
    from geminids.core.agents.records import Translation
    from geminids.core.agents.rescue import Progress, Stranded
    from geminids.core.agents.restore import Copy, Restoring
    from geminids.core.agents.resume import Circumstances, Offer, Resuming
    from geminids.core.agents.traces import Trace
    from geminids.core.model import Session


class CompanionReader(Protocol):
    """Reads what lies beside the sessions of a project, after them, with their traces to tie it to them."""

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """The sessions that lie beside those of a project (saved, lost), tied to them by their traces.

        With a limit, so many bytes are read and what is left unread is a problem; without one,
        every file that can be read is, for its account.
        """
        ...

    def typed_mark(self, bundle: Bundle) -> str | None:
        """A text that is another one as soon as the logs of a bundle may tell something else of its sessions.

        None if they cannot be read. Asked only where bundles have logs.
        """
        ...

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session with all that was moved out of it to files of their own, as far as they are there."""
        ...

    def moved_marks(self) -> Collection[str]:
        """Words of which one stands in every record of which something was moved to a file of its own."""
        ...

    def named_ids(self, session: Session) -> Collection[str]:
        """The agent's ids under which the session's own records say that files were put away."""
        ...


class FileFacts(Protocol):
    """What the agent's files are, whatever they hold."""

    def recognise(self, content: object) -> str | None:
        """What something of the agent's is, in words that follow "it looks like"; None if it is not its own.

        Asked about files that gave no session, to say why: `content` is a JSON document (an object or a
        list), one of the first records of a log, or a text that is no JSON. No word of it is repeated.
        """
        ...

    def is_own_name(self, name: str) -> bool:
        """Whether the agent itself gives this name to files or folders: a fixed word, an id, a time.

        Every other may be the name of a project or a client, and is not shown to strangers.
        """
        ...

    def keeps_secrets(self, path: Path) -> bool:
        """Whether the agent keeps credentials in a file of this name: it is not even opened on request."""
        ...

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """What is in a file that the agent keeps packed; None for any other file.

        Places of messages in such a file, and the size in its account, count what is in it.
        """
        ...

    def moved_name(self, path: str) -> str | None:
        """What stays the same of a file when the agent itself moves or packs it; None if it never does.

        A kept copy counts as gone only if no file of the same name is anywhere in the home.
        """
        ...


class ProjectFacts(Protocol):
    """Where the agent is used, and what it leaves there."""

    @property
    def marks(self) -> Collection[str]:
        """Names of files and folders that tell a project in which people work with the agent."""
        ...

    @property
    def data_folders(self) -> Collection[str]:
        """Names of the folders in a user's home in which the agent keeps its data: nobody works in there."""
        ...

    @property
    def tree_folders(self) -> Collection[str]:
        """Names of the folders of a repository below which, in `worktrees`, the agent makes work trees."""
        ...

    def known_folders(
        self, user_home: Path, environment: Mapping[str, str], deadline: float
    ) -> Iterator[str]:
        """Folders in which the agent was used, until `time.monotonic()` is the deadline."""
        ...

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way: one of them may be its project's."""
        ...

    def slug_of(self, path: str) -> str | None:
        """Return the name that the agent makes of the path of a project; None if it makes none."""
        ...


class Custodian(Protocol):
    """What the agent sees, hides and deletes, and how its sessions come back. Starts and writes nothing."""

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The record exactly as the agent itself would load it from this file; None if it would not."""
        ...

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How the agent would go on with a session that a human led, or why it cannot."""
        ...

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """What the agent is going to delete of a home by itself; opens no session.

        The fates may be those of other homes too.
        """
        ...

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """How the files of a kept session are put back so that the agent finds them."""
        ...

    def stranded(
        self, home: Home, circumstances: Circumstances, progress: Progress | None = None
    ) -> Iterable[Stranded]:
        """Sessions of a home that the agent cannot show or resume, or not all of them, though it has them.

        `progress` is told how much of the home was looked at, and how much there is.
        """
        ...

    @property
    def finds_stranded(self) -> bool:
        """Whether `stranded` looks at the sessions; if not, it is unknown which the agent cannot show."""
        ...

    def unlisted(self) -> Sequence[Offer]:
        """Return what the agent's own list leaves out on purpose, and what to type for it."""
        ...


class Writer(Protocol):
    """Writes sessions of any agent as its own would."""

    def shared(self, sessions: Iterable[Session]) -> Iterator[bytes]:
        """Sessions as the agent shares a conversation with people, as one text in Markdown."""
        ...

    def translation(self, session: Session) -> Translation:
        """A session in the plainer translation of what the agent would write for it."""
        ...


class Installer(Protocol):
    """Where geminids is registered with the agent. Starts and writes nothing."""

    def installing(self, home: Home, launch: Launch, circumstances: Circumstances) -> Installing | None:
        """What makes the agent of a home use geminids, in the way that fits the release that is here.

        None where the agent looks for no settings, as in a folder that holds sessions alone.
        """
        ...

    def places(self, home: Home, launch: Launch) -> Installing:
        """All that was ever written for geminids in a home, in whatever way."""
        ...
