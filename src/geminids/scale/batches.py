"""Rows as Arrow: what Parquet, DuckDB and Spark have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from geminids.core.names import storable
from geminids.scale.rows import Row
from geminids.scale.schema import TABLES, VERSION, Column, Kind, Table

_FILE = pa.struct(
    [("path", pa.string()), ("format", pa.string()), ("size", pa.int64()), ("kept", pa.bool_())]
)
TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "int": pa.int64(),
    "bool": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "dollars": pa.decimal128(18, 6),
    "files": pa.list_(_FILE),
}
"""What the columns of each kind are in Arrow."""


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """A table as Arrow knows it; the meaning of each column stands beside it."""
    fields = [pa.field(c.name, TYPES[c.kind], metadata={"meaning": c.meaning}) for c in table.columns]
    return pa.schema(fields, {"geminids.schema": str(VERSION), "geminids.table": table.name})


def batch(name: str, rows: Sequence[Row], wanted: Collection[str] | None = None) -> pa.RecordBatch:
    """Rows of a table, or some columns of them in the order of the table."""
    whole = TABLES[name]
    columns = tuple(column for column in whole.columns if wanted is None or column.name in wanted)
    values = zip(*rows, strict=True) if rows else ([] for _ in whole.columns)
    arrays = [_array(c, v) for c, v in zip(whole.columns, values, strict=True) if c in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(whole._replace(columns=columns)))


def _array(column: Column, values: Sequence[Any]) -> pa.Array:
    kind = TYPES[column.kind]
    if column.kind == "files":
        values = [
            [dict(zip(("path", "format", "size", "kept"), file, strict=True)) for file in v] for v in values
        ]
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # Names of files that are no UTF-8, and halves of characters that agents wrote.
        return pa.array([_in_letters(value) for value in values], kind)


def _in_letters(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case dict():
            return {name: _in_letters(held) for name, held in value.items()}
        case list() | tuple():
            return [_in_letters(held) for held in value]
        case _:
            return value
