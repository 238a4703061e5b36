"""Verifiable records of sessions: what is asked of an agent about what it wrote, and what it answers.

A record holds what a session tells and, as evidence, what its files say beside that. Only the
package of the agent knows which members of its records a session tells, and whose the records in a file are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from geminids.core.model import Location, Session

Belongs = Callable[[Any], bool]
"""Whether a record is of the session, or of none. To be asked for all records of a file in their order."""
Entry = dict[str, Any]
"""An entry of a record."""


class Surroundings(NamedTuple):
    """What files say of the session that is in them: when it began, in which folder, with which release."""

    start: str | int | None = None
    folder: str | None = None
    release: str | None = None


class Translation(NamedTuple):
    """A session in the plainer translation: its entries, and what its files say about it as a whole."""

    entries: list[Entry]
    about: Surroundings


class NativeFile(Protocol):
    """A file that a session was read from."""

    path: str
    content: bytes
    is_own: bool

    @property
    def document(self) -> Any:
        """What the file holds as one JSON value; see `is_document`."""
        ...

    @property
    def is_document(self) -> bool:
        """Whether the file is one JSON value, and not a log, a text or what is left of a document."""
        ...

    def value_at(self, place: Location) -> Any:
        """The JSON at a place; the text if its bytes are no JSON."""
        ...

    def value_of(self, start: int, end: int) -> Any:
        """The JSON of these bytes; the text if they are none."""
        ...

    def lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where the lines of some bytes begin and end in the file, without white space around them."""
        ...


class Natives(Protocol):
    """The files of one session."""

    @property
    def files(self) -> Mapping[str, NativeFile]:
        """The files by their paths."""
        ...

    @property
    def missing(self) -> tuple[str, ...]:
        """Files that could not be read."""
        ...

    def file_of(self, place: Location) -> NativeFile | None:
        """The file that a place is in; None if its bytes are not there any more."""
        ...


class Recorder(Protocol):
    """What an agent may offer so that records of its sessions hold no more than they need."""

    @property
    def program(self) -> str:
        """What the agent is called where other tools write such records."""
        ...

    @property
    def table(self) -> Any:
        """Which members of its records a message may tell, and how; None if all of them are kept."""
        ...

    def identity(self, record: dict[str, Any]) -> str | None:
        """By what versions and copies of one record are known."""
        ...

    def belonging(self, session: Session, file: NativeFile) -> Belongs:
        """How records of other sessions in a file are known."""
        ...

    def release(self, session: Session, natives: Natives, others: Sequence[Any]) -> str | None:
        """The release of the agent that wrote the session, where it or the records of no message say so."""
        ...

    def translation(self, session: Session, natives: Natives | None) -> Translation | None:
        """The session in the plainer translation, as its files have it; None if they do not tell it."""
        ...
