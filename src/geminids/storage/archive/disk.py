"""The disk with what is gone from it: a file that its agent has deleted is read from the newest kept copy.

What is really there always counts, and nothing is concluded from what cannot be seen: a closed folder is a
closed folder, whatever copies there are of it. Copies are plain files in plain folders, so no link and no
pipe is ever told of here that is not on the disk itself. Where a link, or something else that no reader looks
into, has taken the place of a file or folder of which there are copies, that file or folder is gone.
"""

from __future__ import annotations

import errno
import os
import stat

# A command that finds everything in its place has no time to load `threading`, which has the same lock.
from _thread import allocate_lock
from bisect import bisect_left
from functools import cached_property, partial
from io import BytesIO
from operator import attrgetter

from geminids.core.disk import KEPT_INODE, AnyPath, Disk, Entry, Facts
from geminids.core.errors import GeminidsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import BinaryIO, Generic, Protocol, TypeVar

    class Copied(Protocol):
        """The newest kept copy of a file, as the archive knows it."""

        @property
        def home(self) -> str: ...  # noqa: D102
        @property
        def path(self) -> str: ...  # noqa: D102
        @property
        def size(self) -> int: ...  # noqa: D102
        @property
        def mtime_ns(self) -> int: ...  # noqa: D102
        @property
        def kept_at(self) -> int: ...  # noqa: D102

    C = TypeVar("C", bound=Copied)
else:
    # Of what a disk is generic is nothing but a note for type checkers.
    C = "copied"
    Generic = {C: object}

_GONE = (FileNotFoundError, NotADirectoryError)
"""How the system says that something is not there, and not that we may not know."""
_NO_FILE = (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.EINVAL, errno.ENXIO)
"""And that something is there which is no plain file."""
_FILE = stat.S_IFREG | 0o600
_FOLDER = stat.S_IFDIR | 0o700
_AFTER_BELOW = chr(ord(os.sep) + 1)
"""What follows the name of a folder in no path of a file below it, and in order comes after them all."""
_HELD = 64_000_000
"""Bytes of a copy that are held in memory, all compared with one digest."""
_by_name = attrgetter("name")


class KeptEntry:
    """A file that is gone, or a folder that held such files, among what a folder holds."""

    __slots__ = ("_is_folder", "name", "path")

    def __init__(self, name: str, path: str, *, is_folder: bool) -> None:
        self.name = name
        self.path = path
        self._is_folder = is_folder

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it was a folder."""
        return self._is_folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it was a file."""
        return not self._is_folder

    def is_symlink(self) -> bool:
        """No link is ever kept."""
        return False


class KeptFacts:
    """What something that is gone looked like when it was kept."""

    __slots__ = ("st_ino", "st_mode", "st_mtime_ns", "st_size")

    def __init__(self, size: int, mtime_ns: int, mode: int) -> None:
        self.st_size = size
        self.st_mtime_ns = mtime_ns
        self.st_mode = mode
        self.st_ino = KEPT_INODE


class KeptDisk(Disk, Generic[C]):
    """The disk as it is, and the newest kept copy of each file that is gone from it.

    `newest` gives the copies by the paths of their files; it is asked once, when a folder is listed or
    something is missing. `content` gives what is in a copy, and raises GeminidsError if it is damaged.
    `moved_name` says what stays the same of a file that its agent moves or packs: while it is anywhere in its
    home it is not gone, and of several copies of one that is, only the newest is told of. Any thread may call
    any of them.
    """

    def __init__(
        self,
        newest: Callable[[], Mapping[str, C]],
        content: Callable[[C], bytes],
        moved_name: Callable[[str], str | None],
        versions: Callable[[str], Sequence[C]] = lambda path: (),
        part: Callable[[C, int, int], bytes] | None = None,
    ) -> None:
        super().__init__()
        self._newest = newest
        self._content = content
        self._moved_name = moved_name
        self._versions = versions
        self._part = part
        self._foreign: tuple[str, ...] = ()
        self._homes: tuple[str, ...] = ()
        self._followed: dict[str, bool] = {}
        self._lock = allocate_lock()
        self._loaded: _Copies[C] | None = None

    def know_homes(self, here: Sequence[str], foreign: Sequence[str]) -> None:
        """Say which homes there are on this machine, and which are of others.

        The folders right in those of this machine may be links, those further down are not followed. Nothing
        is told of what lies on this machine where those of others are.
        """
        self._homes = tuple(sorted(map(_beginning, here), key=len, reverse=True))
        self._foreign = tuple(map(_beginning, foreign))

    def entries(self, folder: AnyPath) -> Sequence[Entry]:
        """What a folder holds and what is gone from it, by name. Raises OSError."""
        try:
            real = () if self._is_out_of_sight(_beginning(folder)) else super().entries(folder)
        except _GONE:
            if not self._copies.is_folder(folder):
                raise
            real = ()
        kept = list(self._copies.held_in(folder))
        if not kept:
            return real
        if self._follows_no_link_in(folder):
            real = _without_replaced(real, kept)
        there = {entry.name for entry in real}
        missing = [entry for entry in kept if entry.name not in there and self._is_told_of(entry)]
        gone = list(self._not_renamed(missing, real))
        return sorted([*real, *gone], key=_by_name) if gone else real

    def facts(self, path: AnyPath) -> Facts:
        """What a file looks like from outside, or looked like. Raises OSError."""
        try:
            self._refuse_out_of_sight(path)
            return self._facts_unless_replaced(path)
        except _GONE:
            if copy := self._copy(path):
                return KeptFacts(copy.size, copy.mtime_ns, _FILE)
            if self._copies.is_folder(path):
                return KeptFacts(0, 0, _FOLDER)
            raise

    def _facts_unless_replaced(self, path: AnyPath) -> Facts:
        facts = super().facts(path)
        if self._is_replaced(path, facts.st_mode):
            raise FileNotFoundError(errno.ENOENT, "something else is there", os.fspath(path))
        return facts

    def opened(self, path: AnyPath) -> BinaryIO:
        """A file to be read piece by piece, or its copy, which the caller closes. Raises OSError."""
        try:
            self._refuse_out_of_sight(path)
            return super().opened(path)
        except OSError as error:
            if not isinstance(error, _GONE) and error.errno not in _NO_FILE:
                raise
            if copy := self._copy(path):
                return self._opened_copy(copy)
            raise

    def _opened_copy(self, copy: C) -> BinaryIO:
        part = self._part
        if part is None or copy.size <= _HELD:
            return BytesIO(self._read_copy(copy))
        from geminids.core.piecewise import opened_piecewise

        return opened_piecewise(copy.size, partial(self._part_of, part, copy))

    def _part_of(self, part: Callable[[C, int, int], bytes], copy: C, start: int, end: int) -> bytes:
        with _naming_damage():
            return part(copy, start, end)

    def is_there(self, path: AnyPath) -> bool:
        """Whether something of this name is there, or was and is kept."""
        try:
            self.facts(path)
        except (OSError, ValueError):
            return False
        return True

    def has_copies_below(self, folder: AnyPath) -> bool:
        """Whether files that are gone from a folder, or with it, can be read from copies."""
        return any(self._copy(path) and self._is_gone(path) for path in self._copies.below(folder))

    def earlier(self, path: AnyPath) -> Sequence[Callable[[], BinaryIO]]:
        """What was in a file before it was written anew, as far as that was kept, the newest state first."""
        kept = self._versions(_tidy(path))
        return [partial(self._opened_copy, version) for version in reversed(kept)]

    def is_foreign(self, path: AnyPath) -> bool:
        """Whether a path is of another machine."""
        return bool(self._foreign) and _tidy(path).startswith(self._foreign)

    def _refuse_out_of_sight(self, path: AnyPath) -> None:
        if self._is_out_of_sight(path):
            raise FileNotFoundError(errno.ENOENT, "of another machine, or behind a link", os.fspath(path))

    def _is_out_of_sight(self, path: AnyPath) -> bool:
        """Whether nothing is told of what lies there on the disk."""
        return self.is_foreign(path) or self._is_behind_link(os.fspath(path))

    def _is_behind_link(self, path: str) -> bool:
        """Whether a folder on the way from a home to a path is one that no reader goes through."""
        if not path.startswith(self._homes):
            return False
        home = next(home for home in self._homes if path.startswith(home))
        # Right in a home a reader opens folders by their names, wherever they are.
        at = path.find(os.sep, len(home))
        while at > 0 and (at := path.find(os.sep, at + 1)) > 0:
            if self._is_link(path[:at]):
                return True
        return False

    def _is_link(self, folder: str) -> bool:
        if folder not in self._followed:
            self._followed[folder] = os.path.islink(folder)  # noqa: PTH114
        return self._followed[folder]

    def _follows_no_link_in(self, folder: AnyPath) -> bool:
        """Whether links in a folder are links that no reader follows: a home's own ones are."""
        return _beginning(folder) not in self._homes

    def _is_replaced(self, path: AnyPath, mode: int) -> bool:
        """Whether something else is where a file was that is kept, or a folder that holds such files."""
        if stat.S_ISREG(mode):
            return False
        if self._copies.of(path) is not None:
            return True
        is_link = stat.S_ISLNK(mode) and self._follows_no_link_in(os.path.dirname(_tidy(path)))  # noqa: PTH120
        return is_link and self._copies.is_folder(path)

    def _is_gone(self, path: str) -> bool:
        return self._is_out_of_sight(path) or _is_gone(path)

    def look_again(self) -> None:
        """Forget which copies there are: others may have been kept since."""
        with self._lock:
            self._loaded = None
            self._followed = {}

    @property
    def _copies(self) -> _Copies[C]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Copies(self._newest(), self._moved_name)
            return self._loaded

    def _is_told_of(self, entry: KeptEntry) -> bool:
        return entry.is_dir() or self._copy(entry.path) is not None

    def _not_renamed(self, missing: Sequence[KeptEntry], real: Sequence[Entry]) -> Iterator[KeptEntry]:
        """What is missing under any name: of a file that was renamed just now, there is no other copy yet."""
        moved = {entry.path: None if entry.is_dir() else self._moved_name(entry.path) for entry in missing}
        there = {self._moved_name(entry.path) for entry in real} if any(moved.values()) else set()
        return (entry for entry in missing if moved[entry.path] is None or moved[entry.path] not in there)

    def _copy(self, path: AnyPath) -> C | None:
        """The copy of a file that is not there; None if there is none, or the file was only moved."""
        copies = self._copies
        copy = copies.of(path)
        if copy is None:
            return None
        same = copies.of_same_name(copy)
        if any(other.path != copy.path and not self._is_gone(other.path) for other in same):
            return None
        return copy if not same or same[0].path == copy.path else None

    def _read_copy(self, copy: C) -> bytes:
        with _naming_damage():
            return self._content(copy)


class _naming_damage:  # noqa: N801 - reads as a phrase where it is used
    """For a reader a damaged copy is a file like any other that the system refuses."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, GeminidsError):
            raise OSError(errno.EIO, f"it is gone, and its kept copy cannot be read: {error}") from error


class _Copies(Generic[C]):
    """All copies in the order of their paths, which has each folder in one piece. Never changes."""

    def __init__(self, newest: Mapping[str, C], moved_name: Callable[[str], str | None]) -> None:
        self._by_path = newest
        self._paths = sorted(newest)
        self._moved_name = moved_name

    def of(self, path: AnyPath) -> C | None:
        """The copy of a file."""
        return self._by_path.get(_tidy(path))

    def of_same_name(self, copy: C) -> Sequence[C]:
        """All copies of a file that its agent may have moved, the newest first; none if it moves nothing."""
        name = self._moved_name(copy.path)
        return () if name is None else self._moved.get((copy.home, name), ())

    def is_folder(self, path: AnyPath) -> bool:
        """Whether copies of files are known that lay below."""
        return next(self.below(path), None) is not None

    def below(self, folder: AnyPath) -> Iterator[str]:
        """The paths of all files that lay below a folder."""
        beginning = _beginning(folder)
        for at in range(bisect_left(self._paths, beginning), len(self._paths)):
            if not self._paths[at].startswith(beginning):
                return
            yield self._paths[at]

    def held_in(self, folder: AnyPath) -> Iterator[KeptEntry]:
        """The files that were kept from a folder, and the folders in it that held any, each once."""
        paths, beginning = self._paths, _beginning(folder)
        at = bisect_left(paths, beginning)
        while at < len(paths) and paths[at].startswith(beginning):
            name, is_below, _ = paths[at][len(beginning) :].partition(os.sep)
            path = os.path.join(folder, name)  # noqa: PTH118 - spelled as who asks does
            if not is_below:
                yield KeptEntry(name, path, is_folder=False)
                at += 1
                continue
            if beginning + name not in self._by_path:
                yield KeptEntry(name, path, is_folder=True)
            at = bisect_left(paths, f"{beginning}{name}{_AFTER_BELOW}", at)

    @cached_property
    def _moved(self) -> dict[tuple[str, str], list[C]]:
        """Copies of files that may have been moved, by home and what stays the same, the newest first."""
        same: dict[tuple[str, str], list[C]] = {}
        for copy in self._by_path.values():
            if (name := self._moved_name(copy.path)) is not None:
                same.setdefault((copy.home, name), []).append(copy)
        for found in same.values():
            # A file that is moved keeps its date; of a plain one and a packed one, the plain one is longer.
            found.sort(key=lambda copy: (copy.mtime_ns, copy.size, copy.kept_at, copy.path), reverse=True)
        return same


def _without_replaced(real: Sequence[Entry], kept: Sequence[KeptEntry]) -> Sequence[Entry]:
    """What a folder holds without what has taken the place of files and folders that are kept."""
    was_folder = {entry.name: entry.is_dir() for entry in kept}

    def is_as_it_was(entry: Entry) -> bool:
        if entry.name not in was_folder:
            return True
        if was_folder[entry.name]:
            return not entry.is_symlink()
        return entry.is_file(follow_symlinks=False)

    return [entry for entry in real if is_as_it_was(entry)]


def _beginning(folder: AnyPath) -> str:
    """How the paths of all files begin that lie below a folder."""
    path = _tidy(folder)
    return path if path.endswith(os.sep) else path + os.sep


def _tidy(path: AnyPath) -> str:
    """A path as the archive spells it."""
    return os.path.normpath(os.fspath(path))


def _is_gone(path: str) -> bool:
    """Whether no plain file is there. What we may not look at may be there."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except _GONE:
        return True
    except (OSError, ValueError):
        return False
