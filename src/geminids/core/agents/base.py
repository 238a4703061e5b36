"""What every reader of an agent's files offers, and the values they all speak in.

A source finds homes, scans a home into bundles (the files that can belong to the same sessions),
and reads one bundle at a time. What lies beside the sessions of a project is read after them, with
traces of them, so that it can be tied to them. A source holds no state, prints nothing and writes
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from geminids.core.agents.fates import Fate, Forecast
from geminids.core.agents.homes import Home, may_be_folder, may_exist
from geminids.core.agents.protocols import Writer
from geminids.core.agents.records import Recorder
from geminids.core.agents.rescue import Stranded
from geminids.core.agents.restore import Copy, Restoring
from geminids.core.agents.resume import Circumstances, Resuming
from geminids.core.agents.traces import Trace
from geminids.core.disk import KEPT_INODE, REAL, Disk
from geminids.core.model import (
    Companion,
    CompanionKind,
    FileAccount,
    Problem,
    Project,
    Session,
    TypedLine,
)
from geminids.core.timestamps import disk_time

__all__ = [
    "Bundle",
    "CompanionFile",
    "Companions",
    "FoundFile",
    "Home",
    "Reading",
    "Scan",
    "SkippedFile",
    "Source",
    "may_be_folder",
    "may_exist",
]


class FoundFile(msgspec.Struct, frozen=True, order=True, gc=False):
    """A file that may hold a session, as the file system describes it."""

    path: Path
    size: int
    mtime_ns: int
    inode: int

    @property
    def is_kept(self) -> bool:
        """Whether it is gone, and read from a kept copy."""
        return self.inode == KEPT_INODE


class SkippedFile(msgspec.Struct, frozen=True):
    """A file in the agent's folder that holds no session, and why we leave it alone."""

    path: Path
    size: int
    reason: str


class CompanionFile(msgspec.Struct, frozen=True, order=True, gc=False):
    """A file beside the sessions of a project: what it is, and whose session it belongs to."""

    path: str
    """There may be tens of thousands, and few are opened: making a `Path` of each would cost the most."""
    size: int
    mtime_ns: int
    inode: int
    kind: CompanionKind
    native_id: str | None = None
    """The agent's own id of the session, where the place of the file says so."""

    @property
    def is_kept(self) -> bool:
        """Whether it is gone, and read from a kept copy."""
        return self.inode == KEPT_INODE

    @property
    def file(self) -> FoundFile:
        """The same for who opens it."""
        return FoundFile(Path(self.path), self.size, self.mtime_ns, self.inode)

    def told(self, agent: str) -> Companion:
        """The same for people."""
        session_id = f"{agent}:{self.native_id}" if self.native_id else None
        return Companion(self.kind, self.path, self.size, disk_time(self.mtime_ns / 1e9), session_id)


class Bundle(msgspec.Struct, frozen=True):
    """Files that can belong to the same sessions and are therefore read together."""

    agent: str
    key: str
    project: Project
    folders: tuple[Path, ...]
    """The project's folders in the agent's home: only there are paths found in sessions followed."""
    files: tuple[FoundFile, ...]
    beside: tuple[CompanionFile, ...] = ()
    """What else was written for these sessions."""
    title: str | None = None
    """What the agent calls the session in a list of its own, apart from the session's files."""
    disk: Disk = REAL
    """How its files are opened."""
    logs: tuple[CompanionFile, ...] = ()
    """Where the agent noted what the human typed, in these sessions and in others of the project."""

    def alone(self) -> Bundle:
        """The same sessions as their own files tell them."""
        return msgspec.structs.replace(self, logs=()) if self.logs else self


class Companions(msgspec.Struct, frozen=True):
    """What lies beside the sessions of one project, and what may keep one of these from being read."""

    agent: str
    project: Project
    folders: tuple[Path, ...]
    files: tuple[CompanionFile, ...]
    session_files: Mapping[str, tuple[FoundFile, ...]] = {}
    """The files of its bundles, by their keys: not every one of them gives a session."""
    left_alone: Mapping[str, str] = {}
    """Why an entry that is named like a session was left alone, by the key it would have."""
    complete: bool = True
    """Whether every folder that may hold sessions of the project could be listed."""
    disk: Disk = REAL
    """How its files are opened."""


class Scan(msgspec.Struct, frozen=True):
    """What a home holds. Nothing may be concluded from an absence if it is not complete."""

    bundles: tuple[Bundle, ...]
    companions: tuple[Companions, ...]
    """One for each project, also for one that has nothing beside its sessions."""
    skipped: tuple[SkippedFile, ...]
    problems: tuple[Problem, ...]
    notes: tuple[FoundFile, ...] = ()
    """Files in which the agent notes what belongs where: without them, sessions would be less well known."""

    @property
    def complete(self) -> bool:
        """Whether every folder could be read."""
        return not self.problems

    @property
    def is_closed(self) -> bool:
        """Whether nothing of the home could be listed: it may hold more of any project."""
        return not self.companions and any(problem.is_unreadable for problem in self.problems)


class Reading(msgspec.Struct, frozen=True):
    """What some files hold: sessions, what the human typed, and where every byte went."""

    sessions: tuple[Session, ...]
    accounts: tuple[FileAccount, ...]
    problems: tuple[Problem, ...]
    typed: tuple[TypedLine, ...] = ()
    fates: tuple[Fate, ...] = ()
    """What the agent's own cleaning would see of the session files."""

    @classmethod
    def joined(cls, readings: Iterable[Reading]) -> Reading:
        """Several readings as one."""
        every = list(readings)
        return cls(
            tuple(session for reading in every for session in reading.sessions),
            tuple(account for reading in every for account in reading.accounts),
            tuple(problem for reading in every for problem in reading.problems),
            tuple(line for reading in every for line in reading.typed),
            tuple(fate for reading in every for fate in reading.fates),
        )


class Source(Protocol):
    """The reader of one agent's files."""

    name: str
    """The agent, as it appears in session ids."""
    title: str
    """The agent, as people call it."""
    revision: int
    """Raised when reading changes, so that what was read before is read again."""
    variables: Mapping[str, str]
    """The environment variables that say where its homes are, and what each means, for people."""

    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The homes this machine has, without looking for anything in them."""
        ...

    def homes_below(self, folder: str) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        ...

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each folder of a home that a scan looks into, by its path: another text, other content.

        Under the path of the home stands the same for what it says of its projects as a whole. Nothing is
        opened. A folder without a text is gone; if the text of the home is another one, any project may be.
        """
        ...

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """The files of a home, in bundles; or only those in some folders, by their paths in the footprint.

        What is found of a project is the same as in a scan of everything if all its folders are named.
        """
        ...

    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle. Bad content is a value in the answer, never an exception."""
        ...

    def typed_mark(self, bundle: Bundle) -> str | None:
        """A text that is another one as soon as the logs of a bundle may tell something else of its sessions.

        None if they cannot be read. Asked only of a source whose bundles have logs.
        """
        ...

    def read_alone(self, path: Path) -> Reading | None:
        """What one file given by hand holds, whatever of this agent's it is; None if it is nothing of it."""
        ...

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """The sessions that lie beside those of a project (saved, lost), tied to them by their traces.

        With a limit, so many bytes are read and what is left unread is a problem; without one,
        every file that can be read is, for its account.
        """
        ...

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session with all that was moved out of it to files of their own, as far as they are there."""
        ...

    def named_ids(self, session: Session) -> Collection[str]:
        """The agent's ids under which the session's own records say that files were put away."""
        ...

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way: one of them may be its project's."""
        ...

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """What is in a file that the agent keeps packed; None for any other file.

        Places of messages in such a file, and the size in its account, count what is in it.
        """
        ...

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

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The record exactly as the agent itself would load it from this file; None if it would not."""
        ...

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How the agent would go on with a session that a human led, or why it cannot. Starts nothing."""
        ...

    def moved_name(self, path: str) -> str | None:
        """What stays the same of a file when the agent itself moves or packs it; None if it never does.

        A kept copy counts as gone only if no file of the same name is anywhere in the home.
        """
        ...

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """What the agent is going to delete of a home by itself. Starts nothing and opens no session.

        The fates may be those of other homes too.
        """
        ...

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """How the files of a kept session are put back so that the agent finds them. Writes nothing."""
        ...

    def stranded(self, home: Home, circumstances: Circumstances) -> Iterable[Stranded]:
        """Sessions of a home that the agent cannot show or resume, or not all of them, though it has them."""
        ...

    def recorder(self) -> Recorder | None:
        """What is known of its records for verifiable records of its sessions; None if nothing is."""
        ...

    def writer(self) -> Writer | None:
        """Sessions in the shapes in which the agent itself writes them; None if it writes none."""
        ...
