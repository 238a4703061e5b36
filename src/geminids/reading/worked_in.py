"""The folders that agents were used in, as the beginnings of their logs name them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from pathlib import Path

from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.peeks import beginning

_FIRST_BYTES = 64 * 1024
_CWD = lazy_pattern(rb'(?<!\\)"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


def worked_in(sessions: Iterable[Path], most: int, deadline: float) -> list[str]:
    """The folders that the first sessions say they were worked in (`cwd`), until the deadline."""
    found: dict[str, None] = {}
    for session in takewhile(lambda _: time.monotonic() < deadline, islice(sessions, most)):
        if named := _CWD.search(beginning(session, _FIRST_BYTES)):
            path = _json(named[1])
            if isinstance(path, str) and path:
                found[path] = None
    return list(found)


def logs_in(folder: Path, pattern: str) -> Iterator[Path]:
    """The files of a folder that are named like this, the last name first; none if it cannot be listed."""
    try:
        yield from sorted(folder.glob(pattern), reverse=True)
    except OSError:
        return


def _json(written: bytes) -> object:
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None
