"""What every format of an export offers, and the choices they all understand.

A format turns sessions into the bytes of one file. What is told of a session at which level of detail is
settled by `geminids.sharing.transcript`, the same for all: formats for people walk its entries, formats for
programs write the session that `visible_session` leaves. Words of a session are hostile: a format escapes
them for where they go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

import msgspec

from geminids.core.model import Session
from geminids.sharing.transcript.entries import Detail


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions are to be written. A format is only given the options that it names."""

    detail: Detail
    agent_titles: Mapping[str, str] = {}
    """What people call each agent, by its name in sessions."""
    names: Mapping[str, str] = {}
    """What the user calls sessions, by their ids; shown instead of their titles."""
    redacted: str | None = None
    """What was hidden, in a few words; documents for people say so."""
    files_folder: str | None = None
    """Where pictures and other attachments lie, seen from the document; None if they are not written."""
    share: bool = False
    """In the shape in which the agent itself shares a conversation."""
    table: str = "messages"
    """Which table is written, where a format has several."""
    touched_at: datetime | None = None
    """Written as the moment of the last change, so that the agent does not think the session old."""
    natives: Callable[[Session], Any] | None = None
    """Gives the records of a session as its agent wrote them, where there are any to be looked at."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file in a folder of exports, as its table of contents tells of it."""

    file: str
    id: str
    agent: str
    kind: str
    """What kind of session: main, subagent and so on."""
    redacted: bool
    """Whether secrets were looked for."""
    title: str
    project: str
    started_at: datetime | None
    ended_at: datetime | None
    status: str
    prompts: int
    tool_calls: int


class Format(Protocol):
    """One way to write sessions down. What most formats answer alike, they have from `PlainFormat`."""

    name: str
    title: str
    """As people call it."""
    summary: str
    """What it is for, in one line."""
    suffix: str
    holds_many: bool
    """Whether one file may hold several sessions."""
    level: str
    """The level of detail that is written unless another is asked for."""
    options: frozenset[str]
    """The fields of `Manner` that only some formats understand: share, table, files_folder, touched_at,
    natives."""
    contents_name: str | None
    """The file with the table of contents of a folder; None if the format has none."""
    is_binary: bool
    """Whether it is no text, and would do anything to a terminal."""

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The file, piece by piece. A format that holds one session is given one."""
        ...

    def contents(self, entries: Iterable[Entry], manner: Manner) -> Iterator[bytes]:
        """The table of contents of a folder; only called if it has a name."""
        ...

    def file_name(self, session: Session) -> str | None:
        """What a file must be called for others to find it; None if any name will do."""
        ...


class PlainFormat:
    """A format of one session a file, without options, and without a table of contents."""

    holds_many = False
    options = frozenset[str]()
    contents_name: str | None = None
    is_binary = False

    def contents(self, entries: Iterable[Entry], manner: Manner) -> Iterator[bytes]:
        """Nothing: a folder of data needs no page."""
        yield from ()

    def file_name(self, session: Session) -> str | None:
        """Any name will do."""
        return None


def encoded(text: str) -> bytes:
    """Text as UTF-8; half a character, which agents do write, becomes a question mark."""
    return text.encode("utf-8", "replace")


def title_of(session: Session, manner: Manner) -> str:
    """What to call a session."""
    return manner.names.get(session.id) or session.title or "untitled"


def agent_title(session: Session, manner: Manner) -> str:
    """What people call the agent of a session."""
    return manner.agent_titles.get(session.agent, session.agent)
