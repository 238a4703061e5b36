"""What an engine runs: pieces of homes into rows of a table, in this process, in others or in a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from geminids.scale.batches import batch
from geminids.scale.homes import Piece, readings
from geminids.scale.rows import add_rows, no_rows
from geminids.scale.schema import TABLES

ROWS = 20_000
"""In a batch; many of few words."""
BYTES = 16_000_000
"""Of session files that a batch is made of; few rows may be long."""


class Question(NamedTuple):
    """What is wanted of a piece."""

    piece: Piece
    table: str
    columns: Sequence[str] | None = None
    """All of the table, if nothing else is said."""


def batches(question: Question) -> Iterator[pa.RecordBatch]:
    """The rows of a table that a piece holds, in batches; memory never holds more than a bundle and one."""
    table = TABLES[question.table]
    words = has_words(question.table, question.columns)
    rows, read = no_rows(), 0
    for agent, reading in readings(question.piece):
        add_rows(rows, reading, agent, question.piece.machine, words=words)
        read += sum(account.size for account in reading.accounts)
        if len(rows[table.name]) >= ROWS or read >= BYTES:
            yield batch(table.name, rows[table.name], question.columns)
            rows, read = no_rows(), 0
    if rows[table.name]:
        yield batch(table.name, rows[table.name], question.columns)


def has_words(table: str, columns: Collection[str] | None) -> bool:
    """Whether some columns of a table, or all, hold words of conversations."""
    return any(one.is_words and (columns is None or one.name in columns) for one in TABLES[table].columns)
