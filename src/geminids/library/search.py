"""Search: the sessions and messages that hold some words."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.library.current_index import Progress
from geminids.library.marks import MarkMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from geminids.core.errors import ProjectNotFoundError
    from geminids.query.search.facets import FacetCounts
    from geminids.query.search.found import Found
    from geminids.query.search.found_sessions import FoundInOrder
    from geminids.query.search.question import Question
    from geminids.storage.index.values import SessionRow

PAGE = 500
"""Sessions that are looked for at a time where all are wanted."""
MOST_VERIFIED = 50
"""Sessions that are counted where their texts must be read."""


class SearchMethods(MarkMethods):
    """What a library finds."""

    def search(
        self, question: Question | str, now: datetime | None = None, progress: Progress | None = None
    ) -> Found:
        """The sessions and messages that hold what is looked for, the best first."""
        from datetime import UTC, datetime

        from geminids.query.search.answer import ask
        from geminids.query.search.question import Question

        asked = Question(question) if isinstance(question, str) else question
        moment, marks = now or datetime.now(UTC), self.marks()
        return self._context.index.ask_until_found(
            lambda index: ask(index, self._context.homes, asked, moment, progress=progress, marks=marks),
            lambda found: bool(found.sessions),
        )

    def no_such_project(
        self, question: Question | str, now: datetime | None = None
    ) -> ProjectNotFoundError | None:
        """What is to be said of the project that a question names, if it means none."""
        from geminids.query.search.question import Question

        asked = Question(question) if isinstance(question, str) else question
        if not asked.project and "project:" not in asked.words:
            return None
        from datetime import UTC, datetime

        from geminids.query.projects.lookup import meant, not_found
        from geminids.query.search.question import query_of

        wanted = query_of(asked, now or datetime.now(UTC)).wanted("project")
        found = self._context.ask(lambda index: [meant(index, one) for one in wanted]) if wanted else []
        is_unknown = found and not any(one.projects for one in found)
        return not_found(found[0].known, wanted[0]) if is_unknown else None

    def places_of(self, words: str, now: datetime | None = None) -> Callable[[str], list[tuple[int, int]]]:
        """What tells where in a text the words of a search stand. Raises QuerySyntaxError."""
        from datetime import UTC, datetime

        from geminids.query.search.in_session import places_of

        return places_of(words, now or datetime.now(UTC))

    def like(
        self,
        text: str,
        question: Question | str = "",
        now: datetime | None = None,
        progress: Progress | None = None,
    ) -> Found:
        """The sessions that are closest to a text in meaning, of those that a question leaves.

        Raises MeaningNotInstalledError if what only the extra `meaning` brings is not there.
        """
        from datetime import UTC, datetime

        from geminids.query.meaning.answer import Asked, ask
        from geminids.query.search.question import Question

        left = Question(question) if isinstance(question, str) else question
        asked = Asked(text, left, now or datetime.now(UTC), self.marks())
        place = self._context.place()
        vectors = place.vectors if place else None
        return self._context.ask(lambda index: ask(index, self._context.homes, vectors, asked, progress))

    def renew_vectors(self, progress: Progress | None = None) -> int:
        """Bring up to date what searches by meaning compare; of how many sessions vectors were made.

        Where nobody has searched by meaning, or the extra `meaning` is not installed, nothing is loaded.
        """
        import os

        place = self._context.place()
        if place is None or not os.path.exists(place.vectors):  # noqa: PTH110
            return 0
        from geminids.query.meaning.embedding import is_installed

        if not is_installed():
            return 0
        from geminids.query.meaning.answer import renew

        vectors = place.vectors
        return self._context.ask(lambda index: renew(index, self._context.homes, vectors, progress))

    def found_sessions(self, words: str, now: datetime | None = None) -> list[SessionRow]:
        """All sessions that a search finds, the best first. Raises SlowPatternError rather than miss one."""
        from datetime import UTC, datetime

        from geminids.query.search.question import Question
        from geminids.storage.index.reader import sessions_numbered

        moment = now or datetime.now(UTC)
        rows: list[SessionRow] = []
        question = Question(words, limit=PAGE, per_session=1)
        while True:
            found = self.search(question, moment)
            found.check_whole()
            rows += [hits.session for hits in found.sessions]
            if found.next is None:
                break
            question = question._replace(after=found.next)
        if found.total.are_all_sessions or found.is_spread or found.stopped:
            return rows
        # Only so many messages are ranked; whoever wants all sessions wants the others too.
        ranked = {row.number for row in rows}
        every = self._every_number(words, moment) or ()
        others = self._context.ask(
            lambda index: sessions_numbered(index, [n for n in every if n not in ranked])
        )
        return rows + [others[number] for number in every if number in others]

    def found_in_order(
        self,
        words: str,
        order: str,
        limit: int,
        now: datetime | None = None,
        *,
        reverse: bool = False,
        tags: Sequence[str] = (),
    ) -> FoundInOrder:
        """Sessions that a search finds in one of the orders of a list; of those with some tags, if any.

        Where texts must be read to tell what is found, only the best are among them.
        """
        from geminids.query.search.found_sessions import in_order

        found, is_exact = self._found_by_index(words, now)
        tagged = self._tagged(tags) if tags else None
        listed = self._context.ask(lambda index: in_order(index, found, tagged, (order, reverse), limit))
        return listed._replace(is_exact=is_exact)

    def found_facets(
        self, words: str, now: datetime | None = None, *, tags: Sequence[str] = ()
    ) -> FacetCounts:
        """What the sessions that a search finds have in common, with counts; as in `found_in_order`."""
        from geminids.query.search.facets import facets_of

        marks, tagged = self.marks(), self._tagged(tags) if tags else None
        found, is_exact = self._found_by_index(words, now)
        counted = self._context.ask(lambda index: facets_of(index, found, marks, tagged))
        return counted._replace(is_exact=is_exact)

    def _found_by_index(self, words: str, now: datetime | None) -> tuple[Sequence[int], bool]:
        """Sessions that a search finds without reading many texts, by number, and whether they are all."""
        from datetime import UTC, datetime

        from geminids.query.search.question import Question

        moment = now or datetime.now(UTC)
        # Where no message has all the words, a search also tells sessions that have each of them somewhere.
        if every := self._every_number(words, moment):
            return every, True
        found = self.search(Question(words, limit=MOST_VERIFIED, per_session=0), moment)
        found.check_whole()
        return [hits.session.number for hits in found.sessions], found.next is None

    def _every_number(self, words: str, now: datetime) -> Sequence[int] | None:
        """The sessions in which a message matches; None where texts must be read to tell."""
        from geminids.query.search.answer import every_session
        from geminids.query.search.question import Question

        marks = self.marks()
        return self._context.ask(lambda index: every_session(index, Question(words), now, marks))
