"""Costs in tables: those of `stats`, to the rounding, also beside tables that have none yet."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from geminids.core.disk import REAL
from geminids.library import Library
from geminids.query.usage.prices.cache import LIBRARY
from geminids.query.usage.request_costs import RequestCosts
from geminids.query.usage.stats import StatsQuestion
from geminids.scale import engine
from geminids.scale.batches import arrow_schema
from geminids.scale.homes import pieces
from geminids.scale.places.stores import open_store
from geminids.scale.schema import TABLES
from geminids.scale.sql.database import Database
from geminids.scale.tables.forgotten import COLUMN, FORGOTTEN
from geminids.scale.tables.stored import stored_pieces
from tests.conftest import FIXTURES, NOW, ROOT, Run
from tests.support.tables import files, table, write_tables

pytestmark = pytest.mark.usefixtures("without_copies")

AGENTS = ("claude", "codex", "gemini")
CENT = Decimal("0.000001")
BY_MODEL = "SELECT coalesce(model, ''), sum(cost), count(*) FROM requests WHERE total IS NOT NULL GROUP BY 1"
PRICED = FIXTURES / "claude/plain/home"
NEW = ("cost", "priced_on", "incomplete")
"""Columns that an earlier release did not write."""


def asked(place: Path | str, query: str) -> list[tuple[Any, ...]]:
    with Database(open_store(str(place))) as database:
        _, batches = database.ask(query)
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def costs_of_stats(homes: list[Path], data: Path) -> dict[str, Decimal | None]:
    with Library(homes, data) as library:
        groups = library.stats(StatsQuestion(by="model"), NOW).groups
    return {group.key: group.figures.tokens.cost for group in groups if group.figures.tokens.requests}


@pytest.mark.parametrize("agent", AGENTS)
def test_costs_by_model_are_those_of_stats(agent: str, tmp_path: Path) -> None:
    homes = sorted((FIXTURES / agent).glob("*/home"))
    write_tables(homes, tmp_path / "data", tmp_path / "tables")
    found = {model: (cost, rows) for model, cost, rows in asked(tmp_path / "tables", BY_MODEL)}
    expected = costs_of_stats(homes, tmp_path / "data")
    assert found.keys() == expected.keys()
    assert any(expected.values())
    for model, cost in expected.items():
        in_tables, rows = found[model]
        assert (in_tables is None) is (cost is None), model
        assert abs((in_tables or 0) - (cost or 0)) <= rows * CENT, model


def test_every_priced_request_says_by_which_list(tmp_path: Path) -> None:
    from importlib.metadata import version

    write_tables(PRICED, tmp_path / "data", tmp_path / "tables")
    rows = table(tmp_path / "tables", "requests")
    assert {row["priced_on"] for row in rows} == {f"genai-prices {version('genai-prices')}"}
    assert all(isinstance(row["cost"], Decimal) for row in rows)
    schema = pq.read_schema(next((tmp_path / "tables/requests").rglob("*.parquet")))
    assert schema.field("cost").type == pa.decimal128(18, 6)


def test_prices_of_the_user_count_and_tables_are_written_again_when_they_change(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "tables"
    write_tables(PRICED, data, out)
    before, (model,) = files(out), {row["model"] for row in table(out, "requests")}
    write_tables(PRICED, data, out)
    assert files(out) == before
    (data / "settings.toml").write_text(f'[prices."{model}"]\ninput = 1000\noutput = 1000\n')
    write_tables(PRICED, data, out)
    rows = table(out, "requests")
    assert {row["priced_on"] for row in rows} == {"settings.toml"}
    (cost,) = costs_of_stats([PRICED], data).values()
    assert sum(row["cost"] for row in rows) == cost == sum(row["total"] for row in rows) / Decimal(1000)


def test_what_prices_requests_goes_to_other_processes() -> None:
    costs = RequestCosts(None, None, "a fingerprint")
    with Library([PRICED], None) as library:
        message = next(message for message in library.session("latest").messages if message.usage)
    priced = costs.of(message)
    assert priced[0]
    assert pickle.loads(pickle.dumps(costs)).of(message) == priced


def test_threads_that_share_prices_find_all_of_them() -> None:
    """Sail reads homes in threads of one process."""
    with Library([PRICED], None) as library:
        message = next(message for message in library.session("latest").messages if message.usage)
    names = (
        "claude-opus-4-1",
        "claude-sonnet-4-5",
        "gemini-2.5-pro",
        "gemini-2.5-flash",
        "gpt-5",
        "gpt-5-mini",
    )
    messages = [structs.replace(message, model=name) for name in names]
    alone = [RequestCosts().of(message) for message in messages]
    assert all(cost for cost, _ in alone)
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            shared = RequestCosts()
            assert list(threads.map(shared.of, messages * 4)) == alone * 4


def test_engines_price_homes_by_the_list(tmp_path: Path) -> None:
    write_tables(PRICED, tmp_path / "data", tmp_path / "tables")
    questions = [engine.Question(piece, "requests", ("cost",)) for piece in pieces(REAL, str(PRICED))]
    found = [row["cost"] for batch in engine.read(questions, 0) for row in batch.to_pylist()]
    assert sorted(found) == sorted(row["cost"] for row in table(tmp_path / "tables", "requests"))


# Older tables


def write_old(tmp_path: Path) -> Path:
    """Write tables of a machine as an earlier release did."""
    out = tmp_path / "tables"
    write_tables(FIXTURES / "codex/plain/home", tmp_path / "old", out, "old")
    for path in out.rglob("*.parquet"):
        content = pq.read_table(path, partitioning=None)
        pq.write_table(content.drop_columns([name for name in NEW if name in content.column_names]), path)
    return out


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Tables of two machines, those of one as an earlier release wrote them."""
    out = write_old(tmp_path)
    write_tables(PRICED, tmp_path / "new", out, "new")
    return out


def expected(place: Path) -> Decimal:
    return sum((row["cost"] for row in table(place, "requests") if row["machine"] == "new"), Decimal(0))


COSTS = (
    "SELECT machine, sum(cost), count(*) - count(cost), min(priced_on) IS NULL "
    "FROM requests GROUP BY 1 ORDER BY 1"
)


def check(rows: list[tuple[Any, ...]], place: Path) -> None:
    (new, cost, unpriced, is_new_null), (old, none, all_of_it, is_old_null) = rows
    assert (new, cost, unpriced, is_new_null) == ("new", expected(place), 0, False)
    assert (old, none, is_old_null) == ("old", None, True)
    assert all_of_it > 0


def test_older_tables_beside_newer_ones_in_sql(place: Path) -> None:
    check(asked(place, COSTS), place)


def test_older_tables_alone_in_sql(tmp_path: Path) -> None:
    assert asked(write_old(tmp_path), "SELECT sum(cost), count(*) > 0 FROM requests") == [(None, True)]


def test_older_tables_beside_newer_ones_with_the_published_sql(place: Path) -> None:
    connection = duckdb.connect()
    for name in TABLES:
        if found := list((place / name).rglob("*.parquet")):
            connection.execute(
                f"CREATE VIEW all_{name} AS FROM read_parquet({[str(path) for path in found]}, "
                "union_by_name = true, hive_partitioning = true)"
            )
        else:
            connection.register(f"all_{name}", arrow_schema(TABLES[name]).empty_table())
    connection.execute(f"CREATE VIEW all_{FORGOTTEN} AS SELECT '' AS {COLUMN} LIMIT 0")
    connection.execute((ROOT / "docs/settling.sql").read_text("utf-8"))
    check(connection.execute(COSTS).fetchall(), place)
    connection.close()


def test_older_tables_beside_newer_ones_as_engines_read_them(place: Path) -> None:
    store = open_store(str(place))
    questions = [engine.Question(piece, "requests") for piece in stored_pieces(store, "requests", most=1)]
    rows = [row for batch in engine.read(questions, 0) for row in batch.to_pylist()]
    assert sum((row["cost"] for row in rows if row["machine"] == "new"), Decimal(0)) == expected(place)
    assert {(row["cost"], row["priced_on"]) for row in rows if row["machine"] == "old"} == {(None, None)}


# What `sql` says


def test_without_prices_costs_are_null_and_sql_says_how_to_add_them(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation without the extra `cost`."""
    monkeypatch.setitem(sys.modules, LIBRARY, None)
    monkeypatch.delitem(sys.modules, f"{LIBRARY}.data_snapshot", raising=False)
    where = ("--home", PRICED, "--data", tmp_path / "data")
    outcome = geminids("sql", *where, "select sum(cost) from requests")
    assert outcome.out.splitlines()[1:] == ['""']
    assert "`cost` is null for all requests: genai-prices" in outcome.err
    assert "adds it" in outcome.err
    assert "cost" not in geminids("sql", *where, "select sum(total) from requests").err


def test_sql_says_how_many_requests_have_no_price(geminids: Run, place: Path) -> None:
    said = geminids("sql", "--tables", place, "select sum(cost) from requests").err
    assert "`cost` is null for " in said
    assert " requests: no price is known" in said
