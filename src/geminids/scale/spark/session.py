"""What is done for a session of Spark: registering the data source, and views of settled tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from geminids.core.errors import GeminidsError
from geminids.scale.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class NoSparkError(GeminidsError):
    """There is no Spark that knows Python Data Sources."""

    def __init__(self) -> None:
        super().__init__(
            "No Spark here that knows Python Data Sources. Use that of your cluster, or install pyspark 4.1 "
            "or newer (pyspark-client for Spark Connect)."
        )


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("geminids")` and `spark.readStream.format("geminids")` known."""
    try:
        from geminids.scale.spark.source import SessionsSource
    except ImportError as error:
        raise NoSparkError from error
    spark.dataSource.register(SessionsSource)


def settled(spark: SparkSession, uri: str, keep: str, options: Mapping[str, str] | None = None) -> None:
    """Make views of all tables: `all_sessions`, as it is told; `sessions`, in which copies count once.

    What is told is read once, and kept in a folder that the engine writes and reads.
    """
    from geminids.scale.settling import EVERY, STEPS
    from geminids.scale.settling import settled as settled_tables

    register(spark)
    for table in TABLES:
        told = spark.read.format("geminids").options(**(options or {})).option("table", table).load(uri)
        _keep(spark, f"{EVERY}{table}", told, keep)
    # The data source leaves out what is forgotten in tables.
    spark.createDataFrame([], "session string").createOrReplaceTempView(f"{EVERY}forgotten")
    for name, query in STEPS.items():
        _keep(spark, name, spark.sql(query), keep)
    for name, query in settled_tables(spark.table(f"{EVERY}sessions").columns).items():
        spark.sql(query).createOrReplaceTempView(name)


def _keep(spark: SparkSession, name: str, rows: DataFrame, folder: str) -> None:
    """Make a view of rows that are worked out once: each is asked for several times."""
    kept = f"{folder.rstrip('/')}/{name}"
    rows.write.mode("overwrite").parquet(kept)
    # Of a table without rows, engines may write no file that tells its columns.
    spark.read.schema(rows.schema).parquet(kept).createOrReplaceTempView(name)
