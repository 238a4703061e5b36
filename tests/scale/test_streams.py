"""Streams take in what is new: each state of a session once, also after Spark was stopped anywhere."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.homes import write_session
from tests.support.sparks import RAW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECOND = "2f0c9a2b-0000-4000-8000-000000000002"
THIRD = "3f0c9a2b-0000-4000-8000-000000000003"


class Stream:
    """A stream of prompts into a folder of Parquet, which is started again and again."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self.homes = folder / "homes"
        self.checkpoint = folder / "checkpoint"

    def run(self) -> None:
        """Take in all that is new."""
        options = RAW | {"table": "messages", "state": str(self._folder / "state")}
        told = self._spark.readStream.format("geminids").options(**options).load(str(self.homes))
        query = (
            told.where("role = 'user'")
            .writeStream.format("parquet")
            .option("path", str(self._folder / "out"))
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def texts(self) -> list[str]:
        """All prompts that were told, each as often as it was."""
        told = self._spark.read.parquet(str(self._folder / "out")).select("text").collect()
        return sorted(row["text"] for row in told)


@pytest.fixture
def stream(cluster: SparkSession, tmp_path: Path) -> Stream:
    made = Stream(cluster, tmp_path)
    write_session(made.homes / "laptop", prompt="First")
    return made


def test_only_what_is_new_is_told_when_it_is_started_again(stream: Stream) -> None:
    stream.run()
    assert stream.texts() == ["First"]
    stream.run()
    assert stream.texts() == ["First"]
    write_session(stream.homes / "desktop", SECOND, prompt="Second")
    stream.run()
    assert stream.texts() == ["First", "Second"]


def test_a_session_that_grew_is_told_anew(stream: Stream) -> None:
    grown = write_session(stream.homes / "laptop", SECOND, prompt="Second")
    stream.run()
    lines = grown.read_text().splitlines()
    more = lines[1].replace(f"u-{SECOND}", "u-more").replace("Second", "And more")
    grown.write_text("\n".join([*lines, more, ""]))
    stream.run()
    assert stream.texts() == ["And more", "First", "Second", "Second"]


def test_what_spark_did_not_finish_is_told_again_and_once(stream: Stream) -> None:
    stream.run()
    write_session(stream.homes / "laptop", SECOND, prompt="Second")
    stream.run()
    # As if it had been stopped before it noted that the last batch is done.
    last = max((stream.checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    (last.parent / f".{last.name}.crc").unlink(missing_ok=True)
    write_session(stream.homes / "laptop", THIRD, prompt="Third")
    stream.run()
    assert stream.texts() == ["First", "Second"]
    stream.run()
    assert stream.texts() == ["First", "Second", "Third"]


def test_a_state_that_was_lost_is_said(stream: Stream) -> None:
    for number, native_id in enumerate((SECOND, THIRD)):
        write_session(stream.homes / "laptop", native_id, prompt=f"Number {number}")
        stream.run()
    shutil.rmtree(stream.homes.parent / "state")
    with pytest.raises(Exception, match="To tell everything anew, begin with an empty folder"):
        stream.run()


def test_a_stream_without_state_says_what_it_needs(cluster: SparkSession, tmp_path: Path) -> None:
    told = cluster.readStream.format("geminids").load(str(tmp_path))
    with pytest.raises(Exception, match="A stream needs the option state"):
        told.writeStream.format("noop").option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        ).start().awaitTermination()
