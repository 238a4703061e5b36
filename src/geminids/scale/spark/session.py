"""What is done for a session of Spark: registering the data source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.core.errors import GeminidsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
