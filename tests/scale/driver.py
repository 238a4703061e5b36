"""A job for a cluster: checksums of all tables of a place, as JSON; a file tells when it is in the middle.

python -m tests.scale.driver MASTER PLACE MARK
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from geminids.scale.schema import TABLES
from tests.scale.conftest import session
from tests.support.engines import checksum
from tests.support.sparks import rows, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(master: str, place: str, mark: str) -> None:
    """Do the job."""
    settings = {"spark.executor.cores": "1", "spark.cores.max": "2", "spark.executor.memory": "1g"}
    spark = session(master, **settings)
    spark.sparkContext.setLogLevel("WARN")
    Thread(target=_tell_the_middle, args=(spark, Path(mark)), daemon=True).start()
    found = {name: checksum(name, rows(told(spark, place, name))) for name in TABLES}
    sys.stdout.write(json.dumps(found) + "\n")
    spark.stop()


def _tell_the_middle(spark: SparkSession, mark: Path) -> None:
    """Wait until some tasks of a stage are done on both workers, and others are not."""
    tracker = spark.sparkContext.statusTracker()
    while not mark.exists():
        for stage in filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds())):
            if stage.numCompletedTasks >= 4 and stage.numTasks - stage.numCompletedTasks >= 4:
                mark.touch()
        time.sleep(0.02)


if __name__ == "__main__":
    main(*sys.argv[1:])
