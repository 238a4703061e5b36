"""Files that are written whole or not at all.

What is written goes to a new file beside the target and takes its name in one step, so that neither a full
disk nor a killed process leaves half a file. Nothing is replaced unless that was wished.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

from geminids.core.atomic_files import hold, part_beside, remove_left_over
from geminids.core.errors import FileExistsAlreadyError, NoOutputFolderError


class Written(NamedTuple):
    """A file as it was written."""

    size: int
    digest: str


class NewFile:
    """A file under way: `settle` gives it its name, leaving the block without that takes it back."""

    def __init__(self, target: Path, *, private: bool = False) -> None:
        self.target = target
        self._private = private
        self._has_name = False
        self._path = Path(part_beside(str(target)))

    def __enter__(self) -> NewFile:
        # Permissions as the user gives them to all files, unless it is for nobody else to read. A name that
        # somebody else took is not used.
        permissions = 0o600 if self._private else 0o666
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions)
            hold(handle)
            self._file: BinaryIO = open(handle, "wb")  # noqa: PTH123 - closed by write or exit
        except BaseException:
            # We may be told to end at any moment.
            self._path.unlink(missing_ok=True)
            raise
        self._digest = blake2b(digest_size=16)
        self._size = 0
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._file.close()
        finally:
            self._path.unlink(missing_ok=True)

    def write(self, pieces: Iterable[bytes]) -> Written:
        """Write all of it; what was written, in little. What is private is then on the disk, too."""
        # Closed at once: of many files that are to be settled together, none is held open.
        with self._file:
            for piece in pieces:
                self._file.write(piece)
                self._digest.update(piece)
                self._size += len(piece)
            self._file.flush()
            if self._private:
                os.fsync(self._file.fileno())
        return Written(self._size, self._digest.hexdigest())

    def date(self, mtime_ns: int) -> None:
        """Let it count as last written then."""
        os.utime(self._path, ns=(mtime_ns, mtime_ns))

    def settle(self, *, replace: bool) -> None:
        """Give the file its name. Raises FileExistsAlreadyError if that is taken and may not be replaced."""
        if replace:
            self._path.replace(self.target)
        else:
            try:
                _give_name(self._path, self.target)
            except FileExistsError:
                raise FileExistsAlreadyError(str(self.target)) from None
        self._has_name = True

    def take_back(self) -> None:
        """Remove it again if it has its name already. What it replaced does not come back."""
        if self._has_name:
            with suppress(OSError):
                self.target.unlink()


_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES, errno.EXDEV}
"""What file systems say that know no second name for a file."""


def _give_name(part: Path, target: Path) -> None:
    """Give a file a second name. Raises FileExistsError if that is taken: a rename would just take it."""
    try:
        os.link(part, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # The name is taken by an empty file first, which fails where there is another.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            part.replace(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def write_file(target: Path, pieces: Iterable[bytes], *, force: bool) -> Written:
    """Write a file whole. Raises FileExistsAlreadyError unless forced, and OSError with its name."""
    if is_special(target):
        # A pipe or a device is written to, never replaced.
        with naming(target), target.open("wb") as stream:
            size = sum(stream.write(piece) for piece in pieces)
        return Written(size, "")
    if not target.parent.is_dir():
        raise NoOutputFolderError(str(target), str(target.parent))
    if os.path.lexists(target) and not force:
        raise FileExistsAlreadyError(str(target))
    remove_left_over(str(target.parent))
    with naming(target), NewFile(target) as new:
        written = new.write(pieces)
        new.settle(replace=force)
    return written


def is_special(target: Path) -> bool:
    """Whether this is a pipe, a terminal or a device."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def digest_of(path: Path) -> Written:
    """A file as it is now."""
    digest, size = blake2b(digest_size=16), 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    return Written(size, digest.hexdigest())


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give what the operating system says the name that the user knows: a full disk names no file."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
