"""Lists of sessions, without their messages."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from geminids.core.names import storable
from geminids.library.marks import MarkMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.model import SessionSummary
    from geminids.core.settings import ListSettings
    from geminids.query.search.facets import FacetCounts
    from geminids.query.sessions.edits import Edits
    from geminids.query.sessions.listing import Filter, Listing
    from geminids.storage.index.values import ProjectRow, SessionRow


class SessionMethods(MarkMethods):
    """What a library tells of many sessions."""

    def listing(self, wanted: Filter, limit: int | None = None, skip: int = 0) -> Listing:
        """The sessions that are asked for in little, newest first, and what the question leaves out."""
        from geminids.query.sessions.listing import listing

        tagged = self._tagged(wanted.tags) if wanted.tags else ()
        return self._context.index.ask_until_found(
            lambda index: listing(index, wanted, limit, tagged, skip), lambda found: bool(found.sessions)
        )

    def projects_meant(self, wanted: str) -> Sequence[ProjectRow]:
        """The projects that a path, a name, a slug or the beginning of a hash means."""
        from geminids.query.projects.lookup import meant

        return self._context.ask(lambda index: meant(index, wanted)).projects

    def sessions(self, wanted: Filter | None = None, limit: int | None = None) -> list[SessionSummary]:
        """The sessions that are asked for, or all, without their messages, newest first."""
        from geminids.query.sessions.listing import Filter

        return self.summaries(self.listing(wanted or Filter(), limit).sessions)

    def summaries(self, rows: Sequence[SessionRow]) -> list[SessionSummary]:
        """All that is known of some sessions of a list but their messages."""
        from geminids.query.sessions.contents import summaries

        return self._context.ask(lambda index: summaries(index, rows))

    @property
    def list_settings(self) -> ListSettings:
        """How the user wants lists."""
        return self._context.settings.list

    def facets(self, wanted: Filter) -> FacetCounts:
        """What the sessions of a list have in common, with counts."""
        from geminids.query.search.facets import listed_facets

        marks = self.marks()
        tagged = self._tagged(wanted.tags) if wanted.tags else ()
        return self._context.ask(lambda index: listed_facets(index, wanted, marks, tagged))

    def edits_of(self, path: str, limit: int, skip: int = 0) -> Edits:
        """The sessions that changed a file, the newest first; `path` is whole, or how it ends."""
        from geminids.query.sessions.edits import edits_of

        return self._context.index.ask_until_found(
            lambda index: edits_of(index, path, limit, skip), lambda found: bool(found.sessions)
        )

    def keys(self, sessions: Sequence[SessionRow | SessionSummary]) -> list[str]:
        """What means each of some sessions alone: its id, or more where others have the same."""
        from geminids.query.sessions.ids import key_among_others
        from geminids.storage.index.reader import shared_ids

        ids = {storable(session.id) for session in sessions}
        shared = self._context.ask(lambda index: shared_ids(index, ids))
        return [key_among_others(one) if storable(one.id) in shared else one.id for one in sessions]

    def remember(self, listed: Sequence[SessionRow | SessionSummary], *, printed: bool = True) -> None:
        """Keep what a list showed, so that its numbers mean something. Raises OSError if that fails.

        `printed` says whether its numbers are seen on the terminal: only then they mean something new there.
        """
        if self._context.data_folder is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home directory")
        from geminids.query.sessions import last_list
        from geminids.query.sessions.last_list import LastList
        from geminids.query.sessions.session_ref import SessionRef

        lines = tuple(map(SessionRef.of, listed))
        terminal = self._context.terminal if printed else None
        last_list.remember(self._context.data_folder, LastList(self._places_of_a_list(), lines), terminal)
