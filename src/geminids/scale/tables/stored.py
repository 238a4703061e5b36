"""Tables that were written, read again in pieces: what engines divide among themselves instead of homes."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from geminids.core.grouping import grouped
from geminids.scale.batches import TYPES
from geminids.scale.homes import EVERYTHING, Wanted
from geminids.scale.places.errors import PlaceError
from geminids.scale.places.stored import Store
from geminids.scale.places.stores import LocalStore, open_store
from geminids.scale.schema import PARTITIONS, TABLES, VERSION, Column
from geminids.scale.tables.forgotten import hashed, read_forgotten, session_column
from geminids.scale.tables.manifest import FOLDER, machine_of, tables_there

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_ROWS = 20_000


class StoredFile(NamedTuple):
    """A file of a table, or some of its groups of rows."""

    name: str
    size: int
    groups: tuple[int, ...] | None = None
    """None is all of them."""
    whole: int = 0
    """The size of the file that the groups are in."""
    spans: tuple[tuple[int, int], ...] = ()
    """The bytes of it that hold the groups, and those that describe the file."""


class StoredPiece(NamedTuple):
    """Some files of one table, read at once."""

    uri: str
    files: tuple[StoredFile, ...]
    forgotten: frozenset[str] = frozenset()
    """Hashes of sessions whose rows are left out."""

    @property
    def weight(self) -> int:
        """How much work it is, in bytes."""
        return sum(file.size for file in self.files)


def holds_tables(store: Store) -> bool:
    """Whether tables were written there."""
    if next(store.listed(FOLDER), None) is not None:
        return True
    first = (next(store.listed(name), None) for name in TABLES)
    # A machine may be called like a table.
    return any(stored.name.partition("/")[2].startswith(f"{PARTITIONS[0]}=") for stored in first if stored)


def stored_pieces(
    store: Store, table: str, wanted: Wanted = EVERYTHING, *, most: int
) -> Iterator[StoredPiece]:
    """All files of a table, in pieces of about so many bytes. Raises PlaceError for a newer release's."""
    forgotten = read_forgotten(store)
    files = (one for file in _files(store, table, wanted) for one in _divided(store, file, most))
    for some in grouped(files, lambda file: file.size, most):
        yield StoredPiece(store.uri, some, forgotten)


def stored_batches(piece: StoredPiece, table: str, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a piece, with some columns; those that an earlier release did not write are null."""
    for file in piece.files:
        with _opened(_store(piece.uri), file) as parquet:
            _check(parquet, f"{piece.uri}/{file.name}")
            names = {*columns, session_column(table)} if piece.forgotten else columns
            there = [name for name in parquet.schema_arrow.names if name in names]
            groups = file.groups if file.groups is not None else range(parquet.num_row_groups)
            for rows in parquet.iter_batches(_ROWS, list(groups), there):
                yield _whole(_remembered(rows, table, piece.forgotten), table, columns, _folders(file.name))


def _remembered(rows: pa.RecordBatch, table: str, forgotten: frozenset[str]) -> pa.RecordBatch:
    """Return rows without those of forgotten sessions."""
    column = session_column(table)
    if not forgotten or column not in rows.schema.names:
        return rows
    ids = rows[column].to_pylist()
    gone = {one for one in set(ids) if one is not None and hashed(one) in forgotten}
    return rows.filter(pa.array([one not in gone for one in ids], pa.bool_())) if gone else rows


def _files(store: Store, table: str, wanted: Wanted) -> Iterator[StoredFile]:
    """Return the files of a table in which wanted rows may be."""
    there = tables_there(store, (table,))
    for stored in there.files[table]:
        agent = _folders(stored.name).get("agent")
        manifest = there.manifests[machine_of(stored.name)]
        is_wanted = wanted.agents is None or agent in wanted.agents
        # A machine that writes just now may have another name in files that it has not reached.
        is_named = wanted.machines is None or manifest.title in wanted.machines or not manifest.finished
        if is_wanted and is_named:
            yield StoredFile(stored.name, stored.size)


def _divided(store: Store, file: StoredFile, most: int) -> Iterable[StoredFile]:
    if file.size <= most:
        return (file,)
    footer = _footer(store, file)
    with _opened(store, file._replace(whole=file.size, spans=(footer,))) as parquet:
        about = parquet.metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
    return [
        StoredFile(file.name, group.total_byte_size, (number,), file.size, (_span(group), footer))
        for number, group in enumerate(groups)
    ]


def _footer(store: Store, file: StoredFile) -> tuple[int, int]:
    """Return where a file describes itself: at its end, before the length of that and four letters."""
    with _as_place_error(store, file):
        length = int.from_bytes(store.part(file.name, file.size - 8, file.size - 4), "little")
    return max(0, file.size - 8 - length), file.size


def _span(group: pq.RowGroupMetaData) -> tuple[int, int]:
    columns = [group.column(number) for number in range(group.num_columns)]
    # A column without a dictionary begins with its first page.
    starts = [column.dictionary_page_offset or column.data_page_offset for column in columns]
    ends = [start + one.total_compressed_size for start, one in zip(starts, columns, strict=True)]
    return min(starts), max(ends)


def _opened(store: Store, file: StoredFile) -> pq.ParquetFile:
    """Return a file that Arrow reads without asking us: one of this machine, or one in memory."""
    # Who reads homes has no use for it, and many processes start for little work.
    import pyarrow.parquet as pq

    with _as_place_error(store, file):
        if isinstance(store, LocalStore):
            return pq.ParquetFile(f"{store.uri}/{file.name}")
        whole = file.whole or file.size
        # Of a large file only some of these addresses are ever used.
        held = mmap.mmap(-1, whole)
        for start, end in file.spans or ((0, whole),):
            held[start:end] = store.part(file.name, start, end)
        return pq.ParquetFile(pa.BufferReader(pa.py_buffer(held)))


@contextmanager
def _as_place_error(store: Store, file: StoredFile) -> Iterator[None]:
    """Raise PlaceError for a file that is no Parquet, is gone or was replaced."""
    try:
        yield
    except (OSError, ValueError, IndexError, pa.ArrowInvalid) as error:
        raise PlaceError(f"{store.uri}/{file.name}", f"it cannot be read as Parquet ({error})") from error


@cache
def _store(uri: str) -> Store:
    return open_store(uri)


def _folders(name: str) -> dict[str, str]:
    """What the names of the folders of a file tell of all its rows."""
    pairs = (piece.partition("=") for piece in name.split("/")[1:-1])
    return {column: value for column, _, value in pairs if column in PARTITIONS}


def _whole(
    rows: pa.RecordBatch, table: str, columns: Collection[str], folders: dict[str, str]
) -> pa.RecordBatch:
    wanted = [column for column in TABLES[table].columns if column.name in columns]
    arrays = [_values(rows, column, folders) for column in wanted]
    return pa.RecordBatch.from_arrays(arrays, [column.name for column in wanted])


def _values(rows: pa.RecordBatch, column: Column, folders: dict[str, str]) -> pa.Array:
    kind = TYPES[column.kind]
    if column.name in rows.schema.names:
        return rows[column.name].cast(kind)
    value = folders.get(column.name)
    return pa.repeat(pa.scalar(value, kind), rows.num_rows)


def _check(parquet: pq.ParquetFile, name: str) -> None:
    written = (parquet.schema_arrow.metadata or {}).get(b"geminids.schema", b"")
    if written.isdigit() and int(written) > VERSION:
        raise PlaceError(name, _newer(int(written)))


def _newer(version: int) -> str:
    return (
        f"its tables are of a newer release of geminids (version {version}; this one reads {VERSION}); "
        "update geminids where they are read"
    )
