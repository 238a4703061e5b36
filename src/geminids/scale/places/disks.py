"""Where homes are read from: a folder of this machine, a folder in a bucket, or exported kept copies.

Readers see all of them through a `Disk`. Whatever lies there is only read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from geminids.core.config import expanded
from geminids.core.disk import REAL, AnyPath, Disk, Entry, Facts
from geminids.core.errors import GeminidsError
from geminids.core.piecewise import opened_piecewise
from geminids.library.archive_disk import moved_names
from geminids.scale.places.errors import PlaceError
from geminids.scale.places.objects import ObjectStore
from geminids.scale.places.stored import Stored
from geminids.storage.archive.disk import KeptDisk
from geminids.storage.archive.transfer import ExportedCopies, ListedVersion, exported_copies

if TYPE_CHECKING:
    _KeptDisk = KeptDisk[ListedVersion]
else:
    # Of what a disk is generic is known to type checkers alone.
    _KeptDisk = KeptDisk

EXPORTED = ".tar"
"""How the name of a file of exported copies ends."""
_HELD = 64_000_000
"""Bytes of one file that are held in memory; of a larger one, pieces are."""
_LISTED = 200_000
"""So many names in folders are remembered."""


class Place(NamedTuple):
    """Somewhere that homes are read from."""

    disk: Disk
    root: str
    """The folder on that disk below which homes lie."""
    homes: Sequence[tuple[str, str]] | None = None
    """Agents and their folders, where that is known without looking."""
    machine: str | None = None
    """The machine that all of it is from, where the place says so."""


def open_disk(uri: str) -> tuple[Disk, str]:
    """How what lies somewhere is read, and the folder to begin with. Raises PlaceError."""
    place = open_place(uri)
    return place.disk, place.root


def open_place(uri: str) -> Place:
    """Somewhere that a path or an address names. Raises PlaceError where nothing can be read."""
    is_local = "://" not in uri or uri.startswith("file://")
    if uri.endswith(EXPORTED):
        # Other processes stand in other folders.
        return _exported(str(_local(uri)) if is_local else uri)
    if not is_local:
        disk = ObjectDisk(uri)
        disk.refuse_nothing_there()
        return Place(disk, disk.root)
    folder = _local(uri)
    try:
        REAL.entries(folder)
    except OSError as error:
        raise PlaceError(uri, (error.strerror or str(error)).lower()) from error
    return Place(REAL, str(folder))


def _local(uri: str) -> Path:
    return Path(expanded(uri.removeprefix("file://"))).absolute()


def _exported(uri: str) -> Place:
    disk = ExportedDisk(uri)
    homes = sorted({(version.agent, version.home) for version in disk.copies.versions})
    return Place(disk, "/", homes, Path(uri).stem)


class ObjectEntry:
    """An object, or what its name has before a slash."""

    __slots__ = ("_found", "name", "path")

    def __init__(self, path: str, found: Stored | None) -> None:
        self.name = os.path.basename(path)  # noqa: PTH119 - there are millions
        self.path = path
        self._found = found

    @property
    def facts(self) -> ObjectFacts:
        """The same as a file looks from outside."""
        return ObjectFacts(self._found)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether names go on below it."""
        return self._found is None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether there is an object."""
        return self._found is not None

    def is_symlink(self) -> bool:
        """There are no links."""
        return False


class ObjectFacts:
    """What an object looks like from outside; a folder, where there is none."""

    __slots__ = ("st_ino", "st_mode", "st_mtime_ns", "st_size")

    def __init__(self, found: Stored | None) -> None:
        self.st_size = found.size if found else 0
        self.st_mtime_ns = found.mtime_ns if found else 0
        self.st_mode = stat.S_IFREG | 0o600 if found else stat.S_IFDIR | 0o700
        self.st_ino = 0


class ObjectDisk(Disk):
    """A folder in a bucket, as readers look at disks. Its paths begin with the bucket, as no path here does.

    A folder is listed once, also for what is asked of its files. Any thread may call any of it.
    """

    def __init__(self, uri: str) -> None:
        super().__init__()
        self._uri = uri
        self._store = ObjectStore(uri)
        scheme = uri.partition("://")[0]
        self.root = "/".join(filter(None, (f"/{scheme}:", self._store.bucket, self._store.folder)))
        self._lock = Lock()
        self._listed: OrderedDict[str, dict[str, ObjectEntry]] = OrderedDict()
        self._names = 0

    def __reduce__(self) -> tuple[object, ...]:
        """How another process makes the same of it, once however often it is told."""
        return _object_disk, (self._uri,)

    def refuse_nothing_there(self) -> None:
        """Raise PlaceError if there is nothing below, or it cannot be asked."""
        if not any(self._store.held_in("")):
            raise PlaceError(self._uri, "nothing is there")

    def entries(self, folder: AnyPath) -> Sequence[Entry]:
        """What a folder holds, by name. Raises OSError."""
        held = self._held_in(os.fspath(folder))
        if not held:
            raise FileNotFoundError(errno.ENOENT, "no object has it in its name", os.fspath(folder))
        return list(held.values())

    def facts(self, path: AnyPath) -> Facts:
        """What an object looks like from outside. Raises OSError."""
        above, _, name = os.fspath(path).rstrip("/").rpartition("/")
        with self._lock:
            listed = self._listed.get(above)
        found = listed.get(name) if listed is not None else self._asked(os.fspath(path))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such object", os.fspath(path))
        return found.facts

    def opened(self, path: AnyPath) -> BinaryIO:
        """An object to be read piece by piece, which the caller closes. Raises OSError."""
        facts = self.facts(path)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "not an object", os.fspath(path))
        name = self._name(os.fspath(path))
        if facts.st_size > _HELD:
            return opened_piecewise(facts.st_size, _Reported(self._store, name).part)
        with _as_os_error():
            content = self._store.read(name)
        if content is None:
            raise FileNotFoundError(errno.ENOENT, "the object is gone", os.fspath(path))
        return BytesIO(content)

    def is_there(self, path: AnyPath) -> bool:
        """Whether something of this name is there."""
        try:
            self.facts(path)
        except (OSError, ValueError):
            return False
        return True

    def is_foreign(self, path: AnyPath) -> bool:
        """Whether a path is of another machine."""
        return True

    def look_again(self) -> None:
        """Forget what was listed: others may have written since."""
        with self._lock:
            self._listed.clear()
            self._names = 0

    def _name(self, path: str) -> str:
        """What the store calls what is at a path. Raises OSError for what lies elsewhere."""
        if path.rstrip("/") != self.root and not path.startswith(self.root + "/"):
            raise FileNotFoundError(errno.ENOENT, "not below the place", path)
        return path[len(self.root) :].strip("/")

    def _held_in(self, folder: str) -> dict[str, ObjectEntry]:
        folder = folder.rstrip("/")
        with self._lock:
            if folder in self._listed:
                return self._listed[folder]
        name = self._name(folder)
        with _as_os_error():
            folders, objects = self._store.held_in(name)
        entries = [ObjectEntry(f"{self.root}/{one.rstrip('/')}", None) for one in folders]
        # Some tools mark a folder by an object of its own name.
        entries += [ObjectEntry(f"{self.root}/{one.name}", one) for one in objects if one.name != name]
        held = {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}
        self._remember(folder, held)
        return held

    def _remember(self, folder: str, held: dict[str, ObjectEntry]) -> None:
        with self._lock:
            self._names += len(held) - len(self._listed.get(folder, ()))
            self._listed[folder] = held
            while len(self._listed) > 1 and self._names > _LISTED:
                self._names -= len(self._listed.popitem(last=False)[1])

    def _asked(self, path: str) -> ObjectEntry | None:
        name = self._name(path)
        with _as_os_error():
            found = self._store.about(name) if name else None
            if found is None and any(self._store.held_in(name)):
                return ObjectEntry(path, None)
        return ObjectEntry(path, found) if found else None


@cache
def _object_disk(uri: str) -> ObjectDisk:
    return ObjectDisk(uri)


class _LocalFile(NamedTuple):
    """A file of which pieces are read."""

    path: str

    def size(self) -> int:
        """How many bytes are in it. Raises OSError."""
        return Path(self.path).stat().st_size

    def part(self, start: int, end: int) -> bytes:
        """The bytes between two places. Raises OSError."""
        with Path(self.path).open("rb", buffering=0) as opened:
            opened.seek(start)
            return opened.read(end - start)


class _Reported(NamedTuple):
    """An object of which pieces are read, and failures are those of a disk."""

    store: ObjectStore
    name: str

    def size(self) -> int:
        """How many bytes are in it. Raises OSError."""
        with _as_os_error():
            found = self.store.about(self.name)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such object", self.name)
        return found.size

    def part(self, start: int, end: int) -> memoryview:
        """The bytes between two places."""
        with _as_os_error():
            return self.store.part(self.name, start, end)


class _as_os_error:  # noqa: N801 - reads as a phrase where it is used
    """For a reader, what the storage refuses is what the system refuses."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, GeminidsError):
            raise OSError(errno.EIO, str(error)) from error


class ExportedDisk(_KeptDisk):
    """The copies in a file of exported ones, where they lay on their machine; nothing of this machine."""

    def __init__(self, uri: str, copies: ExportedCopies | None = None) -> None:
        self._uri = uri
        self.copies = copies or self._copies_in_file()
        super().__init__(lambda: self._newest_by_path, self._content, moved_names(), self._versions_of)
        homes = sorted({version.home for version in self.copies.versions})
        self.know_homes((), homes)

    def __reduce__(self) -> tuple[object, ...]:
        """How another process makes the same of it: looking through the file for its copies takes long."""
        return _exported_disk, (self._uri, self.copies)

    @cached_property
    def _by_path(self) -> dict[str, list[ListedVersion]]:
        held: dict[str, list[ListedVersion]] = {}
        for version in self.copies.versions:
            held.setdefault(version.path, []).append(version)
        return held

    @property
    def _newest_by_path(self) -> dict[str, ListedVersion]:
        return {path: versions[-1] for path, versions in self._by_path.items()}

    def _versions_of(self, path: str) -> Sequence[ListedVersion]:
        return self._by_path.get(path, ())

    def _content(self, version: ListedVersion) -> bytes:
        with self._packed(version) as packed:
            return b"".join(self.copies.unpacked(version, packed))

    def _opened_copy(self, copy: ListedVersion) -> BinaryIO:
        if copy.size <= _HELD:
            return super()._opened_copy(copy)
        unpacked = TemporaryFile(prefix="geminids-")  # noqa: SIM115 - the caller closes it
        with _as_os_error(), self._packed(copy) as packed:
            for piece in self.copies.unpacked(copy, packed):
                unpacked.write(piece)
        unpacked.seek(0)
        return unpacked

    def _packed(self, version: ListedVersion) -> BinaryIO:
        """The packed content of a version, to be read from its beginning to its end."""
        first, size = self.copies.contents[version.digest]
        return opened_piecewise(size, lambda start, end: self._file.part(first + start, first + end))

    @cached_property
    def _file(self) -> _LocalFile | _Reported:
        if "://" not in self._uri or self._uri.startswith("file://"):
            return _LocalFile(self._uri.removeprefix("file://"))
        folder, _, name = self._uri.rpartition("/")
        return _Reported(ObjectStore(folder), name)

    def _copies_in_file(self) -> ExportedCopies:
        try:
            with opened_piecewise(self._file.size(), self._file.part) as opened:
                return exported_copies(opened, self._uri)
        except OSError as error:
            raise PlaceError(self._uri, error.strerror or str(error)) from error


_known: dict[str, ExportedDisk] = {}


def _exported_disk(uri: str, copies: ExportedCopies) -> ExportedDisk:
    if uri not in _known or _known[uri].copies != copies:
        _known[uri] = ExportedDisk(uri, copies)
    return _known[uri]
