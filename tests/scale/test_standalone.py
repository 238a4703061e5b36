"""A master and two workers as their own processes, one of which is killed in the middle of a job."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.engines import Tables, checksums

SPARK_CLASS = Path(sys.prefix, "bin", "spark-class")
PATIENCE = 300
Cluster = tuple[str, Sequence["subprocess.Popen[bytes]"]]


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[Cluster]:
    """The address of a master, and its workers, which have one core each."""
    with ExitStack() as stack:
        port = _free_port()
        address = f"spark://127.0.0.1:{port}"
        at = ["--host", "127.0.0.1", "--webui-port", "0"]
        kind = "org.apache.spark.deploy.master.Master"
        master = _started(tmp_path, "master", kind, *at, "--port", str(port))
        stack.enter_context(master)
        _wait(lambda: _answers(port), "the master")
        workers = [
            stack.enter_context(
                _started(
                    tmp_path,
                    f"worker-{number}",
                    "org.apache.spark.deploy.worker.Worker",
                    *at,
                    *("--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / f"work-{number}")),
                    address,
                )
            )
            for number in range(2)
        ]
        log = tmp_path / "master.log"
        _wait(lambda: log.read_text("utf-8", "replace").count("Registering worker") == 2, "two workers")
        yield address, workers


@contextmanager
def _started(folder: Path, name: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen([SPARK_CLASS, *command], stdout=log, stderr=log, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_worker_that_is_killed_changes_nothing(
    standalone: Cluster, place: Path, pool: Tables, tmp_path: Path
) -> None:
    address, workers = standalone
    mark, log = tmp_path / "middle", tmp_path / "job.log"
    command = [sys.executable, "-m", "tests.scale.driver", address, str(place), str(mark)]
    with (
        log.open("wb") as said,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=said, text=True) as job,
    ):
        try:
            _wait(lambda: mark.exists() or job.poll() is not None, "the middle of the job")
            workers[0].kill()
            out, _ = job.communicate(timeout=PATIENCE)
        finally:
            job.kill()
    told = log.read_text("utf-8", "replace")
    assert job.returncode == 0, told[-4000:]
    assert mark.exists()
    assert "Lost executor" in told
    assert json.loads(out.splitlines()[-1]) == checksums(pool)


def _wait(is_so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, f"waited too long for {what}"
        time.sleep(0.05)


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
