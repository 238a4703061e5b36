"""What a question finds: its words are parsed, the index is asked, texts are read where it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from geminids.query.search import engine
from geminids.query.search.engine import asked_at, search
from geminids.query.search.question import Question, query_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.agents.homes import Home
    from geminids.query.search.found import Found
    from geminids.query.search.text_search import Texts
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.database import Index


def ask(
    index: Index,
    homes: Sequence[Home],
    question: Question,
    now: datetime,
    *,
    progress: Callable[[int, int], None] | None = None,
    marks: Mapping[str, Marks] | None = None,
) -> Found:
    """What is found, in sessions and in what the user said of them.

    Raises QuerySyntaxError, BadTimeError or BadCursorError.
    """
    began = asked_at(question.after, now)
    texts_of = _Reader(index, homes, with_outputs=question.scan)
    disk = homes[0].disk if homes else None
    query = query_of(question, began)._replace(marks=marks or {})
    return search(index, query, question, now, texts_of=texts_of, progress=progress, disk=disk)


def every_session(
    index: Index, question: Question, now: datetime, marks: Mapping[str, Marks]
) -> list[int] | None:
    """All sessions in which a message matches, however many; None where the index alone cannot tell."""
    return engine.every_session(index, query_of(question, now)._replace(marks=marks), question)


class _Reader:
    """Reads sessions when one is asked for: most searches do without, and need not load what it takes."""

    def __init__(self, index: Index, homes: Sequence[Home], *, with_outputs: bool) -> None:
        self._read: Callable[[int], Iterable[tuple[int, Texts]]] | None = None
        self._index = index
        self._homes = homes
        self._with_outputs = with_outputs

    def __call__(self, number: int) -> Iterable[tuple[int, Texts]]:
        if self._read is None:
            from geminids.query.search.session_texts import SessionTexts

            self._read = SessionTexts(self._index, self._homes, with_outputs=self._with_outputs).texts_of
        return self._read(number)
