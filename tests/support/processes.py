"""Processes that tests start."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_running(*processes: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Iterator[None]:
    """A while at whose end none of these processes is left."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()
