"""Locks on files that the system gives back when a process dies."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import sys


def locked(handle: int) -> bool:
    """Take the lock on an open file, unless another process holds it; closing the file gives it back."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
