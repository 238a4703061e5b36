"""Rows into Parquet files, a group at a time: memory never holds more than one of each table."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from geminids.scale.batches import arrow_schema, batch
from geminids.scale.rows import Row, Rows
from geminids.scale.schema import PARTITIONS, TABLES, Table

GROUP_BYTES = 4_000_000
"""Of a group of rows before it is packed: large enough for engines, small enough for a laptop."""
GROUP_ROWS = 200_000

COMPRESSION = 1
"""The next levels take half as much time again, and save a twelfth of what real sessions take."""


class PartFiles:
    """The files of one part on their way: those of tables that have no row are never made."""

    def __init__(self, folder: Path, *, words: bool) -> None:
        self._writers = {
            name: _TableFile(folder, _written(table, words=words)) for name, table in TABLES.items()
        }
        self._pool_before = pa.default_memory_pool()

    def __enter__(self) -> Self:
        # The usual pool keeps what one group took while rows of the next are made.
        pa.set_memory_pool(pa.system_memory_pool())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        pa.set_memory_pool(self._pool_before)
        for writer in self._writers.values():
            writer.close()

    def add(self, rows: Rows) -> None:
        """Write rows of all tables."""
        for name, writer in self._writers.items():
            writer.add(rows[name])

    def take_over(self, name: str, table: pa.Table) -> None:
        """Write rows of a table as they stood in the file before."""
        self._writers[name].take_over(table)

    def finish(self) -> dict[str, tuple[Path, int]]:
        """The files that there are, with their rows, by table."""
        return {name: done for name, writer in self._writers.items() if (done := writer.finish())}


class _TableFile:
    """The file of a table."""

    def __init__(self, folder: Path, table: Table) -> None:
        self._path = folder / f"{table.name}.parquet"
        self._table = table
        self._schema = arrow_schema(table)
        self._gathered: list[pa.RecordBatch] = []
        self._bytes = self._rows = self._all_rows = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, rows: list[Row]) -> None:
        if not rows:
            return
        self._gather(batch(self._table.name, rows, self._table.names))

    def take_over(self, table: pa.Table) -> None:
        # A release before this one may have had fewer columns.
        columns = [
            table[field.name].cast(field.type)
            if field.name in table.column_names
            else pa.nulls(table.num_rows, field.type)
            for field in self._schema
        ]
        for made in pa.Table.from_arrays(columns, schema=self._schema).to_batches():
            self._gather(made)

    def _gather(self, made: pa.RecordBatch) -> None:
        self._gathered.append(made)
        self._bytes += made.nbytes
        self._rows += made.num_rows
        if self._bytes >= GROUP_BYTES or self._rows >= GROUP_ROWS:
            self._write_group()

    def finish(self) -> tuple[Path, int] | None:
        if self._gathered:
            self._write_group()
        self.close()
        return (self._path, self._all_rows) if self._all_rows else None

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _write_group(self) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._path,
                self._schema,
                compression="zstd",
                compression_level=COMPRESSION,
                # Of words no two are alike, and nobody looks for what lies between two of them.
                use_dictionary=[column.name for column in self._table.columns if column.repeats],
                write_statistics=[column.name for column in self._table.columns if not column.is_words],
            )
        self._writer.write_table(
            pa.Table.from_batches(self._gathered, self._schema), row_group_size=self._rows
        )
        self._all_rows += self._rows
        self._gathered, self._bytes, self._rows = [], 0, 0


def _written(table: Table, *, words: bool) -> Table:
    """What of a table stands in its files: the names of their folders tell the rest."""
    columns = tuple(
        column for column in table.columns if column.name not in PARTITIONS and (words or not column.is_words)
    )
    return table._replace(columns=columns)
