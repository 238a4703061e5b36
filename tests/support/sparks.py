"""Engines that speak like Spark, asked like all others (`engines.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from geminids.scale.schema import TABLES
from tests.support.engines import Ask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RAW = {"redact": "false"}
"""As it stands in the files: what pools of processes tell here, too."""


def told(spark: SparkSession, place: Path | str, table: str, **options: str) -> DataFrame:
    """A table of what lies in a place, by the data source."""
    asked: Mapping[str, str] = RAW | {"table": table, "bytes": "1000000"} | options
    return spark.read.format("geminids").options(**asked).load(str(place))


def tables_of(spark: SparkSession, place: Path | str, **options: str) -> dict[str, pa.Table]:
    """All tables of what lies in a place."""
    return {name: told(spark, place, name, **options).toArrow() for name in TABLES}


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    """All rows of an answer."""
    found: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return found


def asks(spark: SparkSession) -> Ask:
    """Asks what views say."""
    return lambda query: [tuple(row) for row in spark.sql(query).collect()]
