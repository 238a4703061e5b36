"""The engine, with the tables in it and nothing else."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from geminids.scale.batches import TYPES, arrow_schema
from geminids.scale.places.errors import PlaceError
from geminids.scale.places.stored import Store
from geminids.scale.places.stores import LocalStore
from geminids.scale.schema import PARTITIONS, TABLES, VERSION, Kind, Table
from geminids.scale.settling import EVERY, statements
from geminids.scale.sql.asking import Asking, Given
from geminids.scale.sql.errors import (
    BadQueryError,
    NoTablesError,
    TablesDamagedError,
    TooLargeError,
    bad_query,
)
from geminids.scale.sql.memory import bounded
from geminids.scale.sql.reserved import with_quotes, without_end
from geminids.scale.tables.manifest import is_of_table, refuse_newer_tables

MEMORY = "1GB"
"""What a query may take; what needs more goes through a folder that is gone afterwards."""
ROWS = 2_000
"""Of an answer at a time: some of them may be long."""
_NAMES_OF_TYPES: dict[Kind, str] = {
    "text": "VARCHAR",
    "texts": "VARCHAR[]",
    "int": "BIGINT",
    "bool": "BOOLEAN",
    "time": "TIMESTAMP WITH TIME ZONE",
    "files": "STRUCT(path VARCHAR, format VARCHAR, size BIGINT, kept BOOLEAN)[]",
}
_PATTERN = frozenset("*?[]{}")
"""What makes a pattern of the name of a file."""
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
_OF_QUERY = (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)
"""What the engine finds wrong in a query, whatever files it names."""
_CHANGES = re.compile(r"WITH clause containing a .* statement must be at the top level")
_OUT_OF_MEMORY = "Out of Memory Error: "
"""What the engine says where Arrow passes it on."""
_UNDERSTOOD = '{"error":false,'
_FUNCTION = re.compile(r'"function_name":"([^"\\]*)')
DOING = frozenset(
    {
        *("checkpoint", "force_checkpoint", "truncate_duckdb_logs"),
        *("enable_logging", "disable_logging", "enable_profiling", "disable_profiling"),
        *("create_external_resource", "destroy_external_resource", "deregister_external_resource"),
        *("register_external_resource", "register_external_resource_type"),
        *("query", "json_execute_serialized_sql"),
    }
)
"""Functions of the engine that do something: run what a text says, or change what is not the query's."""
_COLUMNS = sorted({name for table in TABLES.values() for name in table.names})


class Database:
    """Tables that can be asked; a context, at the end of which nothing is left of it."""

    def __init__(self, store: Store, memory: str = MEMORY) -> None:
        """Raises PlaceError for a newer release's tables, and NoTablesError."""
        self._store = store
        self._memory = memory
        refuse_newer_tables(store)
        self._files = {name: _files_of(store, name) for name in TABLES}
        if not any(self._files.values()):
            raise NoTablesError(store.uri)
        self._open = ExitStack()
        self._reader: pa.RecordBatchReader | None = None

    def __enter__(self) -> Self:
        with self._open:
            self._open.enter_context(bounded())
            spill = self._open.enter_context(tempfile.TemporaryDirectory(prefix="geminids-"))
            limits: dict[str, str] = {"memory_limit": self._memory, "temp_directory": spill}
            self._connection = duckdb.connect(config=_CLOSED | limits)
            self._thread = Asking(self._connection.interrupt)
            self._open.callback(self._close)
            self._asking(self._prepare, before_query=True)
            self._open = self._open.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def is_left_behind(self) -> bool:
        """Whether the engine still works on a query that nobody waits for, until the process ends."""
        return self._thread.is_left_behind

    def _close(self) -> None:
        self._thread.close()
        if not self._thread.is_left_behind:
            self._connection.close()

    def ask(self, query: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The columns of an answer, and its rows, some at a time, until the next. Raises BadQueryError."""
        if self._reader is not None:
            self._reader.close()
        query = query.encode("utf-8", "replace").decode()
        relation = self._asking(lambda: self._connection.sql(self._checked(query)))
        names = _each_once(relation.columns)
        self._reader = reader = self._asking(lambda: relation.to_arrow_reader(ROWS))
        schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
        return schema, self._batches(reader, schema)

    def _batches(self, reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        while (batch := self._asking(lambda: next(reader, None))) is not None:
            if batch.num_rows:
                yield batch.rename_columns(schema.names)

    def _checked(self, query: str) -> str:
        """A query, if it is one and does nothing but read."""
        query = with_quotes(query)
        found = self._connection.extract_statements(query)
        if len(found) != 1 and any(one.type != duckdb.StatementType.MULTI for one in found):
            raise BadQueryError("give one query at a time.")
        if not found:
            raise BadQueryError("it is empty.")
        if found[0].type != duckdb.StatementType.SELECT:
            kind = {"MULTI": "PIVOT"}.get(found[0].type.name, found[0].type.name)
            raise BadQueryError(f"{kind} is not allowed; SELECT, WITH, FROM, DESCRIBE and SUMMARIZE are.")
        query = without_end(query)
        self._refuse_changes(query)
        return query

    def _refuse_changes(self, query: str) -> None:
        """Refuse what writes in the middle of a query that reads: WITH made AS (COPY …) FROM made.

        The files of the tables could be written, too, as they are open to the engine. It tells by itself, if
        the query is part of another one: only at its beginning such things may stand. What makes a query of a
        text is refused before: that text may be another one each time.
        """
        ((tree,),) = self._connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
        for function in _FUNCTION.findall(tree):
            if function.lower() in DOING:
                raise BadQueryError(f"{function.lower()} is not allowed; it may only read.")
        if not tree.startswith(_UNDERSTOOD):
            raise BadQueryError("it cannot be told that it only reads.")
        try:
            self._connection.sql(f"FROM (\n{query}\n)")
        except duckdb.BinderException as error:
            if not _CHANGES.search(str(error)):
                raise
            raise BadQueryError("it may only read; no INSERT, UPDATE, DELETE, COPY.") from error

    def _asking(self, work: Callable[[], Given], *, before_query: bool = False) -> Given:
        """What the engine answers, in a thread: who waits can be interrupted, and then so is the engine."""
        try:
            return self._thread.answer(work)
        except duckdb.PermissionException as error:
            raise BadQueryError("it may read the tables and nothing else: no file, no network.") from error
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise TooLargeError(self._memory) from error
        except (duckdb.IOException, pa.ArrowInvalid, OSError) as error:
            if _OUT_OF_MEMORY in str(error):
                raise TooLargeError(self._memory) from error
            raise TablesDamagedError(self._store.uri, _sentence(error)) from error
        except duckdb.Error as error:
            names_file = self._store.uri in str(error) and not isinstance(error, _OF_QUERY)
            if before_query or names_file:
                raise TablesDamagedError(self._store.uri, _sentence(error)) from error
            tables = [*TABLES, *(f"{EVERY}{name}" for name in TABLES)]
            raise bad_query(str(error), tables, _COLUMNS) from error

    def _prepare(self) -> None:
        """Put the tables in, settle them, and close all doors."""
        for table in TABLES.values():
            self._add(table, self._files[table.name])
        self._refuse_newer_rows()
        for statement in statements():
            self._connection.execute(statement)
        paths = [path for files in self._local.values() for path in files]
        self._connection.execute(f"SET allowed_paths = {_list(paths)}")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    @property
    def _local(self) -> Mapping[str, Sequence[str]]:
        """The files that the engine opens itself: on a disk, and with names that are no patterns."""
        if not isinstance(self._store, LocalStore):
            return {}
        paths = {
            table: [f"{self._store.uri}/{name}" for name in files] for table, files in self._files.items()
        }
        return {table: some for table, some in paths.items() if not any(map(_PATTERN.intersection, some))}

    def _add(self, table: Table, files: Sequence[str]) -> None:
        name = f"{EVERY}{table.name}"
        if local := self._local.get(table.name):
            read = f"read_parquet({_list(local)}, union_by_name = true, hive_partitioning = true, "
            read += f"hive_types = {{{', '.join(f'{key}: VARCHAR' for key in PARTITIONS)}}})"
            there = self._connection.sql(f"FROM {read} LIMIT 0").columns
            columns = ", ".join(_selected(table, set(there)))
            self._connection.execute(f"CREATE TEMPORARY VIEW {name} AS SELECT {columns} FROM {read}")
            return
        self._connection.register(name, self._read_by_arrow(table, files))

    def _read_by_arrow(self, table: Table, files: Sequence[str]) -> Any:
        """What the engine cannot open itself, with all columns of the table."""
        schema = arrow_schema(table)
        if not files:
            return schema.empty_table()
        import pyarrow.dataset as ds

        system, folder = self._store.file_system()
        keys = pa.schema([(key, TYPES["text"]) for key in PARTITIONS])
        paths = [f"{folder}/{name}".lstrip("/") if not folder else f"{folder}/{name}" for name in files]
        return ds.dataset(
            paths, schema, "parquet", system, ds.partitioning(keys, flavor="hive"), partition_base_dir=folder
        )

    def _refuse_newer_rows(self) -> None:
        """Where a manifest is lost, the rows themselves tell which version they are of."""
        for table in TABLES:
            ((newest,),) = self._connection.execute(f"SELECT max(schema) FROM {EVERY}{table}").fetchall()
            if newest is not None and newest > VERSION:
                raise PlaceError(
                    self._store.uri,
                    f"it has tables of a newer release of geminids (version {newest}; this one knows "
                    f"{VERSION}); update geminids, or choose another place",
                )


def _files_of(store: Store, table: str) -> Sequence[str]:
    return sorted(stored.name for stored in store.listed(table) if is_of_table(stored.name))


def _selected(table: Table, there: set[str]) -> Iterator[str]:
    """All columns of a table; null where an earlier release did not write them, or they were left out."""
    for column in table.columns:
        kind = _NAMES_OF_TYPES[column.kind]
        value = f'"{column.name}"' if column.name in there else "NULL"
        yield f'CAST({value} AS {kind}) AS "{column.name}"'


def _list(texts: Sequence[str]) -> str:
    quoted = ", ".join("'{}'".format(text.replace("'", "''")) for text in texts)
    return f"[{quoted}]"


def _each_once(names: Sequence[str]) -> list[str]:
    """The names of columns, of which two may not be the same."""
    given: dict[str, None] = {}
    for name in names:
        new, number = name, 1
        while new in given:
            number += 1
            new = f"{name}_{number}"
        given[new] = None
    return list(given)


def _sentence(error: Exception) -> str:
    said = " ".join(str(error).split("\n\nLINE ")[0].split())
    return said if said.endswith((".", "!", "?")) else f"{said}."
