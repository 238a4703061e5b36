"""The engine, with the tables in it and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pyarrow as pa

from geminids.core.atomic_files import temporary_folder
from geminids.scale.places.stored import Store
from geminids.scale.places.stores import LocalStore
from geminids.scale.schema import PARTITIONS, TABLES, Kind, Table
from geminids.scale.settling import EVERY, made_of, statements
from geminids.scale.sql.asking import Asking, Given
from geminids.scale.sql.errors import (
    BadQueryError,
    NoTablesError,
    TablesDamagedError,
    TooLargeError,
    bad_query,
)
from geminids.scale.sql.memory import SPILLED, bounded
from geminids.scale.sql.reserved import MARK, with_marked_names, with_quotes, without_end
from geminids.scale.tables.forgotten import COLUMN, FORGOTTEN, read_forgotten, session_column
from geminids.scale.tables.manifest import tables_there

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
    "dollars": "DECIMAL(18, 6)",
    "files": "STRUCT(path VARCHAR, format VARCHAR, size BIGINT, kept BOOLEAN)[]",
}
_PATTERN = re.compile(r"[*?\[]")
"""Characters that make a pattern of a file name for the engine."""
_READS = re.compile(r"\b(from|show|describe|summarize|pragma)\b", re.IGNORECASE)
_NAMES = frozenset({*TABLES, *(f"{EVERY}{name}" for name in TABLES)})
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
_OF_QUERY = (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)
"""What the engine finds wrong in a query, whatever files it names."""
_CHANGES = re.compile(r"WITH clause containing a .* statement must be at the top level")
_MARKED_COLUMN = re.compile(rf'Referenced column "\w+{re.escape(MARK)}"')
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
        there = tables_there(store)
        self.strays = there.strays
        """Files among the tables that are none, and are not read."""
        self._forgotten = read_forgotten(store)
        self._files = there.files
        if not any(self._files.values()):
            raise NoTablesError(store.uri)
        self._made: set[str] = set()
        self._open = ExitStack()
        self._reader: pa.RecordBatchReader | None = None

    def __enter__(self) -> Self:
        with self._open:
            self._open.enter_context(bounded())
            folder = self._open.enter_context(temporary_folder())
            self._copies = Path(folder, "tables")
            self._copies.mkdir()
            limits: dict[str, str] = {
                "memory_limit": self._memory,
                "temp_directory": f"{folder}/spilled",
            }
            self._connection = duckdb.connect(config=_CLOSED | limits)
            self._thread = Asking(self._connection.interrupt)
            self._open.callback(self._close)
            self._asking(self._close_doors, before_query=True)
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
        query = self._asking(partial(self._one_query, query))
        self._provide(self._asking(lambda: self._tables_of(query)))
        relation = self._asking(lambda: self._connection.sql(self._reading(query)))
        names = _each_once(relation.columns)
        self._reader = reader = self._asking(lambda: relation.to_arrow_reader(ROWS))
        schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
        return schema, self._batches(reader, schema)

    def available_tables(self, query: str) -> Collection[str]:
        """Return the tables that can be read without fetching objects that a query does not need.

        Raises BadQueryError.
        """
        named = self._asking(lambda: self._tables_of(self._one_query(query)))
        return _NAMES if isinstance(self._store, LocalStore) else made_of(named)

    def _batches(self, reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        while (batch := self._asking(lambda: next(reader, None))) is not None:
            if batch.num_rows:
                yield batch.rename_columns(schema.names)

    def _one_query(self, query: str) -> str:
        """Return a query as the engine takes it, if it is one of a kind that reads."""
        query = with_quotes(query.encode("utf-8", "replace").decode())
        found = self._connection.extract_statements(query)
        if len(found) != 1 and any(one.type != duckdb.StatementType.MULTI for one in found):
            raise BadQueryError("give one query at a time.")
        if not found:
            raise BadQueryError("it is empty.")
        if found[0].type != duckdb.StatementType.SELECT:
            kind = {"MULTI": "PIVOT"}.get(found[0].type.name, found[0].type.name)
            raise BadQueryError(f"{kind} is not allowed; SELECT, WITH, FROM, DESCRIBE and SUMMARIZE are.")
        return without_end(query)

    def _tables_of(self, query: str) -> Collection[str]:
        """Return the tables that a query names; all of them, if it reads anything else (SHOW TABLES)."""
        try:
            # Another connection has no views that would be opened for it.
            with self._connection.cursor() as other:
                named = {name.casefold() for name in other.get_table_names(query)}
        except duckdb.BinderException:
            # The engine looks for columns of JOIN … USING, and does not know the tables yet.
            named = set(re.findall(r"\w+", query.casefold()))
        return named & _NAMES if named or not _READS.search(query) else _NAMES

    def _reading(self, query: str) -> str:
        """Return a query that does nothing but read.

        Refuse what writes in the middle of a query that reads: WITH made AS (COPY …) FROM made.

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
        self._refuse_values_for_columns(query)
        return query

    def _refuse_values_for_columns(self, query: str) -> None:
        """Raise the engine's error for a missing column, where it would give a value of its own."""
        if (marked := with_marked_names(query)) == query:
            return
        try:
            self._connection.sql(marked)
        except duckdb.BinderException as error:
            if _MARKED_COLUMN.search(str(error)):
                raise duckdb.BinderException(str(error).replace(f'{MARK}"', '"')) from error

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

    def _close_doors(self) -> None:
        """Leave the engine nothing but the files of tables."""
        forgotten = pa.table({COLUMN: pa.array(sorted(self._forgotten), pa.string())})
        self._connection.register(FORGOTTEN, forgotten)
        self._connection.execute(f"CREATE TEMPORARY TABLE {EVERY}{FORGOTTEN} AS FROM {FORGOTTEN}")
        self._connection.unregister(FORGOTTEN)
        paths = [f"{self._store.uri}/{file.name}" for files in self._files.values() for file in files]
        if not isinstance(self._store, LocalStore):
            paths = []
        folder = str(self._copies)
        self._connection.execute(f"SET allowed_paths = {_list({*paths, *map(_escaped, paths)})}")
        self._connection.execute(f"SET allowed_directories = {_list({folder, _escaped(folder)})}")
        # Among the settings of a new connection it does nothing.
        self._connection.execute(f"SET max_temp_directory_size = '{SPILLED}'")
        # Else each step opens all files again.
        self._connection.execute("SET parquet_metadata_cache = true")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _provide(self, wanted: Collection[str]) -> None:
        """Make the tables that a query names, and what they are settled by; nothing else is fetched."""
        needed = made_of(wanted) - self._made
        for table in TABLES.values():
            if f"{EVERY}{table.name}" in needed:
                files = self._files[table.name]
                paths = self._store.fetched(files, self._copies / table.name) if files else ()
                self._asking(partial(self._add, table, paths), before_query=True)
        for name, statement in statements().items():
            if name in needed:
                self._asking(partial(self._connection.execute, statement), before_query=True)
        self._made |= needed

    def _add(self, table: Table, paths: Sequence[str]) -> None:
        """Make a view of the files of a table, without the rows of forgotten sessions."""
        source, there = "(SELECT 1) LIMIT 0", set[str]()
        if paths:
            source = f"read_parquet({_list(map(_escaped, paths))}, union_by_name = true, "
            source += "hive_partitioning = true, "
            source += f"hive_types = {{{', '.join(f'{key}: VARCHAR' for key in PARTITIONS)}}})"
            there = set(self._connection.sql(f"FROM {source} LIMIT 0").columns)
            if self._forgotten and (column := session_column(table.name)) in there:
                source += f" WHERE sha256({column}) NOT IN (SELECT {COLUMN} FROM {EVERY}{FORGOTTEN})"
        self._connection.execute(
            f"CREATE TEMPORARY VIEW {EVERY}{table.name} AS "
            f"SELECT {', '.join(_selected(table, there))} FROM {source}"
        )


def _selected(table: Table, there: set[str]) -> Iterator[str]:
    """All columns of a table; null where an earlier release did not write them, or they were left out."""
    for column in table.columns:
        kind = _NAMES_OF_TYPES[column.kind]
        value = f'"{column.name}"' if column.name in there else "NULL"
        yield f'CAST({value} AS {kind}) AS "{column.name}"'


def _escaped(path: str) -> str:
    """Return a pattern that only one file has."""
    return _PATTERN.sub(r"[\g<0>]", path)


def _list(texts: Iterable[str]) -> str:
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
