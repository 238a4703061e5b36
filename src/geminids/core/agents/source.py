"""What is registered for an agent: a reader of its files, and what else is offered of it.

A reader alone makes an agent whose sessions are listed, shown, searched, counted and exported. Loading this
takes next to nothing: most commands find that nothing has changed, and read no session.
"""

from __future__ import annotations

from abc import abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path
    from typing import Protocol

    from geminids.core.agents.base import Bundle, Reading, Scan
    from geminids.core.agents.clients import Client
    from geminids.core.agents.homes import Home
    from geminids.core.agents.protocols import (
        CompanionReader,
        Custodian,
        FileFacts,
        Installer,
        ProjectFacts,
        Writer,
    )
    from geminids.core.agents.records import Recorder
else:
    # What is abstract stays so.
    from abc import ABC as Protocol  # noqa: N811


class Reader(Protocol):
    """Finds homes, scans a home into bundles (files that can belong to the same sessions), reads a bundle."""

    name: str
    """The agent, as it appears in session ids."""
    title: str
    """The agent, as people call it."""
    revision: int
    """Raised when reading changes, so that what was read before is read again."""
    variables: Mapping[str, str]
    """The environment variables that are heeded because of it, and what each means, for people."""

    @abstractmethod
    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The homes this machine has, without looking for anything in them."""

    @abstractmethod
    def homes_below(self, folder: str) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""

    @abstractmethod
    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each folder of a home that a scan looks into, by its path: another text, other content.

        Under the path of the home stands the same for what it says of its projects as a whole. Nothing is
        opened. A folder without a text is gone; if the text of the home is another one, any project may be.
        """

    @abstractmethod
    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """The files of a home, in bundles; or only those in some folders, by their paths in the footprint.

        What is found of a project is the same as in a scan of everything if all its folders are named.
        """

    @abstractmethod
    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle. Bad content is a value in the answer, never an exception."""

    @abstractmethod
    def read_alone(self, path: Path) -> Reading | None:
        """What one file given by hand holds, whatever of this agent's it is; None if it is nothing of it."""


class Source(Reader):
    """An agent. Whoever derives from it gives what a `Reader` has; all else is there in its plainest form."""

    program: str | None = None
    """The command that starts it; None if it is not known, or there is none."""
    reworded: Collection[str] | None = None
    """The origins of messages whose texts stand in no record as they are told; None: any text may not.

    Of all others, a search for letters may conclude from the bytes of a record what is not in a message.
    """

    def read_with_fates(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle, and what the agent's cleaning would see of its files: nothing here."""
        return self.read(bundle)

    def companions(self) -> CompanionReader:
        """What reads what lies beside its sessions; nothing does, if nothing else is said."""
        from geminids.core.agents.plain import PlainCompanions

        return PlainCompanions()

    def files(self) -> FileFacts:
        """What is known of its files, whatever they hold."""
        from geminids.core.agents.plain import PlainFiles

        return PlainFiles()

    def projects(self) -> ProjectFacts:
        """Where it is used; known by its sessions alone, if nothing else is said."""
        from geminids.core.agents.plain import PlainProjects

        return PlainProjects()

    def custodian(self) -> Custodian | None:
        """What is known of what it deletes, and of how its sessions are resumed, put back and rescued."""
        return None

    def writer(self) -> Writer | None:
        """Sessions in the shapes in which it writes them itself."""
        return None

    def recorder(self) -> Recorder | None:
        """What is known of its records, for verifiable records of its sessions."""
        return None

    def client(self) -> Client | None:
        """What it tells a server that it has started, and how much of an answer reaches its model."""
        return None

    def installer(self) -> Installer | None:
        """Where geminids is registered with it, so that it can ask for its past sessions."""
        return None
