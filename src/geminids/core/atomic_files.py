"""Files under way: what is written goes into a new file, which takes the name of its target when it is whole.

    .geminids-<process>-<random>.part   in the folder of the target
    geminids-<process>-<random>/        in the system's folder for temporary files

Who is killed leaves them behind. Whoever writes into that folder next takes away what belongs to nobody.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Self

_PART = r"\.geminids-(\d{1,9})-[0-9a-f]{8}\.part"
_TEMPORARY = r"geminids-(\d{1,9})-[a-z0-9_]{8}"
_A_DAY = 24 * 3600.0
"""Seconds after which nobody is still writing a file, even if some process has the number of his."""


_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
"""Opens a pipe without waiting for its other end."""


def opened_plain(path: str) -> int:
    """A plain file to read from, which the caller closes; anything else is refused. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | _AT_ONCE)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return handle


_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES, errno.EXDEV}
"""What file systems say that know no second name for a file."""


class PartFile:
    """A file under way: `settle` gives it its name, leaving the block without that takes it back."""

    def __init__(self, target: str, permissions: int = 0o600) -> None:
        self._target = target
        self._permissions = permissions
        # Short, since the target may have the longest name there can be.
        name = f".geminids-{os.getpid()}-{os.urandom(4).hex()}.part"
        self.path = os.path.join(os.path.dirname(target), name)  # noqa: PTH118, PTH120

    def __enter__(self) -> Self:
        try:
            # A name that somebody else took is not used.
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self._permissions)
            hold(handle)
            self.file: BinaryIO = open(handle, "wb")  # noqa: PTH123 - closed when it is settled or left
        except FileExistsError:
            raise
        except BaseException:
            # We may be told to end at any moment.
            _remove(self.path)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.file.close()
        finally:
            _remove(self.path)

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def settle(self, *, replace: bool) -> None:
        """Give the file its name. Raises FileExistsError if that is taken and may not be replaced."""
        self.file.close()
        if replace:
            os.replace(self.path, self._target)  # noqa: PTH105
        else:
            _give_name(self.path, self._target)


def _give_name(part: str, target: str) -> None:
    """Give a file a second name. Raises FileExistsError if that is taken: a rename would just take it."""
    try:
        os.link(part, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # The name is taken by an empty file first, which fails where there is another.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            os.replace(part, target)  # noqa: PTH105
        except BaseException:
            _remove(target)
            raise


def _remove(path: str) -> None:
    # What took its name, or was never made, is not there.
    with suppress(FileNotFoundError):
        os.remove(path)  # noqa: PTH107


def hold(handle: int) -> bool:
    """Show others that a file or a folder is in use, until it is closed; False if it is already."""
    try:
        import fcntl
    except ImportError:
        # Where there are no such locks, an open file cannot be removed either.
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some file systems of other machines have no locks; there the number of the process must do.
        return True
    return True


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are really there."""
    if os.name == "nt":
        # Folders cannot be opened there, and names are written with the files.
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_part(name: str) -> bool:
    """Whether a file is one under way, or was."""
    from re import fullmatch

    return fullmatch(_PART, name) is not None


def remove_left_over(folder: str) -> None:
    """Remove files under way in a folder that killed processes of this user have left."""
    for path in _left_over(folder, _PART, stat.S_ISREG):
        # Somebody else may be tidying up as well, and what stays harms nobody: the next one tries again.
        with suppress(OSError):
            os.remove(path)  # noqa: PTH107


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder for this user alone that goes away afterwards; if we are killed, with the next one."""
    from shutil import rmtree
    from tempfile import TemporaryDirectory, gettempdir

    for path in _left_over(gettempdir(), _TEMPORARY, stat.S_ISDIR):
        rmtree(path, ignore_errors=True)
    with TemporaryDirectory(prefix=f"geminids-{os.getpid()}-") as folder:
        handle = os.open(folder, os.O_RDONLY) if os.name != "nt" else None
        try:
            if handle is not None:
                hold(handle)
            yield folder
        finally:
            if handle is not None:
                os.close(handle)


def _left_over(folder: str, named: str, is_such: Callable[[int], bool]) -> Iterator[str]:
    try:
        names = os.listdir(folder or ".")  # noqa: PTH208
    except OSError:
        # Whoever writes there will hear about it.
        return
    # Nearly always there is none, and then no pattern need be compiled.
    for name in [name for name in names if "geminids-" in name]:
        from re import fullmatch

        if found := fullmatch(named, name):
            path = os.path.join(folder, name)  # noqa: PTH118
            if _is_left_over(path, int(found[1]), is_such):
                yield path


def _is_left_over(path: str, process: int, is_such: Callable[[int], bool]) -> bool:
    """Whether something of ours is in use by nobody."""
    try:
        facts = os.lstat(path)
        # The date of writing may have been set to that of an old file.
        is_old = facts.st_ctime < time.time() - _A_DAY
        if not is_such(facts.st_mode) or facts.st_uid != _user() or not (is_old or _is_gone(process)):
            return False
        if os.name == "nt":
            return True
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        # It is gone, or it is not for us to say.
        return False
    try:
        # A process of another container or machine may hold it, whose number says nothing here.
        return hold(handle)
    finally:
        os.close(handle)


def _user() -> int:
    return os.geteuid() if os.name != "nt" else 0


def _is_gone(process: int) -> bool:
    if os.name == "nt":
        # To ask for a process there is to interrupt it.
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
