"""What is at hand while an answer is worked out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, TypeVar

import msgspec

from geminids.core.model import SessionKind, Status
from geminids.faces.documents.recalled import CitedSession
from geminids.faces.mcp.errors import CancelledError
from geminids.query.sessions.listing import is_running
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from geminids.core.model import Session, SessionSummary
    from geminids.faces.mcp.callers import Caller
    from geminids.faces.serving.opened_sessions import OpenedSession, OpenedSessions
    from geminids.faces.serving.redaction import Redaction
    from geminids.library import Library
    from geminids.storage.index.values import ProjectRow, SessionRow

    Row = SessionRow | SessionSummary

Cited = TypeVar("Cited", bound=CitedSession)


class Desk:
    """One question: the library for it, who asks, and what is known of both."""

    def __init__(
        self,
        library: Library,
        opened: OpenedSessions,
        redaction: Redaction | None,
        caller: Caller,
        stop: Event,
    ) -> None:
        self.library = library
        self.caller = caller
        self.redaction = redaction
        """What hides secrets; None if they are shown."""
        self.now = datetime.now(UTC)
        self._opened = opened
        self._stop = stop
        self._keys: dict[tuple[str, str | None], str] = {}

    def go_on(self, *_: int) -> None:
        """Raise CancelledError if nobody waits for the answer any more."""
        if self._stop.is_set():
            raise CancelledError

    def session(self, wanted: str) -> OpenedSession:
        """A session, read again only if it has changed; without its secrets where these are hidden."""
        self.go_on()
        return self._opened.session(self.library, wanted, self.redaction)

    def listed(self, row: SessionRow, key: str) -> OpenedSession:
        """The same of a row of the index, which need not be looked for."""
        self.go_on()
        read = partial(self._reading, row)
        return self._opened.session(self.library, key, self.redaction, read)

    @cached_property
    def _reading(self) -> Callable[[SessionRow], Session | None]:
        return self.library.reading()

    def note_keys(self, rows: Sequence[Row]) -> None:
        """Find out at once what means each of some sessions, rather than one by one."""
        keys = self.library.keys(rows)
        self._keys.update({(row.id, row.file): key for row, key in zip(rows, keys, strict=True)})

    def cited(self, kind: type[Cited], row: Row, **others: object) -> Cited:
        """A session in little, and what else is told of it."""
        if (row.id, row.file) not in self._keys:
            self.note_keys([row])
        return _cited(kind, row, self._keys[row.id, row.file], **others)

    def known(self, opened: OpenedSession) -> SessionSummary:
        """A session that was read: what it says without secrets, and what it is known by as it is."""
        shown = opened.session
        return msgspec.structs.replace(opened.own, title=shown.title, project=shown.project)

    # Where the agent works

    @cached_property
    def _meant(self) -> tuple[str | None, Collection[ProjectRow]]:
        for folder in self.caller.folders:
            if found := self.library.projects_meant(folder):
                return folder, frozenset(found)
        return None, frozenset()

    @property
    def here(self) -> str | None:
        """The folder that the agent works in, if any session was ever worked there."""
        return self._meant[0]

    def is_here(self, row: Row) -> bool:
        """Whether a session is of the project that the agent works in."""
        return row.project in self._meant[1]

    # The session that asks

    @cached_property
    def _asking(self) -> Callable[[Row], bool]:
        """What tells a session that is asking from all others.

        An agent that does not say which one it is may be in any of its own that are growing here.
        """
        caller = self.caller
        if caller.session is not None:
            return lambda row: caller.session == row.native_id
        if caller.agent is None or self.here is None:
            return lambda _: False
        return lambda row: (
            row.agent == caller.agent and self.is_here(row) and is_running(row.last_at, self.now)
        )

    def is_asking(self, row: Row) -> bool:
        """Whether a session, or one that it led, is the one that asks."""
        if self._asking(row):
            return True
        parent = row.parent_id and row.parent_id.partition(":")[2]
        return parent is not None and self.caller.session == parent


def _cited(kind: type[Cited], row: Row, key: str, **others: object) -> Cited:
    return kind(
        id=key,
        agent=row.agent,
        title=row.title,
        project=row.project.path or row.project.name,
        at=row.last_at,
        status=Status(row.status),
        kind=SessionKind(row.kind),
        show=show_command(key),
        **others,
    )


def show_command(key: str, message: int | None = None) -> str | None:
    """Return the command that shows a session, or one of its messages; None for an id that is not plain."""
    from shlex import quote

    if key != safe.line(key):
        return None
    return f"geminids show {quote(key)}" + (f" --at {message}" if message else "")
