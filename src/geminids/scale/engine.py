"""What an engine runs: pieces of homes into rows of a table, in this process, in others or in a cluster.

    place = open_place(uri)
    for piece in pieces(place.disk, place.root):
        for batch in batches(Question(piece, "messages")): ...

`read` does the same with as many processes as there are cores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from geminids.core.errors import GeminidsError
from geminids.core.workers import Workers, wanted_workers
from geminids.query.usage.request_costs import RequestCosts
from geminids.scale.batches import batch
from geminids.scale.homes import Piece, readings
from geminids.scale.only import ANYTHING, Only
from geminids.scale.rows import add_rows, no_rows
from geminids.scale.schema import TABLES
from geminids.scale.tables.stored import StoredPiece, stored_batches

if TYPE_CHECKING:
    from geminids.sharing.redact import Redactor

ROWS = 20_000
"""In a batch; many of few words."""
_OF_COST = frozenset({"cost", "priced_on"})
BYTES = 16_000_000
"""Of session files that a batch is made of; few rows may be long."""


class Question(NamedTuple):
    """What is wanted of a piece."""

    piece: Piece | StoredPiece
    table: str
    columns: Sequence[str] | None = None
    """All of the table, if nothing else is said."""
    only: Only = ANYTHING
    redactor: Redactor | None = None
    """What hides secrets in what is read of sessions; tables are as they were written."""


class UnknownNameError(GeminidsError):
    """A question names a table or a column that there is not."""

    def __init__(self, what: str, wanted: str, known: Iterable[str]) -> None:
        super().__init__(f"No {what} {wanted!r}. There are: {', '.join(known)}.")


def read(questions: Iterable[Question], jobs: int | None = None) -> Iterator[pa.RecordBatch]:
    """The answers to all questions in their order, by so many processes; None is one for each core."""
    with Workers(wanted_workers(jobs), f"{__name__}:answered") as workers:
        for answer in workers.answers(map(_meant, questions)):
            yield from answer


def answered(question: Question) -> list[pa.RecordBatch]:
    """The same as `batches` at once, as processes hand it on."""
    return list(batches(question))


def batches(question: Question) -> Iterator[pa.RecordBatch]:
    """The rows of a table that a piece holds, in batches; memory never holds more than a bundle and one."""
    only, table = question.only, _meant(question).table
    columns = [name for name in TABLES[table].names if _is_asked(name, question.columns)]
    needed = {*columns, *only.columns(table)}
    made = _stored(question, needed) if isinstance(question.piece, StoredPiece) else _made(question, needed)
    for rows in made:
        wanted = only.of(table, rows).select(columns)
        if wanted.num_rows:
            yield wanted


def _meant(question: Question) -> Question:
    """A question that can be answered. Raises UnknownNameError."""
    if question.table not in TABLES:
        raise UnknownNameError("table", question.table, TABLES)
    known = TABLES[question.table].names
    for column in question.columns or ():
        if column not in known:
            raise UnknownNameError(f"column of {question.table}", column, known)
    return question


def has_words(table: str, columns: Collection[str] | None) -> bool:
    """Whether some columns of a table, or all, hold words of conversations."""
    return any(one.is_words and _is_asked(one.name, columns) for one in TABLES[table].columns)


def _is_asked(column: str, columns: Collection[str] | None) -> bool:
    return columns is None or column in columns


def _stored(question: Question, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
    assert isinstance(question.piece, StoredPiece)
    return stored_batches(question.piece, question.table, columns)


@cache
def _list_prices() -> RequestCosts:
    """Return what prices requests in this process. Prices of users stand beside their own tables."""
    return RequestCosts()


def _made(question: Question, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
    """The rows that are made of sessions, with some of their columns."""
    assert isinstance(question.piece, Piece)
    name = question.table
    words = has_words(name, columns)
    costs = _list_prices() if name == "requests" and _OF_COST.intersection(columns) else None
    rows, read = no_rows(), 0
    for agent, reading in readings(question.piece):
        machine, redactor = question.piece.machine, question.redactor
        add_rows(rows, reading, agent, machine, words=words, redactor=redactor, costs=costs)
        read += sum(account.size for account in reading.accounts)
        if len(rows[name]) >= ROWS or read >= BYTES:
            yield batch(name, rows[name], columns)
            rows, read = no_rows(), 0
    if rows[name]:
        yield batch(name, rows[name], columns)
