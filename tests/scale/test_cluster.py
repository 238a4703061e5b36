"""A cluster of Spark tells the same as the index, the process pool and DuckDB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from geminids.library import Library
from geminids.scale import spark as data_source
from geminids.scale.schema import TABLES
from tests.conftest import Run
from tests.support.engines import (
    Tables,
    asked_figures,
    checksum,
    checksums,
    settled_in_duckdb,
    stats_figures,
)
from tests.support.homes import write_session
from tests.support.sparks import RAW, asks, rows, tables_of, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECOND = "2f0c9a2b-0000-4000-8000-000000000002"


def test_tables_are_those_of_the_process_pool(cluster: SparkSession, place: Path, pool: Tables) -> None:
    found = tables_of(cluster, place)
    assert checksums(found) == checksums(pool)
    assert all(found[name].num_rows > 50 for name in TABLES)


def test_settled_figures_are_those_of_duckdb(
    cluster: SparkSession, place: Path, pool: Tables, tmp_path: Path
) -> None:
    data_source.settled(cluster, str(place), str(tmp_path / "kept"), RAW)
    assert asked_figures(asks(cluster)) == asked_figures(settled_in_duckdb(pool))


@pytest.mark.usefixtures("without_copies")
def test_settled_figures_are_those_of_stats(cluster: SparkSession, place: Path, tmp_path: Path) -> None:
    home = place / "generated"
    with Library([home], data=tmp_path / "data") as library:
        truth = stats_figures(library)
    data_source.settled(cluster, str(home), str(tmp_path / "kept"), RAW)
    assert asked_figures(asks(cluster)) == truth


def test_tables_that_were_written_are_read_as_they_are(
    cluster: SparkSession, place: Path, tmp_path: Path, geminids: Run
) -> None:
    home, out = place / "generated", tmp_path / "out"
    where = ("--home", home, "--data", tmp_path / "data")
    assert geminids(*where, "tables", "--out", out, "--raw", "--machine", "generated").code == 0
    for table in TABLES:
        parquet = rows(told(cluster, out, table))
        assert checksum(table, parquet) == checksum(table, rows(told(cluster, home, table)))
    asked = told(cluster, out, "sessions", agents="codex", columns="id,agent")
    assert {row["agent"] for row in rows(asked)} == {"codex"}
    assert asked.columns == ["agent", "id"]


def test_exported_copies_are_read_where_they_are(
    cluster: SparkSession, tmp_path: Path, geminids: Run
) -> None:
    write_session(tmp_path / "home", prompt="What was kept")
    where = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    assert geminids(*where, "keep").code == 0
    assert geminids(*where, "keep", "export", tmp_path / "laptop.tar").code == 0
    messages = rows(told(cluster, tmp_path / "laptop.tar", "messages"))
    assert [(row["machine"], row["text"]) for row in messages] == [
        ("laptop", "What was kept"),
        ("laptop", "Done."),
    ]


def test_secrets_are_hidden_unless_it_is_said_otherwise(cluster: SparkSession, tmp_path: Path) -> None:
    secret = "ghp_x7Kd93mQpLz0aBvRtY5nWcE8sUfJ2hG4iXoD"
    write_session(tmp_path / "home", prompt=f"Use {secret} for it")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    hidden = {"redact": "true", "keyFile": str(tmp_path / "key")}
    first, again = (rows(told(cluster, tmp_path / "home", "messages", **hidden)) for _ in range(2))
    assert secret not in json.dumps([row["text"] for row in first])
    assert "[REDACTED:" in first[0]["text"]
    assert [row["text"] for row in first] == [row["text"] for row in again]
    assert secret in rows(told(cluster, tmp_path / "home", "messages"))[0]["text"]


def test_options_leave_out_what_is_not_wanted(cluster: SparkSession, tmp_path: Path) -> None:
    write_session(tmp_path / "laptop", slug="shop", day=1)
    write_session(tmp_path / "desktop", SECOND, slug="blog", day=3)

    def machines_of(**options: str) -> set[Any]:
        return {row["machine"] for row in rows(told(cluster, tmp_path, "messages", **options))}

    assert machines_of() == {"laptop", "desktop"}
    assert machines_of(since="2026-05-02") == {"desktop"}
    assert machines_of(until="2026-05-02") == {"laptop"}
    assert machines_of(machines="laptop,tower") == {"laptop"}
    assert machines_of(projects="/home/ada/dev/blog") == {"desktop"}
    assert machines_of(agents="codex") == set()
    assert machines_of(machine="all") == {"all"}
    assert "text" not in told(cluster, tmp_path, "messages", words="false").columns


def test_what_one_query_narrows_is_whole_for_the_next(cluster: SparkSession, tmp_path: Path) -> None:
    """Without `pushdown`: with it, Spark gives what one query narrowed to others over the same frame."""
    write_session(tmp_path / "laptop")
    write_session(tmp_path / "desktop", SECOND)
    sessions = told(cluster, tmp_path, "sessions")
    assert sessions.where("machine = 'laptop'").count() == 1
    assert sessions.count() == 2
    both = sessions.where("machine = 'laptop'").unionAll(sessions.where("machine = 'desktop'"))
    assert both.count() == 2


def test_conditions_are_pushed_down_where_that_is_wished(cluster: SparkSession, tmp_path: Path) -> None:
    setting = "spark.sql.python.filterPushdown.enabled"
    for number in range(4):
        write_session(tmp_path / f"m{number}", prompt="x" * 200_000)
    cluster.conf.set(setting, "true")
    try:
        options = {"pushdown": "true", "bytes": "100000"}
        every = told(cluster, tmp_path, "sessions", **options)
        assert every.rdd.getNumPartitions() == 4
        one = told(cluster, tmp_path, "sessions", **options).where("machine = 'm2'")
        assert one.rdd.getNumPartitions() == 1
        assert [row["machine"] for row in rows(one)] == ["m2"]
    finally:
        cluster.conf.unset(setting)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"table": "call"}, "The option table cannot be 'call'. There are: sessions, messages, requests"),
        ({"colums": "id"}, "No option 'colums'. There are: table, columns, words"),
        ({"since": "soon"}, "soon"),
        ({"bytes": "1"}, "The option bytes cannot be 1: it is a whole number from 100000."),
    ],
)
def test_wrong_options_say_what_may_be_asked(
    cluster: SparkSession, tmp_path: Path, options: dict[str, str], said: str
) -> None:
    with pytest.raises(Exception) as error:  # noqa: PT011 - Spark has its own around ours
        cluster.read.format("geminids").options(**options).load(str(tmp_path)).count()
    assert said in str(error.value)


def test_a_place_that_is_not_there_says_so(cluster: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception) as error:  # noqa: PT011
        told(cluster, tmp_path / "nowhere", "sessions").count()
    assert "nowhere': no such file or directory" in str(error.value)
