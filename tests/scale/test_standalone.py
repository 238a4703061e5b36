"""A master and two workers as their own processes, one of which is killed in the middle of a job."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.scale.processes import PATIENCE, answers, free_port, started, wait
from tests.support.engines import Tables, checksums

Cluster = tuple[str, Sequence["subprocess.Popen[bytes]"]]


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[Cluster]:
    """The address of a master, and its workers, which have one core each."""
    with ExitStack() as stack:
        port = free_port()
        address = f"spark://127.0.0.1:{port}"
        at = ["--host", "127.0.0.1", "--webui-port", "0"]
        kind = "org.apache.spark.deploy.master.Master"
        master = started(tmp_path, "master", "spark-class", kind, *at, "--port", str(port))
        stack.enter_context(master)
        wait(lambda: answers(port), "the master")
        workers = [
            stack.enter_context(
                started(
                    tmp_path,
                    f"worker-{number}",
                    "spark-class",
                    "org.apache.spark.deploy.worker.Worker",
                    *at,
                    *("--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / f"work-{number}")),
                    address,
                )
            )
            for number in range(2)
        ]
        log = tmp_path / "master.log"
        wait(lambda: log.read_text("utf-8", "replace").count("Registering worker") == 2, "two workers")
        yield address, workers


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
            wait(lambda: mark.exists() or job.poll() is not None, "the middle of the job")
            workers[0].kill()
            out, _ = job.communicate(timeout=PATIENCE)
        finally:
            job.kill()
    told = log.read_text("utf-8", "replace")
    assert job.returncode == 0, told[-4000:]
    assert mark.exists()
    assert "Lost executor" in told
    assert json.loads(out.splitlines()[-1]) == checksums(pool)
