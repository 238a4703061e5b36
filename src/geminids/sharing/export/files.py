"""Files that are written whole or not at all.

What is written goes to a new file beside the target and takes its name in one step, so that neither a full
disk nor a killed process leaves half a file. Nothing is replaced unless that was wished.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from geminids.core.atomic_files import PartFile, remove_left_over
from geminids.core.errors import FileExistsAlreadyError, NoOutputFolderError


class Written(NamedTuple):
    """A file as it was written."""

    size: int
    digest: str


class NewFile(PartFile):
    """A file under way, of which it is known what was written."""

    def __init__(self, target: Path, *, private: bool = False) -> None:
        # Permissions as the user gives them to all files, unless it is for nobody else to read.
        super().__init__(str(target), 0o600 if private else 0o666)
        self.target = target
        self._private = private
        self._has_name = False

    def write(self, pieces: Iterable[bytes]) -> Written:
        """Write all of it; what was written, in little. What is private is then on the disk, too."""
        digest, size = blake2b(digest_size=16), 0
        # Closed at once: of many files that are to be settled together, none is held open.
        with self.file:
            for piece in pieces:
                self.file.write(piece)
                digest.update(piece)
                size += len(piece)
            if self._private:
                self.sync()
        return Written(size, digest.hexdigest())

    def date(self, mtime_ns: int) -> None:
        """Let it count as last written then."""
        os.utime(self.path, ns=(mtime_ns, mtime_ns))

    def settle(self, *, replace: bool) -> None:
        """Give the file its name. Raises FileExistsAlreadyError if that is taken and may not be replaced."""
        try:
            super().settle(replace=replace)
        except FileExistsError:
            raise FileExistsAlreadyError(str(self.target)) from None
        self._has_name = True

    def take_back(self) -> None:
        """Remove it again if it has its name already. What it replaced does not come back."""
        if self._has_name:
            # What took it back is the error that counts; what cannot be removed is named by it, or whole.
            with suppress(OSError):
                self.target.unlink()


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
