"""The programs of the page about scale, in Spark and through Spark Connect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT
from tests.scale.processes import answers, free_port, started, wait
from tests.support.homes import write_session
from tests.support.recipes import programs, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_programs_for_spark_run_one_after_the_other(
    cluster: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_session(tmp_path / "homes" / "laptop")
    names: dict[str, Any] = {}
    for program in programs("Apache Spark"):
        run(program, tmp_path, names)
    assert "|gemini-3-pro|    12|" in capsys.readouterr().out
    assert cluster.read.parquet(str(tmp_path / "messages")).count() == 2


_CLIENT = """
import sys
from pyspark.sql import SparkSession
from geminids.scale import spark as geminids

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
geminids.register(spark)
told = spark.read.format("geminids").option("table", "requests").option("redact", "false").load(sys.argv[2])
print(told.groupBy("agent").sum("total").collect()[0][1])
"""


def test_a_server_of_spark_connect_reads_for_its_clients(tmp_path: Path) -> None:
    write_session(tmp_path / "homes" / "laptop")
    port = free_port()
    server = [
        *("spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--master", "local[2]", "--conf", f"spark.connect.grpc.binding.port={port}"),
        *("--conf", "spark.ui.enabled=false", "spark-internal"),
    ]
    address = f"sc://127.0.0.1:{port}"
    client = [sys.executable, "-W", "ignore", "-c", _CLIENT, address, str(tmp_path / "homes")]
    with started(tmp_path, "server", *server):
        wait(lambda: answers(port), "the server")
        # The variable would make it start a server of its own.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
        done = subprocess.run(
            client, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    assert (done.returncode, done.stdout) == (0, "12\n"), done.stderr[-3000:]
