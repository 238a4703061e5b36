"""What one task reads, as Spark hands it on."""

from __future__ import annotations

from pyspark.sql.datasource import InputPartition

from geminids.scale.spark.plan import Planned


class Partition(InputPartition):
    """A piece, packed."""

    def __init__(self, planned: Planned) -> None:
        super().__init__(planned)
        self.planned = planned


def planned(partition: InputPartition) -> Planned:
    """What is in a partition, which is one of ours."""
    assert isinstance(partition, Partition)
    return partition.planned
