"""A query on its way to an answer: what the index is asked, and a page of what is found."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.values import Value
from geminids.query.search.found import (
    COLUMN_NAMES,
    FoundMessage,
    Hit,
    SessionHits,
    Stopped,
    Total,
    Unsearched,
)
from geminids.query.search.question import NEWEST, Question
from geminids.query.search.snippets import TITLE
from geminids.storage.index import search as searching
from geminids.storage.index.reader import Condition
from geminids.storage.index.search import MessageRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.disk import Disk
    from geminids.query.search.language import Match, Query
    from geminids.query.search.scope import Narrowing
    from geminids.query.search.snippets import Cut
    from geminids.storage.index.database import Index


class Page(Value):
    """A page of what was found."""

    sessions: Sequence[SessionHits] = ()
    total: Total = Total(0, 0, is_exact=True, are_all_sessions=True)
    next_after: int | None = None
    stopped: Stopped | None = None
    unsearched: Sequence[Unsearched] = ()


class Asked(Value):
    """A query as the index understands it."""

    index: Index
    query: Query
    match: Match
    narrowed: Sequence[Narrowing]
    question: Question
    disk: Disk | None = None
    """How files are opened that are gone."""

    @property
    def expression(self) -> str | None:
        """What FTS5 is asked for; None if it is asked for nothing, or for all that does not match."""
        return None if self.match.is_complement else self.match.expression

    @property
    def is_by_time(self) -> bool:
        """Whether the newest sessions come first: what filters alone find has no other order."""
        return self.question.order == NEWEST or not self.expression

    def conditions(self, without: Narrowing | None = None) -> list[Condition]:
        """What else must hold."""
        held = [narrowing.condition for narrowing in self.narrowed if narrowing is not without]
        if self.match.is_complement and self.match.expression:
            held.append(searching.says(self.match.expression).negated())
        return held


def hit_of(message: FoundMessage, columns: Sequence[str], cut: Cut | None, score: float) -> Hit:
    """A hit that names first where its snippet is from."""
    in_order = sorted(columns, key=lambda column: cut is None or column not in cut.columns)
    where = tuple(COLUMN_NAMES[column] for column in in_order)
    is_title = cut is not None and cut.columns == (TITLE,)
    return Hit(message, (TITLE, *where) if is_title else where, cut.snippet if cut else None, score)


def shown_message(row: MessageRow, tools: tuple[str, ...]) -> FoundMessage:
    """What is shown of a message, which calls some tools."""
    return FoundMessage(
        row.id, row.place, row.role, row.origin, row.state, bool(row.imported), row.at, row.model, tools
    )
