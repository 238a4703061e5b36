"""What a search by meaning answers: the closest sessions, each with the passage that is closest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.agents.homes import Home
from geminids.core.errors import MeaningOptionError
from geminids.query.meaning.closest import Close, closest, renewed
from geminids.query.meaning.embedding import MODEL
from geminids.query.search.answer import every_session
from geminids.query.search.asked import shown_message
from geminids.query.search.found import Found, Hit, Searched, SessionHits, Total
from geminids.query.search.record_files import RecordFiles
from geminids.query.search.session_texts import SessionTexts
from geminids.query.search.snippets import Cutter
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index.search import MessageRow
from geminids.storage.index.values import file_spans
from geminids.storage.index.vectors import VectorFile

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.query.search.question import Question
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.database import Index

_COMPARED = ("human", "model")
"""Columns whose words are compared."""


class Asked(NamedTuple):
    """What is meant, among which sessions, and when it is asked."""

    text: str
    question: Question
    now: datetime
    marks: Mapping[str, Marks]


def ask(
    index: Index,
    homes: Sequence[Home],
    vectors: str | None,
    asked: Asked,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """The sessions that are closest in meaning, of those that the words and options of a question leave.

    Their `vectors` are kept in that file. Raises MeaningNotInstalledError.
    """
    question = asked.question
    among = _left(index, asked)
    texts = SessionTexts(index, homes, with_outputs=False)
    close = closest(
        asked.text,
        index,
        VectorFile(vectors, MODEL),
        texts.texts_of,
        among=among,
        most=question.limit,
        progress=progress,
    )
    sessions = _with_passages(index, homes, close, question.width)
    total = Total(len(sessions), len(sessions), is_exact=True, are_all_sessions=len(close) < question.limit)
    return Found(sessions, total, Searched(*searching.extent(index), _COMPARED, None), {}, {}, None)


def renew(
    index: Index,
    homes: Sequence[Home],
    vectors: str,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Bring the vectors in a file up to date; of how many sessions they were made."""
    texts = SessionTexts(index, homes, with_outputs=False)
    return renewed(index, VectorFile(vectors, MODEL), texts.texts_of, progress)


def _left(index: Index, asked: Asked) -> set[int] | None:
    """The sessions that a question leaves; None if it leaves all of them."""
    question = asked.question
    narrowed = (question.words, question.project, question.since, question.until, question.agents)
    if not any((*narrowed, question.places)):
        return None
    left = every_session(index, question, asked.now, asked.marks)
    if left is None:
        raise MeaningOptionError("Substrings and regular expressions")
    return set(left)


def _with_passages(
    index: Index, homes: Sequence[Home], close: Sequence[Close], width: int
) -> list[SessionHits]:
    rows = reader.sessions_numbered(index, [one.session for one in close])
    messages = {one.session: _message(index, one) for one in close}
    files = {place[0] for message in messages.values() if message for place in file_spans(message.spans)}
    disk = homes[0].disk if homes else None
    with RecordFiles(searching.file_paths(index, files), disk) as opened:
        cutter = Cutter(opened, (), width)
        return [
            SessionHits(rows[one.session], _hits(cutter, messages[one.session], one.score), 1)
            for one in close
        ]


def _message(index: Index, close: Close) -> MessageRow | None:
    found = searching.messages_at(index, close.session, [close.place]).values()
    return next(iter(found), None)


def _hits(cutter: Cutter, message: MessageRow | None, score: float) -> list[Hit]:
    if message is None:
        return []
    cut = cutter.cut(message.spans, ())
    where = (message.origin,) if message.origin in _COMPARED else ("model",)
    return [Hit(shown_message(message, ()), where, cut.snippet if cut else None, score)]
