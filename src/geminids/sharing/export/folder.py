"""A folder of exports, brought up to date: what has not changed or is not ours is left alone.

    <folder>/<date>-<title>-<id>.md      a session
    <folder>/…-files/                    its pictures, where they were wished
    <folder>/README.md, index.html       the table of contents, where the format has one
    <folder>/.geminids-export.json       which files we wrote, of what, and what they held

A file counts as ours as long as it holds what we wrote. One that somebody changed stays as it is unless
replacing is forced. Exports of sessions that are gone stay: often they are all that is left. Only a file that
was written without hiding what is to be hidden now gives way to one of another name, with the pictures beside
it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import msgspec

from geminids.core.atomic_files import remove_left_over
from geminids.core.errors import DamagedManifestError, FileExistsAlreadyError
from geminids.sharing.export.attachments import holds_what_it_is_called
from geminids.sharing.export.base import Entry
from geminids.sharing.export.data import encode
from geminids.sharing.export.files import NewFile, Written, digest_of, naming, write_file

MANIFEST = ".geminids-export.json"
NOT_OURS = "not written by geminids"
CHANGED = "it was changed since"
NOT_REDACTED = "it was changed since, and nothing is hidden in it"
NO_PLAIN_FILE = "something else than a file has this name"
NO_FILE = Written(-1, "")
"""What stands for something that is no file: a folder, a pipe, a link to nowhere."""


class Left(msgspec.Struct, frozen=True):
    """A file as we left it."""

    size: int
    digest: str
    mtime_ns: int


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file of a session: which one in which state, as what we left it, what a table says of it."""

    format: str
    key: str
    """The session, and the file that tells it from another of the same id."""
    stamp: str
    """The state of the session and all that was chosen: if it is the same, so would be the file."""
    hiding: str | None
    """How secrets were hidden, in little; None if they were not."""
    left: Left
    entry: Entry
    beside: tuple[str, ...] = ()
    """The files that it refers to."""


class _Manifest(msgspec.Struct, tag_field="schema", tag="geminids/export-folder/1"):
    """What we wrote into a folder, by the names of files."""

    files: dict[str, WrittenFile]
    contents: dict[str, Left]
    """The tables of contents."""


class Page(NamedTuple):
    """The file of a session on its way into a folder."""

    key: str
    stamp: str
    hiding: str | None
    entry: Entry
    pieces: Iterable[bytes]
    beside: Mapping[str, bytes]
    """What it refers to, by the names under which it does."""


class Refused(NamedTuple):
    """A file that was left alone although it should be written, and why."""

    file: str
    reason: str

    @property
    def can_be_forced(self) -> bool:
        """Whether `--force` would write it."""
        return self.reason != NO_PLAIN_FILE


class Done(Enum):
    """What became of a file."""

    WRITTEN = "written"
    SAME = "same"
    """It held the same already."""


class Folder:
    """A folder, and what we know of the files in it."""

    def __init__(self, path: Path, format_name: str, *, force: bool) -> None:
        self.path = path
        self._format = format_name
        self._force = force
        with naming(path):
            path.mkdir(parents=True, exist_ok=True)
        remove_left_over(str(path))
        self._manifest = _read_manifest(path / MANIFEST)
        self._by_key = {
            written.key: name
            for name, written in self._manifest.files.items()
            if written.format == format_name
        }
        self._stems = {_stem(name): written.key for name, written in self._manifest.files.items()}
        self._ours: set[str] = set()
        """The names of files that this run wrote or took away."""
        self._beside: set[Path] = set()
        """The folders of what they refer to, as far as this run wrote into them."""
        self._changed = False

    def name_of(self, key: str, hiding: str | None) -> str | None:
        """The name that the file of a session has; none if it tells what is to be hidden now."""
        name = self._by_key.get(key)
        if name is not None and hiding is not None and self._manifest.files[name].hiding != hiding:
            return None
        return name

    def is_taken(self, stem: str, key: str) -> bool:
        """Whether a file of another session is called so, whatever its ending and the case of its letters."""
        return self._stems.get(stem.casefold(), key) != key

    def is_current(self, key: str, stamp: str) -> bool:
        """Whether the file of a session holds what it would hold if it were written now."""
        name = self._by_key.get(key)
        written = self._manifest.files[name] if name else None
        return (
            written is not None
            and written.stamp == stamp
            and self._is_as_we_left_it(name or "", written.left)
        )

    def write(self, name: str, page: Page) -> Done | Refused:
        """Write the file of a session, unless it holds the same already, is not ours, or was changed."""
        if odd := next(filter(_is_in_the_way, map(self.path.joinpath, page.beside)), None):
            return Refused(str(odd), NO_PLAIN_FILE)
        before = self._by_key.get(page.key)
        known = self._manifest.files.get(name)
        done, written = self._write(name, page.pieces, known.left if known else None)
        if isinstance(done, Refused):
            return done
        for beside, content in page.beside.items():
            self._write_beside(beside, content)
        left_over = self._take_away(before, page, name) if before else None
        self._note(name, page, written)
        return left_over or done

    def write_contents(self, name: str, pieces: Callable[[], Iterable[bytes]]) -> Done | Refused:
        """Write the table of contents if the folder has changed or has none."""
        known = self._manifest.contents.get(name)
        if not self._changed and known and self._is_as_we_left_it(name, known):
            return Done.SAME
        with self._alone():
            done, written = self._write(name, pieces(), self._manifest.contents.get(name))
            if not isinstance(done, Refused):
                self._manifest.contents[name] = self._left(name, written)
                self._changed = True
        return done

    def entries(self) -> Iterator[Entry]:
        """What the table of contents tells of: all files of the format that are there."""
        for name, written in self._manifest.files.items():
            if written.format == self._format and (self.path / name).is_file():
                yield written.entry

    def save(self) -> None:
        """Remember what was written."""
        if self._changed:
            with self._alone():
                pass

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A while in which no other export changes what is known of the folder; it is saved at the end."""
        with _alone_in(self.path):
            # Another export into the same folder may have saved what it wrote meanwhile.
            there = _read_manifest(self.path / MANIFEST)
            others = {name: written for name, written in there.files.items() if name not in self._ours}
            ours = {name: written for name, written in self._manifest.files.items() if name in self._ours}
            self._manifest = _Manifest(others | ours, there.contents)
            yield
            write_file(self.path / MANIFEST, [encode(self._manifest), b"\n"], force=True)

    def _write(
        self, name: str, pieces: Iterable[bytes], known: Left | None
    ) -> tuple[Done | Refused, Written]:
        """Write a file, if it is free or ours; what became of it, and what was or would be written."""
        target = self.path / name
        with naming(target), NewFile(target) as new:
            written = new.write(pieces)
            return self._settle(new, written, known), written

    def _settle(self, new: NewFile, written: Written, known: Left | None) -> Done | Refused:
        target = new.target
        present = _present(target)
        if present == written:
            return Done.SAME
        is_ours = present is None or (known is not None and (known.size, known.digest) == present)
        if present == NO_FILE:
            return Refused(str(target), NO_PLAIN_FILE)
        if not (is_ours or self._force):
            return Refused(str(target), CHANGED if known else NOT_OURS)
        try:
            new.settle(replace=present is not None)
        except FileExistsAlreadyError:
            # Another export may have been quicker.
            return Done.SAME if _present(target) == written else Refused(str(target), NOT_OURS)
        return Done.WRITTEN

    def _write_beside(self, name: str, content: bytes) -> None:
        """Write a file that a session refers to; its name says what it holds, so it is written once."""
        target = self.path / name
        if not os.path.lexists(target):
            with naming(target):
                target.parent.mkdir(exist_ok=True)
            if target.parent not in self._beside:
                self._beside.add(target.parent)
                remove_left_over(str(target.parent))
            with naming(target), NewFile(target) as new:
                new.write([content])
                new.settle(replace=False)

    def _take_away(self, before: str, page: Page, name: str) -> Refused | None:
        """Take away what the file of a session had before and has no longer: its old name, its pictures."""
        written = self._manifest.files[before]
        for beside in map(self.path.joinpath, set(written.beside) - page.beside.keys()):
            if holds_what_it_is_called(beside) and not beside.parent.is_symlink():
                beside.unlink()
        if before == name:
            return None
        old = self.path / before
        if old.exists() and not self._is_as_we_left_it(before, written.left):
            return Refused(str(old), NOT_REDACTED)
        old.unlink(missing_ok=True)
        del self._manifest.files[before]
        self._ours.add(before)
        return None

    def _note(self, name: str, page: Page, written: Written) -> None:
        self._manifest.files[name] = WrittenFile(
            format=self._format,
            key=page.key,
            stamp=page.stamp,
            hiding=page.hiding,
            left=self._left(name, written),
            entry=page.entry,
            beside=tuple(page.beside),
        )
        self._by_key[page.key] = name
        self._stems[_stem(name)] = page.key
        self._ours.add(name)
        self._changed = True

    def _left(self, name: str, written: Written) -> Left:
        return Left(written.size, written.digest, (self.path / name).stat().st_mtime_ns)

    def _is_as_we_left_it(self, name: str, left: Left) -> bool:
        path = f"{self.path}/{name}"
        try:
            # There may be thousands, and making a `Path` of each would cost the most.
            now = os.stat(path)  # noqa: PTH116
            if (now.st_size, now.st_mtime_ns) == (left.size, left.mtime_ns):
                return True
            # A copy of the folder has other times.
            return digest_of(Path(path)) == (left.size, left.digest)
        except OSError:
            return False


def _stem(name: str) -> str:
    return name.partition(".")[0].casefold()


def _present(target: Path) -> Written | None:
    """What a name holds now; None if it is free."""
    if target.is_file():
        return digest_of(target)
    return NO_FILE if os.path.lexists(target) else None


def _is_in_the_way(beside: Path) -> bool:
    """Whether a picture cannot be written: its folder is a link or no folder, its name something odd."""
    folder = beside.parent
    is_odd_folder = folder.is_symlink() or (folder.exists() and not folder.is_dir())
    return is_odd_folder or (os.path.lexists(beside) and not beside.is_file())


def _read_manifest(path: Path) -> _Manifest:
    """What we wrote before. The folder may come from anybody, so nothing outside of it may be named."""
    if not os.path.lexists(path):
        return _Manifest({}, {})
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DamagedManifestError(str(path), "it is not a file")
        manifest = msgspec.json.decode(path.read_bytes(), type=_Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise DamagedManifestError(str(path), str(error)) from error
    named = [*manifest.files, *manifest.contents]
    beside = [name.split("/") for written in manifest.files.values() for name in written.beside]
    if not all(map(_is_plain, named)) or not all(map(_is_plain_pair, beside)):
        raise DamagedManifestError(str(path), "it names files outside of the folder")
    return manifest


def _is_plain(name: str) -> bool:
    """Whether this is the name of a file, and no path."""
    return name not in {"", ".", ".."} and not {"/", "\\", "\0"} & set(name)


def _is_plain_pair(names: list[str]) -> bool:
    return len(names) == 2 and all(map(_is_plain, names))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """A while in which no other export saves what it wrote into the folder."""
    try:
        import fcntl
    except ImportError:
        # Where there is no such lock, the last one wins.
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
