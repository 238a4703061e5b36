"""A bound on the memory of this process, for what the engine takes beside its own limit.

A single value (`repeat('a', 3000000000)`) is made where the engine does not count. What is refused there, it
tells like its own limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPILLED = "2GB"
"""The most that a query may write to temporary files."""
ROOM = 4 << 30
"""Bytes of addresses that a query may add to those of this process; few of them are ever used.

With less, a sort that is within the limit of the engine is refused; with this, one value may have 2 GB.
"""
_ADDRESSES = Path("/proc/self/statm")


@contextmanager
def bounded(room: int = ROOM) -> Iterator[None]:
    """A while in which this process gets no more; no bound where the system does not tell what it has."""
    try:
        import resource

        pages = int(_ADDRESSES.read_text("ascii").split()[0])
    except (ImportError, OSError):
        yield
        return
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + room
    lowest = min((limit for limit in (before, wanted) if limit != resource.RLIM_INFINITY), default=wanted)
    resource.setrlimit(resource.RLIMIT_AS, (lowest, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))
