"""The columns of tables as Spark knows them."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from geminids.scale.batches import arrow_schema
from geminids.scale.schema import TABLES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


def columns(table: str, names: Collection[str]) -> StructType | pa.Schema:
    """Columns of a table."""
    wanted = tuple(column for column in TABLES[table].columns if column.name in names)
    types = arrow_schema(TABLES[table]._replace(columns=wanted))
    if "pysail" in sys.modules:
        # Sail takes the types of Arrow; those of Spark it cannot translate with the classes of Spark 4.2.
        return types
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(types)
