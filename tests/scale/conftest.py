"""Real Spark: its cluster on this machine. `make test-scale` has an environment of its own for it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from geminids.scale import spark as data_source
from tests.support.engines import Tables, pool_tables
from tests.support.spark_homes import machines, write_homes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.python.authenticate.socketTimeout": "120s",
}
"""For a machine of two cores; without its pages, which need ports."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say at once what is missing: nothing here can run without it."""
    if not any(item.get_closest_marker("scale") for item in items):
        return
    if shutil.which("java") is None:
        pytest.exit("No java here: `apt-get install default-jre-headless`, then `make test-scale`.", 3)
    with_spark = Path(sys.prefix, "bin", "spark-class")
    if not with_spark.exists():
        pytest.exit("No Spark in this environment. `make test-scale` runs these tests in one that has it.", 3)


def session(master: str, **settings: Any) -> SparkSession:
    """A session of Spark, in which the data source is known."""
    from pyspark.sql import SparkSession

    # Spark asks the environment, and not its settings, where it plans what to read.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    for name, value in (SETTINGS | settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    data_source.register(spark)
    return spark


@pytest.fixture(scope="session")
def cluster() -> Iterator[SparkSession]:
    """A master and two workers in processes of their own, as Spark itself makes them for tests."""
    spark = session("local-cluster[2,1,1024]")
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Homes of all agents: generated, recorded, damaged."""
    return write_homes(tmp_path_factory.mktemp("homes"), 40)


@pytest.fixture(scope="session")
def pool(place: Path) -> Tables:
    """What the process pool says of them."""
    return pool_tables(machines(place), 2)
