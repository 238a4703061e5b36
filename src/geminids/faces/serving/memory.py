"""Giving memory back to the system, in a process that stays while what it holds comes and goes.

The allocator of Linux keeps what is freed, for each thread by itself: so a process stays as large as the
largest sessions that its threads ever read, all together. Elsewhere nothing is done.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""As glibc numbers its settings."""
_LARGE = 1 << 20
"""Bytes from which on a value is given back as soon as it is freed."""


def keep_little() -> None:
    """Have threads share what is freed; to be called before there are any."""
    if library := _glibc():
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Give back all that is free."""
    if library := _glibc():
        library.malloc_trim(0)


@cache
def _glibc() -> CDLL | None:
    """The allocator; None where it is another one."""
    if sys.platform == "linux":
        # Other libraries of C know neither, and some builds of Python cannot call any.
        with suppress(ImportError, OSError, AttributeError):
            from ctypes import CDLL

            library = CDLL(None)
            if library.mallopt and library.malloc_trim:
                return library
    return None
