"""The words of files that lie beside sessions: bounded, never through a link, never waiting for a pipe."""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

from geminids.model import Companion, Problem, ProblemKind

LONGEST = 16_000_000
"""Bytes of one file; of a longer one the beginning and the end are read."""

_HOW_TO_OPEN = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")
)


def text_beside(companion: Companion) -> str | Problem:
    """The words of a file that lies beside a session."""
    try:
        return bounded_text(companion.path).text
    except OSError as error:
        return unreadable(companion.path, error)


class Excerpt(NamedTuple):
    """What was read of a file."""

    text: str
    size: int
    left_out: int


def bounded_text(path: str) -> Excerpt:
    """The words of a plain file, of a huge one its beginning and its end. Raises OSError."""
    with open(os.open(path, _HOW_TO_OPEN), "rb") as opened:  # noqa: PTH123 - a link must not be followed
        facts = os.fstat(opened.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "no plain file")
        if facts.st_size <= LONGEST:
            return Excerpt(opened.read(LONGEST).decode("utf-8", "replace"), facts.st_size, 0)
        begin = opened.read(LONGEST // 2)
        opened.seek(-(LONGEST // 2), os.SEEK_END)
        end = opened.read(LONGEST // 2)
    left_out = facts.st_size - len(begin) - len(end)
    gap = f"\n[… {left_out:,} bytes are left out here …]\n"
    text = begin.decode("utf-8", "replace") + gap + end.decode("utf-8", "replace")
    return Excerpt(text, facts.st_size, left_out)


def unreadable(path: str, error: OSError) -> Problem:
    """Why a file could not be read."""
    return Problem(path, ProblemKind.UNREADABLE, error.strerror or "cannot be read")
