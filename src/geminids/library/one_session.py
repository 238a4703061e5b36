"""One session, whole: found by what somebody typed, read from the files of its agent."""

from __future__ import annotations

import os

from geminids.core import config
from geminids.core.errors import NoSessionsError, SessionNotFoundError
from geminids.core.names import storable
from geminids.library.context import LibraryContext, LibraryPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from geminids.core.model import Companion, Location, Problem, Project, Session
    from geminids.library.current_index import Answer
    from geminids.query.sessions.beginning import Beginning
    from geminids.query.sessions.last_list import LastList
    from geminids.query.sessions.lookup import LookupResult
    from geminids.query.sessions.resume import ToResume
    from geminids.storage.index.database import Index
    from geminids.storage.index.values import SessionRow

LARGE = 2_000_000
"""Bytes of a session; one that is smaller is read before anybody notices."""


class OneSessionMethods(LibraryPart):
    """What a library tells of one session."""

    def __init__(self, context: LibraryContext) -> None:
        super().__init__(context)
        self._of_documents: list[Session] = []
        """Sessions that were read from documents, which anybody may have written."""

    def read(self, wanted: str) -> LookupResult:
        """The sessions in a file if a file is meant, else the one session that is."""
        from geminids.query.sessions.lookup import LookupResult

        if path := self._file_meant(wanted):
            return LookupResult(self.file(path), ())
        try:
            return self._find(wanted)
        except SessionNotFoundError:
            if os.path.isfile(wanted):  # noqa: PTH113 - pathlib raises for what cannot be a name
                return LookupResult(self.file(wanted), ())
            raise

    def session(self, wanted: str) -> Session:
        """The session meant by an id, the beginning of one, a number of the last list, or `latest`."""
        return self._find(wanted).sessions[0]

    def reading(self) -> Callable[[SessionRow], Session | None]:
        """What reads sessions of a list or a search; None if the files of one are gone.

        What is to be known of all of them is looked up once.
        """
        from geminids.query.sessions.session_reader import SessionReader

        reader = self._context.ask(lambda index: SessionReader(index, self._context.homes))
        return lambda row: reader.numbered(row.number)

    def beginning(self, wanted: str, most: int, *, large: int = LARGE) -> Beginning | None:
        """The first messages of a session of more than `large` bytes, at most so many, read without the rest.

        None if that is not worth while, or if the index does not prove that all the rest changes nothing of
        them: then `session` is to be asked. Raises the error that says why there is no such session.
        """
        if not self._context.ask(lambda index: _may_be_large(index, wanted, large)):
            return None
        from geminids.query.sessions.beginning import Beginnings

        return self._ask_for_one(lambda index: Beginnings(index, self._context.homes).of(wanted, most, large))

    def in_midst(self, wanted: str, first: int, most: int, *, large: int = LARGE) -> Beginning | None:
        """Some messages of such a session from one on, by its number, without the rest; None likewise."""
        from geminids.query.sessions.beginning import Beginnings

        return self._ask_for_one(
            lambda index: Beginnings(index, self._context.homes).in_midst(wanted, first, most, large)
        )

    def file(self, path: str | os.PathLike[str]) -> list[Session]:
        """The sessions in one file, the first first."""
        from pathlib import Path

        from geminids.query.sessions import input_files
        from geminids.query.sessions.assembly import assembled

        found = input_files.sessions_in(Path(path))
        if input_files.is_document(Path(path)):
            # It holds all that it tells of, and may come from anybody: no file is opened because it says so.
            self._of_documents += found
            return found
        known = self._context.folders.known
        return [assembled(session, known(session.project), self._context.disk) for session in found]

    def text_beside(self, companion: Companion) -> str | Problem:
        """The words of a file that lies beside a session, or lay there and is kept."""
        from geminids.reading.texts import text_beside

        return text_beside(companion, self._context.disk)

    def record(self, session: Session, place: Location) -> bytes:
        """The bytes of a record as the agent wrote them, also where its file is gone and kept."""
        return self._context.content(session, place.file)[place.start : place.end]

    def agent_view(self, wanted: str) -> dict[str, Any]:
        """The record as the agent itself would load it from a file, or from the last file of a session."""
        from pathlib import Path

        from geminids.query.sessions import input_files

        path = self._file_meant(wanted) or Path(self.session(wanted).files[-1].path)
        return input_files.agent_view(path)

    def resuming(self, wanted: str, now: datetime | None = None) -> ToResume:
        """How the agent of a session would go on with it, or why it cannot. Nothing is started."""
        from datetime import UTC, datetime

        from geminids.query.sessions.resume import ShortNames, how_to_resume

        path = self._file_meant(wanted)
        session = self.file(path)[0] if path else self.session(wanted)
        circumstances = self._context.circumstances(
            now or datetime.now(UTC), config.absolute(wanted) if path else None
        )
        return how_to_resume(session, circumstances, ShortNames(self._short_id, self._short_project))

    def missing_programs(self) -> dict[str, str]:
        """The agents whose own command is known and not to be found on the PATH, each with that command."""
        from shutil import which

        from geminids.core.agents import load

        path = self._context.environment.get("PATH") or ""
        known = {name: load(name).program for name in self._context.agents}
        return {name: program for name, program in known.items() if program and not which(program, path=path)}

    def _file_meant(self, wanted: str) -> Path | None:
        """The file that is meant, there or not; what has the slash of an id is none."""
        from geminids.query.sessions.input_files import file_meant, is_id_of_a_name

        path = file_meant(wanted)
        return None if path and is_id_of_a_name(wanted, path) else path

    def _find(self, wanted: str, *, with_outputs: bool = True) -> LookupResult:
        """The one session that is meant, whole, with the best that is known of its project."""
        from geminids.query.sessions.lookup import Finder
        from geminids.query.sessions.session_reader import SessionReader

        def find(index: Index) -> LookupResult:
            reader = SessionReader(index, self._context.homes, with_outputs=with_outputs)
            return Finder(index, reader, self._places_of_a_list(), self._last_list, self._doubt).find(wanted)

        return self._ask_for_one(find)

    def _ask_for_one(self, question: Callable[[Index], Answer]) -> Answer:
        """The answer of the index. That there is no such session is only said when all are known."""
        try:
            return self._context.ask(question)
        except SessionNotFoundError as error:
            if not self._context.index.read_the_rest():
                raise self._without_sessions(error) from None
        return self._context.ask(question)

    def _without_sessions(self, error: SessionNotFoundError) -> SessionNotFoundError:
        """What is said if there is none at all, else the same."""
        from geminids.storage.index.reader import is_empty

        if not self._context.ask(is_empty):
            return error
        return NoSessionsError(error.wanted, self._context.searched_places, error.unreadable)

    def _short_id(self, session_id: str) -> str | None:
        from geminids.query.sessions.resume import short_id

        return self._context.ask(lambda index: short_id(index, session_id))

    def _short_project(self, project: Project) -> str | None:
        from geminids.query.sessions.resume import short_project

        return short_project(self._context.contents().reports(), project)

    def _places_of_a_list(self) -> tuple[str, ...]:
        return tuple(sorted(map(storable, self._context.places)))

    def _last_list(self) -> LastList | None:
        from geminids.query.sessions import last_list

        folder, terminal = self._context.data_folder, self._context.terminal
        return last_list.recall(folder, self._places_of_a_list(), terminal) if folder else None

    def _doubt(self, number: int) -> str | None:
        """Why a number is not to be relied on; to read a session it always is."""
        folder, terminal = self._context.data_folder, self._context.terminal
        if not (folder and self._context.changes):
            return None
        from geminids.query.sessions import last_list

        return last_list.doubt(folder, number, self._places_of_a_list(), terminal)


def _may_be_large(index: Index, wanted: str, large: int) -> bool:
    """Whether what is meant may have so many bytes: most have not, and need not what is loaded for these."""
    from geminids.storage.index.reader import bytes_read_for, sessions_meant

    sizes = bytes_read_for(index, [row.number for row in sessions_meant(index, wanted)])
    # Of what lies beside sessions it is not noted.
    return any(not size or size >= large for size in sizes)
