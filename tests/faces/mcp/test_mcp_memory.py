"""What a process that answers has freed goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

FREED = """
import sys
from pathlib import Path
from threading import Thread
from geminids.faces.serving.memory import give_back, keep_little

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 1_000_000

def work():
    read = [bytes(5_000) for _ in range(20_000)]
    kept.extend(read[::500])

keep_little()
kept, before = [], megabytes()
for _ in range(3):
    thread = Thread(target=work)
    thread.start()
    thread.join()
between = megabytes()
give_back()
print(before, between, megabytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system decides alone")
def test_what_threads_have_freed_goes_back() -> None:
    said = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True, text=True).stdout
    before, between, after = map(int, said.split())
    # Each of them has taken 100 MB, in the same place as the one before it.
    assert between - before < 150
    assert after - before < 30
