"""The data source as Spark calls it. It is copied into other processes, so it holds nothing that is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader

from geminids.scale.only import ANYTHING
from geminids.scale.spark.filters import heeded
from geminids.scale.spark.options import Asked, asked
from geminids.scale.spark.partition import Partition, planned
from geminids.scale.spark.plan import Plan
from geminids.scale.spark.types import columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import DataSourceStreamReader, Filter, InputPartition
    from pyspark.sql.types import StructType

NAME = "geminids"


class SessionsSource(DataSource):
    """What agents left on many machines, as one of our tables."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._asked = asked(options)

    @classmethod
    def name(cls) -> str:
        """What it is called in `spark.read.format(…)`."""
        return NAME

    def schema(self) -> StructType | pa.Schema:
        """The columns that are asked for."""
        return columns(self._asked.table, self._asked.columns)

    def reader(self, schema: StructType) -> SessionsReader:
        """What reads all that is there."""
        return HeedingReader(self._asked) if self._asked.pushdown else SessionsReader(self._asked)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark names it
        """What reads what is new."""
        from geminids.scale.spark.streams import SessionsStream

        return SessionsStream(self._asked)


class SessionsReader(DataSourceReader):
    """Reads all that is there."""

    def __init__(self, asked: Asked) -> None:
        self._plan = Plan(asked)
        self._only = ANYTHING

    def partitions(self) -> Sequence[InputPartition]:
        """All pieces."""
        return list(map(Partition, self._plan.pieces(self._only)))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a piece."""
        return self._plan.rows(planned(partition), self._only)


class HeedingReader(SessionsReader):
    """The same, of what the conditions of a query ask for.

    Spark 4.3.0 gives what one query narrowed to every other query over the same `load(…)`, so nobody gets
    this who did not ask for it.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Heed conditions as far as they tell which files need not be read; Spark looks at all rows again."""
        self._only = heeded(filters)
        return filters
