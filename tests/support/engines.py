"""What engines say of the same homes: figures as `stats` has them, and a checksum over sorted tables.

Every engine is asked the same SQL over the settled tables; the index is asked for its statistics. An engine
is a function that answers a query with rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from geminids.core.disk import REAL
from geminids.core.workers import Workers
from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from geminids.scale import engine
from geminids.scale.batches import arrow_schema
from geminids.scale.homes import pieces
from geminids.scale.places.stores import open_store
from geminids.scale.schema import TABLES, TOKENS
from geminids.scale.settling import EVERY, statements
from geminids.scale.sql.database import Database
from tests.conftest import NOW

Ask = Callable[[str], Iterable[Sequence[Any]]]
"""Answers a query over settled tables."""
Tables = Mapping[str, pa.Table]
Figures = dict[str, Any]
"""What was done and used, in all and in groups; what nobody recorded is None."""

_TOKENS = ", ".join(f"sum({column.name})" for column in TOKENS)
_NAMES = tuple(column.name for column in TOKENS)
_SUMS = {
    "sessions": {
        "sessions": "count(CASE WHEN kind <> 'subagent' THEN 1 END)",
        "subagents": "count(CASE WHEN kind = 'subagent' THEN 1 END)",
        "of summed prompts": "coalesce(sum(prompts), 0)",
        "of summed replies": "coalesce(sum(replies), 0)",
        "of summed calls": "coalesce(sum(tool_calls), 0)",
        "of summed errors": "coalesce(sum(tool_errors), 0)",
        "of summed requests": "coalesce(sum(requests), 0)",
        "of summed tokens": "sum(total)",
    },
    "messages": {
        "prompts": "count(CASE WHEN origin = 'human' THEN 1 END)",
        "replies": "count(CASE WHEN origin = 'model' AND says THEN 1 END)",
        "estimated": "count(estimated_output)",
        "estimated input": "sum(estimated_input)",
        "estimated output": "sum(estimated_output)",
    },
    "calls": {
        "calls": "count(*)",
        "errors": "count(CASE WHEN status = 'error' THEN 1 END)",
        "cancelled": "count(CASE WHEN status = 'cancelled' THEN 1 END)",
    },
    "changes": {
        "files": "count(DISTINCT CASE WHEN done THEN path END)",
        "added": "sum(CASE WHEN done THEN added END)",
        "removed": "sum(CASE WHEN done THEN removed END)",
    },
    "requests": {
        "requests": "coalesce(sum(requests), 0)",
        "unmeasured": "coalesce(sum(CASE WHEN total IS NULL THEN requests END), 0)",
        **{name: f"sum({name})" for name in _NAMES},
    },
}
_GROUPS = {
    "kinds": "SELECT kind, count(*) FROM sessions GROUP BY kind",
    "agents": f"SELECT agent, sum(requests), {_TOKENS} FROM requests GROUP BY agent",
    "models": f"SELECT coalesce(model, ''), sum(requests), {_TOKENS} FROM requests GROUP BY 1",
    "tools": "SELECT tool, count(*) FROM calls GROUP BY tool",
    "sessions by id": f"SELECT session_id, sum(requests), {_TOKENS} FROM requests GROUP BY session_id",
}


def asked_figures(ask: Ask) -> Figures:
    """What an engine says."""
    figures: Figures = {}
    for table, sums in _SUMS.items():
        (row,) = ask(f"SELECT {', '.join(sums.values())} FROM {table}")
        figures |= zip(sums, map(_number, row), strict=True)
    # Replies without tokens are no requests.
    figures["unmeasured"] += figures.pop("estimated")
    for name, query in _GROUPS.items():
        figures[name] = {key: tuple(map(_number, rest)) for key, *rest in ask(query)}
    return figures


def stats_figures(library: Library) -> Figures:
    """What `stats` says."""
    found = library.stats(StatsQuestion(estimate=True), NOW)
    total, tokens = found.total, found.total.tokens
    assert total.estimated
    names = ("sessions", "subagents", "prompts", "replies", "calls", "errors", "cancelled", "files")
    figures: Figures = {name: getattr(total, name) for name in names}
    figures |= {"added": total.added, "removed": total.removed, "unmeasured": tokens.unmeasured}
    figures |= {
        "estimated input": total.estimated.input,
        "estimated output": total.estimated.output,
        "of summed prompts": total.prompts,
        "of summed replies": total.replies,
        "of summed calls": total.calls,
        "of summed errors": total.errors,
        "of summed requests": tokens.requests,
        "of summed tokens": tokens.total,
        "requests": tokens.requests,
    }
    figures |= {name: getattr(tokens, name) for name in _NAMES}
    figures["kinds"] = {kind: (number,) for kind, number in found.kinds.items() if number}
    figures["agents"] = _used(library, "agent")
    figures["models"] = _used(library, "model")
    figures["sessions by id"] = _used(library, "session")
    by_tool = library.stats(StatsQuestion(by="tool"), NOW).groups
    figures["tools"] = {group.key: (group.figures.calls,) for group in by_tool}
    return figures


def _used(library: Library, by: str) -> dict[str, tuple[Any, ...]]:
    groups = library.stats(StatsQuestion(by=by, fold=False), NOW).groups
    used: dict[str, tuple[Any, ...]] = {}
    for group in groups:
        tokens = group.figures.tokens
        if tokens.requests:
            one = (tokens.requests, *(getattr(tokens, name) for name in _NAMES))
            # Sessions of the same id stand by themselves in the index.
            used[group.key] = _together(used[group.key], one) if group.key in used else one
    return used


def _together(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        None if known == [] else sum(known)
        for known in ([n for n in pair if n is not None] for pair in zip(one, other, strict=True))
    )


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


# Tables, by different ways


def pool_tables(homes: Sequence[tuple[str, Path]], processes: int = 0) -> Tables:
    """The tables of homes, each with the machine that it is of, by the process pool or without."""
    every = [piece for machine, home in homes for piece in pieces(REAL, str(home), machine=machine)]
    questions = [engine.Question(piece, name) for name in TABLES for piece in every]
    with Workers(processes, f"{answer.__module__}:{answer.__name__}") as workers:
        answers = list(workers.answers(questions))
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in TABLES}
    for question, answered in zip(questions, answers, strict=True):
        batches[question.table] += answered
    return {name: pa.Table.from_batches(found, arrow_schema(TABLES[name])) for name, found in batches.items()}


def answer(question: engine.Question) -> list[pa.RecordBatch]:
    """What a worker of the pool does."""
    return list(engine.batches(question))


def settled_in_duckdb(tables: Tables) -> Ask:
    """DuckDB over tables in memory, settled."""
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(f"{EVERY}{name}", table)
    connection.execute(f"CREATE TEMPORARY TABLE {EVERY}forgotten (session VARCHAR)")
    for statement in statements(tables["sessions"].column_names).values():
        connection.execute(statement)
    return lambda query: connection.execute(query).fetchall()


def written_tables(folder: Path) -> Tables:
    """The tables of a folder, as anybody reads Parquet."""
    found = {}
    for name, table in TABLES.items():
        schema = arrow_schema(table)
        files = sorted((folder / name).rglob("*.parquet"))
        keys = ds.partitioning(pa.schema([("agent", pa.string()), ("month", pa.string())]), flavor="hive")
        read = ds.dataset(files, schema, "parquet", partitioning=keys, partition_base_dir=str(folder / name))
        found[name] = read.to_table() if files else schema.empty_table()
    return found


@contextmanager
def database_of(folder: Path) -> Iterator[Ask]:
    """What `geminids sql` asks, over the tables of a folder."""
    with Database(open_store(str(folder))) as database:

        def ask(query: str) -> Iterable[Sequence[Any]]:
            _, batches = database.ask(query)
            return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

        yield ask


# Checksums


NOT_COMPARED = frozenset({"project", "release"})
"""Columns that tables of one machine know better than its files alone tell."""


def checksums(tables: Tables) -> dict[str, str]:
    """Of each table: of its rows, sorted, as JSON."""
    return {name: checksum(name, table.to_pylist()) for name, table in tables.items()}


def checksum(table: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Of rows of a table, whatever their order and that of their columns."""
    names = [name for name in sorted(TABLES[table].names) if name not in NOT_COMPARED]
    lines = sorted(
        json.dumps([_plain(row[name]) for name in names], ensure_ascii=False).encode("utf-8", "surrogatepass")
        for row in rows
    )
    return sha256(b"\n".join(lines)).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.timestamp()
        case Decimal():
            return str(value)
        case Mapping():
            return {name: _plain(value[name]) for name in sorted(value)}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _:
            return value
