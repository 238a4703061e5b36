"""The disk as readers of agents' files look at it.

Readers never open, list or look at anything but through this, so that a file which its agent has deleted can
be read from a kept copy as if it still lay there (`storage/archive/disk.py`). Here is the disk as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, Protocol

    class Entry(Protocol):
        """What a folder holds, as `os.scandir` tells it."""

        @property
        def name(self) -> str: ...  # noqa: D102
        @property
        def path(self) -> str: ...  # noqa: D102
        def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...  # noqa: D102
        def is_file(self, *, follow_symlinks: bool = True) -> bool: ...  # noqa: D102
        def is_symlink(self) -> bool: ...  # noqa: D102

    class Facts(Protocol):
        """What a file looks like from outside, as `os.lstat` tells it."""

        @property
        def st_size(self) -> int: ...  # noqa: D102
        @property
        def st_mtime_ns(self) -> int: ...  # noqa: D102
        @property
        def st_ino(self) -> int: ...  # noqa: D102
        @property
        def st_mode(self) -> int: ...  # noqa: D102

else:
    # A protocol takes as long to define as all the rest, and only a checker needs it.
    Entry, Facts = os.DirEntry, os.stat_result

AnyPath = str | os.PathLike[str]

KEPT_INODE = -1
"""The inode of a file that is gone and read from a kept copy: no file on a disk has it."""

HOW_TO_OPEN = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")
)
"""Not through a link, and without waiting for a pipe."""

LARGEST = 500_000_000
"""Bytes of a session file that are read whole, where the user settled nothing else: of usual ones, these take
1.2 GB of memory and 13 seconds."""

_settled: list[Callable[[], int]] = [lambda: LARGEST]

_by_name = attrgetter("name")


def heed(largest: Callable[[], int]) -> None:
    """From now on read so many bytes of a session file, through any disk: it is one user who settled that."""
    _settled[:] = [largest]


class Disk:
    """The disk as it is. What a name stands for is told without following it, if it is a link."""

    def __init__(self, largest: Callable[[], int] | None = None) -> None:
        self._largest = largest

    def largest(self) -> int:
        """How many bytes of one session file are read; of a larger one, only the beginning and the end."""
        return (self._largest or _settled[-1])()

    def entries(self, folder: AnyPath) -> Sequence[Entry]:
        """What a folder holds, by name. Raises OSError."""
        with os.scandir(folder) as entries:
            return sorted(entries, key=_by_name)

    def facts(self, path: AnyPath) -> Facts:
        """What a file looks like from outside. Raises OSError."""
        return os.lstat(path)

    def read(self, path: AnyPath) -> bytes:
        """All that is in a plain file. Raises OSError."""
        with self.opened(path) as opened:
            return opened.read()

    def opened(self, path: AnyPath) -> BinaryIO:
        """A plain file to be read piece by piece, and no link; the caller closes it. Raises OSError."""
        opened = open(os.open(path, HOW_TO_OPEN), "rb")  # noqa: PTH123, SIM115 - a link must not be followed
        if stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return opened
        opened.close()
        raise OSError(errno.EINVAL, "not a regular file")

    def is_there(self, path: AnyPath) -> bool:
        """Whether something of this name is there, be it a link that leads nowhere."""
        return os.path.lexists(path)

    def is_file(self, path: AnyPath) -> bool:
        """Whether a plain file is there, and no link to one."""
        return self._is(path, stat.S_ISREG)

    def is_folder(self, path: AnyPath) -> bool:
        """Whether a folder is there, and no link to one."""
        return self._is(path, stat.S_ISDIR)

    def has_copies_below(self, folder: AnyPath) -> bool:
        """Whether files that are gone from a folder, or with it, can be read from copies."""
        return False

    def earlier(self, path: AnyPath) -> Sequence[Callable[[], BinaryIO]]:
        """What was in a file before it was written anew, the newest state first; none is known here."""
        return ()

    def is_foreign(self, path: AnyPath) -> bool:
        """Whether a path is of another machine: what lies there on this one is somebody else's."""
        return False

    def look_again(self) -> None:
        """Forget what was known of copies: others may have been kept since."""

    def _is(self, path: AnyPath, is_kind: Callable[[int], bool]) -> bool:
        try:
            return is_kind(self.facts(path).st_mode)
        except (OSError, ValueError):
            return False


class GivenDisk(Disk):
    """The disk for files that a human named: a link is followed, because it was meant."""

    def opened(self, path: AnyPath) -> BinaryIO:
        """A file to be read piece by piece, which the caller closes. Raises OSError."""
        return open(path, "rb")  # noqa: PTH123 - as the human spelled it


REAL = Disk()
"""The one that is used where nothing else is said."""
GIVEN = GivenDisk()
