"""A folder that files are written to and read from by their names, on a disk or in object storage.

Names have slashes on every system. A file appears whole or not at all, in the place of one that had its name;
so whoever reads meanwhile sees the old one or the new one.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from geminids.core.atomic_files import PartFile, opened_plain, remove_left_over, sync_folder
from geminids.core.config import expanded
from geminids.scale.places.errors import PlaceError, StoreFailedError
from geminids.scale.places.stored import Store, Stored


def open_store(uri: str) -> Store:
    """The folder that a path or the address of object storage names."""
    if "://" not in uri or uri.startswith("file://"):
        return LocalStore(uri)
    from geminids.scale.places.objects import ObjectStore

    return ObjectStore(uri)


class LocalStore:
    """A folder on a disk; it is made when the first file is written."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(expanded(folder.removeprefix("file://"))).absolute()
        if self._folder.exists() and not self._folder.is_dir():
            raise PlaceError(folder, "it is not a folder")

    @property
    def uri(self) -> str:
        """Its path."""
        return str(self._folder)

    def listed(self, below: str = "") -> Iterator[Stored]:
        """Return all files below a folder of it; links, pipes and devices too, which are not plain."""
        for folder, folders, files in os.walk(self._folder / below, onerror=self._refused):
            linked = [name for name in folders if Path(folder, name).is_symlink()]
            for file in sorted([*files, *linked]):
                path = Path(folder, file)
                try:
                    facts = path.lstat()
                except FileNotFoundError:
                    # Another process removed it meanwhile.
                    continue
                name = path.relative_to(self._folder).as_posix()
                yield Stored(name, facts.st_size, facts.st_mtime_ns, stat.S_ISREG(facts.st_mode))

    def read(self, name: str) -> bytes | None:
        """All that is in a file."""
        try:
            self._refuse_links(name)
            with open(opened_plain(str(self._folder / name)), "rb") as file:  # noqa: PTH123
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PlaceError(str(self._folder / name), error.strerror or str(error)) from error

    def read_all(self, names: Sequence[str]) -> Sequence[bytes | None]:
        """Return the contents of files; None for those that are gone."""
        return list(map(self.read, names))

    def part(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes of a file between two places. Raises FileNotFoundError if it is gone."""
        with (self._folder / name).open("rb") as opened:
            opened.seek(start)
            return opened.read(end - start)

    def put(self, name: str, content: Path | bytes) -> None:
        """Write a file, whole or not at all."""
        target = self._folder / name
        self._refuse_links(name)
        try:
            try:
                self._write(target, content)
            except FileNotFoundError:
                # Another machine has removed the folder, which was empty for a moment.
                self._write(target, content)
        except OSError as error:
            raise StoreFailedError(str(target), error.strerror or str(error)) from error

    def delete(self, name: str) -> None:
        """Remove a file, if it is there, and the folders that are empty without it."""
        path = self._folder / name
        self._refuse_links(name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailedError(str(path), error.strerror or str(error)) from error
        for folder in path.parents:
            if folder == self._folder or not _is_removed(folder):
                return

    def fetched(self, files: Sequence[Stored], folder: Path) -> Sequence[str]:
        """Return the paths of files: nothing is copied."""
        return [f"{self._folder}/{file.name}" for file in files]

    def _refused(self, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise PlaceError(str(error.filename), error.strerror or str(error)) from error

    def _refuse_links(self, name: str) -> None:
        """Raise PlaceError if a folder between this one and a file is a link: it may lead anywhere."""
        path = self._folder
        for piece in name.split("/")[:-1]:
            path /= piece
            if path.is_symlink():
                raise PlaceError(str(path), "it is a link, and would lead out of the tables; remove it")

    def _write(self, target: Path, content: Path | bytes) -> None:
        self._make(target.parent)
        remove_left_over(str(target.parent))
        with PartFile(str(target)) as part:
            if isinstance(content, bytes):
                part.file.write(content)
            else:
                with content.open("rb") as source:
                    shutil.copyfileobj(source, part.file, 1 << 20)
            part.sync()
            _allow(part.path, _of_files(self._folder.stat().st_mode))
            part.settle(replace=True)
        sync_folder(str(target.parent))

    def _make(self, folder: Path) -> None:
        """Make a folder and its parents; below the place they get the permissions of the place."""
        if not self._folder.exists():
            # A new place is private.
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        missing = [path for path in (folder, *folder.parents) if path.is_relative_to(self._folder)]
        for path in reversed(missing):
            if not path.exists():
                path.mkdir(exist_ok=True)
                _allow(path, stat.S_IMODE(self._folder.stat().st_mode))


def _of_files(mode: int) -> int:
    """Return the mode of files in a folder: users who may list the folder may read its files."""
    group = 0o040 if mode & 0o050 == 0o050 else 0
    other = 0o004 if mode & 0o005 == 0o005 else 0
    return 0o600 | group | other


def _allow(path: Path | str, mode: int) -> None:
    """Set the mode of a new file or folder; a no-op on file systems without modes."""
    # A file system without modes: nothing can be set.
    with suppress(OSError):
        Path(path).chmod(mode)


def _is_removed(folder: Path) -> bool:
    """Whether a folder is gone: it is removed if nothing is in it."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        # Something is in it, or it may not be removed: then it stays, which harms nobody.
        return False
    return True
