"""Sharing sessions: exports, redaction and signed records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache, cached_property, partial

from geminids.core import config
from geminids.core.errors import NoSuchLineError, SessionNotFoundError, ShortIdError
from geminids.library.search import SearchMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from geminids.core.model import Session
    from geminids.library.attest.records import Records
    from geminids.library.export import Exporter
    from geminids.library.export_items import Item
    from geminids.sharing.records.natives import Natives
    from geminids.sharing.redact import Redactor
    from geminids.sharing.transcript.entries import Detail, StoryEntry, Turn
    from geminids.storage.index.values import SessionRow

OF_SIGNING = {"cryptography", "rfc3161_client"}
"""Packages that the extra `sign` brings."""


class SharingMethods(SearchMethods):
    """What a library hands to others."""

    def export(self, wanted: str, format_name: str = "markdown", *, redact: bool = False) -> bytes:
        """One session in a format, at the level of detail that is usual for it."""
        redactor = self.redactor() if redact else None
        return b"".join(self.exporting(format_name, redactor=redactor).pieces(self.items([wanted])))

    def exporting(
        self,
        format_name: str,
        detail: Detail | None = None,
        *,
        redactor: Redactor | None = None,
        report: bool = False,
        **options: Any,
    ) -> Exporter:
        """A format with all that is chosen for it: `options` are those of `Manner` that it names."""
        from geminids.core.errors import FormatOptionError
        from geminids.library.export import Exporter
        from geminids.sharing import export
        from geminids.sharing.export.base import Manner
        from geminids.sharing.transcript.entries import LEVELS

        chosen = export.load(format_name)
        if unknown := sorted(options.keys() - chosen.options):
            raise FormatOptionError(format_name, unknown[0])
        if "natives" in chosen.options and redactor is None:
            # Nobody looks for secrets in what the agent wrote beside a session.
            options["natives"] = self._natives
        manner = Manner(
            detail=detail or LEVELS[chosen.level],
            agent_titles=self._context.agent_titles(),
            names={session: said.name for session, said in self.marks().items() if said.name},
            **options,
        )
        return Exporter(chosen, manner, redactor, self._context.agents_folders(), report=report)

    def as_markdown(self, session: Session, entries: Iterable[StoryEntry], detail: Detail) -> str:
        """Some of the story of a session, as an export in Markdown would tell it."""
        from geminids.sharing.export.base import Manner
        from geminids.sharing.export.markdown import story_blocks

        manner = Manner(detail=detail, agent_titles=self._context.agent_titles())
        return "\n\n".join(story_blocks(entries, session, manner)) + "\n"

    def as_text(self, session: Session, turn: Turn, detail: Detail) -> str:
        """One turn of a session, as an export in plain text would tell it."""
        from geminids.sharing.export.base import Manner
        from geminids.sharing.export.plain_text import turn_text

        return turn_text(turn, session, Manner(detail=detail))

    def items(self, wanted: Sequence[str]) -> list[Item]:
        """Sessions to be exported, each meant as in `read`. A file may hold several."""
        from geminids.library.export_items import Item
        from geminids.query.sessions.session_ref import SessionRef
        from geminids.storage.index.reader import stamps

        sessions = [session for name in wanted for session in self.read(name).sessions]
        states = self._context.ask(stamps)
        return [
            Item(
                session.id,
                session.file,
                partial(_itself, session),
                states.get(SessionRef.of(session)),
                session.kind,
            )
            for session in sessions
        ]

    def items_meant(self, words: Sequence[str], now: datetime | None = None) -> tuple[list[Item], bool]:
        """Sessions that are meant: those that the words name, else those that hold them; whether it is these.

        Raises the error that says why there is none if only numbers are given: they are lines of a list.
        """
        from geminids.query.search.question import looks_like_query

        # A name may have blanks, and so may what the words are together.
        if not looks_like_query(words) or not looks_like_query(self._unnamed(words)):
            try:
                return self.items(words), False
            except (SessionNotFoundError, NoSuchLineError, ShortIdError):
                if all(word.isdecimal() for word in words):
                    raise
        if self.sessions_named(" ".join(words)):
            return self.items([" ".join(words)]), False
        return self.items_of(self.found_sessions(" ".join(words), now)), True

    def _unnamed(self, words: Sequence[str]) -> list[str]:
        return [word for word in words if not self.sessions_named(word)]

    def items_of(self, rows: Sequence[SessionRow]) -> list[Item]:
        """Sessions of a list or a search to be exported; each is read when its turn comes."""
        from geminids.library.export_items import Item
        from geminids.storage.index.reader import stamps

        # A folder of exports that is up to date reads none of them.
        reading = cache(self.reading)

        def read(row: SessionRow) -> Session | None:
            return reading()(row)

        states = self._context.ask(stamps)
        return [
            Item(row.id, row.file, partial(read, row), states.get((row.id, row.file)), row.kind)
            for row in rows
        ]

    def redactor(self, hide: Collection[str] = (), *, keep_attachments: bool = False) -> Redactor:
        """What hides secrets in sessions, and on request home folders, names and e-mail addresses."""
        from pathlib import Path

        from geminids.sharing.redact import Redactor, load_key

        context = self._context
        folder = Path(context.data_folder) if context.data_folder else None
        user_home = Path(config.expanded("~"))
        return Redactor(
            load_key(folder),
            hide=frozenset(hide),
            homes=(str(user_home), *context.chosen, *(str(Path(place).parent) for place in context.places)),
            users=(user_home.name,),
            keep_attachments=keep_attachments,
            cache_folder=folder / "redaction-rules" if folder else None,
        )

    @cached_property
    def records(self) -> Records:
        """Signed records: making, checking and cutting them.

        Raises SigningNotInstalledError if what only the extra `sign` brings is not there.
        """
        try:
            from geminids.library.attest.records import Records
        except ModuleNotFoundError as error:
            package = str(error.name).partition(".")[0]
            if package not in OF_SIGNING:
                raise
            from geminids.sharing.records.errors import SigningNotInstalledError

            raise SigningNotInstalledError(package) from error
        return Records(self._context, self.file)

    def _natives(self, session: Session) -> Natives | None:
        """The records of a session as its agent wrote them; None for one that a document tells of."""
        if any(session is one for one in self._of_documents):
            return None
        from geminids.sharing.records.record_maker import RecordMaker

        return RecordMaker(self._context.content).natives(session)


def _itself(session: Session) -> Session:
    return session
