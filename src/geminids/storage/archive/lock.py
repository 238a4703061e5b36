"""One process at a time: the lock of whoever writes, and what goes wrong when writing."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from geminids.core.locks import locked
from geminids.storage.archive.failures import ArchiveFullError, BusyArchiveError, FailedToKeepError
from geminids.storage.archive.packs import FOLDER as PACKS
from geminids.storage.archive.packs import make_private

LOCK = "lock"
_NOTICED = 1.0
"""Seconds after which people wonder what is going on."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def alone(folder: str, patience: float, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """A while in which no other process writes. The system ends it if this process dies."""
    try:
        make_private(f"{folder}/{PACKS}")
        handle = os.open(f"{folder}/{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Whatever the process masks.
        os.fchmod(handle, 0o600)
    except OSError as error:
        raise trouble(folder, error) from error
    try:
        began = time.monotonic()
        while not locked(handle):
            waited = time.monotonic() - began
            if waited >= patience:
                raise BusyArchiveError(_holder(handle))
            if tell and waited >= _NOTICED:
                tell(_holder(handle))
                tell = None
            time.sleep(0.01)
        # The lock is ours in any case: this only tells those who wait whose it is.
        with suppress(OSError):
            os.truncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        # Closing gives the lock back.
        os.close(handle)


def _holder(handle: int) -> str:
    written = os.pread(handle, 32, 0).strip()
    return f"process {int(written)}" if written.isdigit() else "another process"


def trouble(folder: str, error: OSError | sqlite3.Error) -> FailedToKeepError:
    """An error of writing, as the user hears of it."""
    if isinstance(error, OSError):
        is_full = error.errno in _NO_ROOM
        reason = error.strerror or str(error)
    else:
        is_full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        reason = str(error)
    return ArchiveFullError(folder) if is_full else FailedToKeepError(folder, reason)
