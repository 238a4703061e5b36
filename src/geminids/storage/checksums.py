"""Checksums of rows: SQLite does not notice a flipped bit in a value, and gives it out as another value."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def row_sum(values: Sequence[Any]) -> int:
    """What stands in the column `sum` of a row with these values."""
    # The same in every release of Python: what `repr` shows of a text depends on which letters it knows.
    return crc32(ascii(tuple(values)).encode())


def summed(values: Sequence[Any]) -> tuple[Any, ...]:
    """A row with its checksum."""
    return (*values, row_sum(values))


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a row, of which the last value is the checksum, is what was written."""
    return bool(row[-1] == row_sum(row[:-1]))
