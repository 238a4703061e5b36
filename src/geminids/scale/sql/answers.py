"""The rows of an answer as plain values, and as files: all are made some rows at a time."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from geminids.core.grouping import grouped
from geminids.scale.sql.errors import BadQueryError
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.export.files import write_file

Row = tuple[Any, ...]
_CAST = "cast it to text: CAST(… AS VARCHAR)."


class Answer(NamedTuple):
    """What a query gave."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]

    @property
    def names(self) -> list[str]:
        """What its columns are called."""
        return list(self.schema.names)

    @property
    def numbers(self) -> list[bool]:
        """Which of its columns hold numbers."""
        kinds = (field.type for field in self.schema)
        return [
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
            for kind in kinds
        ]

    def rows(self) -> Iterator[Row]:
        """Its rows, in values of Python."""
        for batch in self.batches:
            yield from zip(*map(_values, batch.columns, self.names), strict=True)

    def plain_rows(self) -> Iterator[list[Any]]:
        """Its rows as JSON has them."""
        return (list(map(plain, row)) for row in self.rows())

    def json(self) -> Iterator[bytes]:
        """A list of objects, a line each."""
        before = b"[\n"
        for row in self.plain_rows():
            yield before + encode_harmless(dict(zip(self.names, row, strict=True)))
            before = b",\n"
        yield b"\n]\n" if before == b",\n" else b"[]\n"

    def parquet(self) -> Iterator[bytes]:
        """A Parquet file."""
        pieces = _Pieces()
        try:
            opened = pq.ParquetWriter(pa.PythonFile(pieces, "w"), self.schema, compression="zstd")
        except pa.ArrowNotImplementedError as error:
            raise BadQueryError(f"Parquet cannot hold what it gives ({error}); {_CAST}") from error
        with opened as writer:
            for gathered in grouped(self.batches, attrgetter("nbytes"), _GROUP):
                writer.write_table(pa.Table.from_batches(gathered, self.schema))
                yield pieces.taken()
        yield pieces.taken()


def write_answer(target: Path, pieces: Iterable[bytes], *, force: bool) -> None:
    """Write a file, whole or not at all. Raises FileExistsAlreadyError unless forced."""
    write_file(target, pieces, force=force)


class _Pieces(io.RawIOBase):
    """What is written into it, to be taken piece by piece."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """It is only written to."""
        return True

    def tell(self) -> int:
        """How much was written."""
        return self._size

    def write(self, piece: Any, /) -> int:
        """Keep a piece until it is taken."""
        self._written.append(bytes(piece))
        self._size += len(self._written[-1])
        return len(self._written[-1])

    def taken(self) -> bytes:
        """What was written since it was asked the last time."""
        taken, self._written = b"".join(self._written), []
        return taken


_GROUP = 24_000_000
"""Bytes of rows that become a group of a Parquet file."""


def _values(column: pa.Array, name: str) -> list[Any]:
    """A column in values of Python; as words where Python has no such value, as of the year 20000."""
    try:
        return _in_utc(column).to_pylist()  # type: ignore[no-any-return]
    except (ValueError, OverflowError, KeyError) as error:
        try:
            return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
        except pa.ArrowNotImplementedError:
            raise BadQueryError(f"{name!r} has a value that cannot be printed; {_CAST}") from error


def _in_utc(column: pa.Array) -> pa.Array:
    """Moments in the one zone that every system knows."""
    kind = column.type
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return column
    return column.cast(pa.timestamp(kind.unit, "UTC"))


def plain(value: Any) -> Any:
    """A value as JSON has it: moments in UTC, whole numbers whole."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime():
            return instant(value)
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case dict():
            return {str(name): plain(held) for name, held in value.items()}
        case pa.MonthDayNano():
            return interval(value)
        case list() | tuple():
            return [plain(held) for held in value]
        case _:
            return str(value)


def instant(value: datetime) -> str:
    """A moment: in UTC where its zone is known."""
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def interval(value: Any) -> str:
    """A span of time as ISO 8601 writes it."""
    months, days, nanoseconds = value
    seconds = Decimal(nanoseconds) / 1_000_000_000
    date_part = (f"{months}M" if months else "") + (f"{days}D" if days else "")
    time_part = f"T{seconds.normalize():f}S" if seconds or not date_part else ""
    return f"P{date_part}{time_part}"
