"""Replace a file that another program may write at this moment, without losing what it writes.

Comparing the file and then renaming over it loses a write in between. On Linux the new file and the old one
are exchanged, the old one is compared, and both are exchanged back if it is another one by now.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from geminids.core.atomic_files import PartFile, opened_plain

_F_SETSIG = 10
"""Linux's number of a call that Python does not name."""
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}
"""The errors of kernels and file systems that cannot exchange two files."""
_HERE = -100
_EXCHANGE = 2


def replace(part: PartFile, real: str, before: bytes) -> bool:
    """Exchange a file with the one that was written for it; return False and undo that if it was changed.

    Until then other programs may read the new file, so states are compared first: that takes microseconds.
    """
    try:
        state = _state(real)
        if _plain_content(real) != before or _state(real) != state:
            return False
        ours = _state(part.path)
        if not _exchange(part.path, real):
            # A write since the comparison is lost.
            part.settle(replace=True)
            return True
        there = _state(part.path)
        if there == state and _plain_content(part.path) == before:
            return True
        _exchange(part.path, real)
        put, expected = there, ours
        while (there := _state(part.path)) != expected:
            # Another program wrote between the two exchanges: its newest file goes back.
            put, expected = there, put
            _exchange(part.path, real)
    except FileNotFoundError:
        # Another program removed the file.
        return False
    return False


def _state(path: str) -> tuple[int, int, int]:
    facts = os.stat(path)  # noqa: PTH116
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _plain_content(path: str) -> bytes | None:
    """Return the content of a file; None if it is not a regular file, or open for writing.

    Raises FileNotFoundError.
    """
    try:
        with open(opened_plain(path), "rb") as file:  # noqa: PTH123
            return None if _is_open_for_writing(file.fileno()) else file.read()
    except FileNotFoundError:
        raise
    except OSError:
        return None


def _is_open_for_writing(handle: int) -> bool:
    """Return whether another program has a file open for writing: Linux then refuses a lease."""
    try:
        from fcntl import F_RDLCK, F_SETLEASE, F_UNLCK, fcntl

        # A program that opens the file now waits, and the kernel signals that: by SIGIO, which would end us.
        fcntl(handle, _F_SETSIG, signal.SIGURG)
        fcntl(handle, F_SETLEASE, F_RDLCK)
        fcntl(handle, F_SETLEASE, F_UNLCK)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        # No leases on this system or file system.
        return False
    return False


def _exchange(first: str, second: str) -> bool:
    """Give two files each other's names at once; return False if the system cannot. Raises OSError."""
    if (rename := _renameat2()) is None:
        return False
    from ctypes import get_errno

    if rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0:
        return True
    if (error := get_errno()) in _NO_EXCHANGE:
        return False
    raise OSError(error, os.strerror(error), second)


@cache
def _renameat2() -> Callable[..., int] | None:
    if os.name != "posix":
        return None
    from ctypes import CDLL

    return getattr(CDLL(None, use_errno=True), "renameat2", None)


def remove(part: PartFile, real: str, before: bytes | None) -> bool:
    """Move a file away; return False and undo that if it does not hold `before`."""
    part.file.close()
    try:
        os.replace(real, part.path)  # noqa: PTH105
    except FileNotFoundError:
        return True
    if _plain_content(part.path) == before:
        return True
    # If it exists again, another program wrote a newer one.
    with suppress(FileExistsError):
        part.settle(replace=False)
    return False
