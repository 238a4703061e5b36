"""What one task reads, as Spark hands it on."""

from __future__ import annotations

from pyspark.sql.datasource import InputPartition

from geminids.scale.spark.plan import Planned


class Partition(InputPartition):
    """A piece, packed."""

    def __init__(self, planned: Planned) -> None:
        super().__init__(planned)
        self.planned = planned


def planned(partition: InputPartition | None) -> Planned | None:
    """What is in a partition; where there is nothing to read, Spark makes one that is none of ours."""
    return partition.planned if isinstance(partition, Partition) else None
