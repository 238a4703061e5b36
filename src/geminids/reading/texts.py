"""The words of files that lie beside sessions: bounded, never through a link, never waiting for a pipe."""

from __future__ import annotations

import os

from geminids.core.disk import REAL, Disk
from geminids.core.model import Companion, Problem, ProblemKind
from geminids.core.values import NamedTuple

LONGEST = 16_000_000
"""Bytes of one file; of a longer one the beginning and the end are read."""


def text_beside(companion: Companion, disk: Disk = REAL) -> str | Problem:
    """The words of a file that lies beside a session."""
    try:
        return bounded_text(companion.path, disk).text
    except OSError as error:
        return unreadable(companion.path, error)


class Excerpt(NamedTuple):
    """What was read of a file."""

    text: str
    size: int
    left_out: int


def bounded_text(path: str, disk: Disk = REAL) -> Excerpt:
    """The words of a plain file, of a huge one its beginning and its end. Raises OSError."""
    with disk.opened(path) as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(0)
        if size <= LONGEST:
            return Excerpt(opened.read(LONGEST).decode("utf-8", "replace"), size, 0)
        begin = opened.read(LONGEST // 2)
        opened.seek(-(LONGEST // 2), os.SEEK_END)
        end = opened.read(LONGEST // 2)
    left_out = size - len(begin) - len(end)
    gap = f"\n[… {left_out:,} bytes are left out here …]\n"
    text = begin.decode("utf-8", "replace") + gap + end.decode("utf-8", "replace")
    return Excerpt(text, size, left_out)


def unreadable(path: str, error: OSError) -> Problem:
    """Why a file could not be read."""
    return Problem(path, ProblemKind.UNREADABLE, error.strerror or "cannot be read")
