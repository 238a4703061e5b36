"""Processes of Spark that a test starts, and waits for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 600
"""Seconds: the machine may have much else to do."""


@contextmanager
def started(folder: Path, name: str, program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of Spark, which ends with the context; what it says goes into a file."""
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [str(Path(sys.prefix, "bin", program)), *arguments]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait(is_so: Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, f"waited too long for {what}"
        time.sleep(0.05)


def answers(port: int) -> bool:
    """Whether anybody listens."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
