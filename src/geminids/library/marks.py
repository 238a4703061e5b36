"""What the user says of sessions: names, tags and notes."""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence
from contextlib import suppress

from geminids.core import config
from geminids.core.errors import AmbiguousIdError, NoSuchLineError, SessionNotFoundError, ShortIdError
from geminids.core.names import storable
from geminids.library.one_session import OneSessionMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from geminids.query.sessions.lookup import LookupResult
    from geminids.query.sessions.marked import Marked, MarkedSessions
    from geminids.storage.durable.values import MarkChange, Marks


MOST_NAMES = 3
"""So many names are suggested; of more none is likely to be meant."""


def _words(text: str) -> list[str]:
    """The words of a name, however they are written."""
    import re

    return re.findall(r"\w+", text.casefold())


class MarkMethods(OneSessionMethods):
    """What a library knows of marks."""

    def marks(self, session_ids: Collection[str] | None = None) -> dict[str, Marks]:
        """The name, the tags and the notes of some sessions, else of all that have any, by their ids.

        Raises GeminidsError or OSError if they cannot be read.
        """
        folder = self._context.data_folder
        if folder is None:
            return {}
        from geminids.storage.durable.any_marks import any_marks

        if not any_marks(folder):
            return {}
        from geminids.storage.durable.marks import marks

        if session_ids is None:
            return self._context.notes.ask(lambda: marks(folder))
        kept = {session: storable(session) for session in session_ids}
        known = self._context.notes.ask(lambda: marks(folder, kept.values()))
        return {session: known[name] for session, name in kept.items() if name in known}

    def tags(self) -> dict[str, int]:
        """All tags and how many sessions have each, the most used first."""
        from geminids.storage.durable.marks import tag_counts

        folder = self._context.data_folder
        return self._context.notes.ask(lambda: tag_counts(folder)) if folder else {}

    def marked(self) -> MarkedSessions:
        """All sessions that have a name, a tag or a note, also those whose files are gone."""
        from geminids.query.sessions.marked import marked_sessions

        known, tags = self.marks(), self.tags()
        return self._context.ask(lambda index: marked_sessions(index, known, tags))

    def mark(self, wanted: str, change: MarkChange | None = None, at: datetime | None = None) -> Marked:
        """Change the marks of one session as `mark_each` does, and return it with its marks."""
        return self.mark_each([wanted], change, at)[0]

    def mark_each(
        self, wanted: Sequence[str], change: MarkChange | None = None, at: datetime | None = None
    ) -> list[Marked]:
        """Change the marks of some sessions, all of them or none; return each once, with its marks.

        A session is meant as in `session`, or its files are gone and it was marked before.
        """
        from datetime import UTC, datetime

        from geminids.storage.durable import mark_changes

        sessions = {session.id: session for session in map(self._to_mark, wanted)}
        if change is None:
            marks = self.marks(sessions)
            return [
                session._replace(marks=marks.get(sid, session.marks)) for sid, session in sessions.items()
            ]
        if self._context.data_folder is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home directory", config.DURABLE_FILE)
        moment = at or datetime.now(UTC)
        marks = mark_changes.change_each(self._context.data_folder, list(sessions), change, moment)
        return [session._replace(marks=marks[sid]) for sid, session in sessions.items()]

    def _find(self, wanted: str, *, with_outputs: bool = True) -> LookupResult:
        """The one session that is meant, also by the name that the user gave it."""
        try:
            return super()._find(wanted, with_outputs=with_outputs)
        except (SessionNotFoundError, NoSuchLineError, ShortIdError, AmbiguousIdError) as error:
            named = self._named(wanted)
            if named is None:
                names = self._names_with(wanted) if isinstance(error, SessionNotFoundError) else ()
                if names:
                    raise SessionNotFoundError(wanted, (), error.unreadable, names) from None
                raise
        return super()._find(named, with_outputs=with_outputs)

    def _file_meant(self, wanted: str) -> Path | None:
        """The file that is meant, there or not; a name with a slash in it is none."""
        from geminids.core.agents.base import may_exist

        path = super()._file_meant(wanted)
        return None if path and not may_exist(path) and self.sessions_named(wanted) else path

    def sessions_named(self, name: str) -> list[str]:
        """The ids of the sessions that the user gave this name, capital letters or not, here or not."""
        meant = name.casefold()
        return [sid for sid, said in self.marks().items() if said.name and said.name.casefold() == meant]

    def _named(self, name: str) -> str | None:
        from geminids.query.sessions.ids import pick_named
        from geminids.storage.index.reader import among, sessions

        named = self.sessions_named(name)
        rows = self._context.ask(lambda index: sessions(index, [among(named)])) if named else []
        row = pick_named(rows, name)
        return row.id if row else None

    def _names_with(self, wanted: str) -> list[str]:
        """The names of sessions that have all these words."""
        words = set(_words(wanted))
        names = {said.name for said in self.marks().values() if said.name and words <= set(_words(said.name))}
        return sorted(names) if words and len(names) <= MOST_NAMES else []

    def _to_mark(self, wanted: str) -> Marked:
        """The session that is meant, without its marks: a damaged file of marks is mended by a change."""
        from geminids.query.sessions.marked import Marked, elsewhere

        try:
            session = self._find(wanted, with_outputs=False).sessions[0]
        except (SessionNotFoundError, NoSuchLineError) as error:
            # A number that no line has is no id that is too short.
            with suppress(*[ShortIdError] if isinstance(error, NoSuchLineError) else ()):
                if gone := elsewhere(self.marks(), wanted):
                    return gone
            raise
        return Marked(storable(session.id), session.title, is_here=True)

    def _tagged(self, tags: Sequence[str]) -> Collection[str]:
        from geminids.storage.durable.marks import tagged

        folder = self._context.data_folder
        return self._context.notes.ask(lambda: tagged(folder, tags)) if folder else ()
