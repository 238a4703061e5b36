"""A folder of exports, brought up to date: what has not changed or is not ours is left alone.

    <folder>/<date>-<title>-<id>.md      a session
    <folder>/…-files/                    its pictures, where they were wished
    <folder>/README.md, index.html       the table of contents, where the format has one
    <folder>/.geminids-export.json       which files we wrote, of what, and what they held

A file counts as ours as long as it holds what we wrote. One that somebody changed stays as it is, also when
its session grew, unless replacing is forced. Exports of sessions that are gone stay: often they are all that
is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from geminids.errors import DamagedManifestError, FileExistsAlreadyError
from geminids.export.base import Entry
from geminids.export.data import encode
from geminids.export.files import NewFile, Written, digest_of, naming, write_file

MANIFEST = ".geminids-export.json"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A file that we wrote: of which session in which state, what it held, and what a table says of it."""

    format: str
    key: str
    """The session, and the file that tells it from another of the same id."""
    stamp: str
    """The state of the session and all that was chosen: if it is the same, so would be the file."""
    size: int
    digest: str
    mtime_ns: int
    entry: Entry


class _Manifest(msgspec.Struct, tag_field="schema", tag="geminids/export-folder/1"):
    """What we wrote into a folder, by the names of files."""

    files: dict[str, Kept]
    contents: dict[str, Written]
    """The tables of contents."""


class Refused(NamedTuple):
    """A file that was left alone although its session is to be written, and why."""

    file: str
    reason: str


class Folder:
    """A folder, and what we know of the files in it."""

    def __init__(self, path: Path, format_name: str, *, force: bool) -> None:
        self.path = path
        self._format = format_name
        self._force = force
        with naming(path):
            path.mkdir(parents=True, exist_ok=True)
        self._manifest = _read_manifest(path / MANIFEST)
        self._by_key = {
            kept.key: name for name, kept in self._manifest.files.items() if kept.format == format_name
        }
        self._stems = set(map(_stem, self._manifest.files))

    def file_of(self, key: str) -> str | None:
        """The name of the file that holds a session in this format."""
        return self._by_key.get(key)

    def is_taken(self, stem: str) -> bool:
        """Whether a file of another session is called so, whatever its ending and the case of its letters."""
        return stem.casefold() in self._stems

    def is_current(self, key: str, stamp: str) -> bool:
        """Whether the file of a session holds what it would hold if it were written now."""
        name = self._by_key.get(key)
        kept = self._manifest.files[name] if name else None
        if name is None or kept is None or kept.stamp != stamp:
            return False
        return (self.path / name).is_file()

    def write(self, name: str, key: str, stamp: str, entry: Entry, pieces: Iterable[bytes]) -> Refused | None:
        """Write the file of a session; None if it is written, or holds the same already."""
        target = self.path / name
        with naming(target), NewFile(target) as new:
            written = new.write(pieces)
            present = _present(target)
            if present != written:
                is_ours = present is None or self._is_as_we_left_it(name, present)
                if not (is_ours or self._force):
                    return Refused(str(target), self._why_refused(name))
                try:
                    new.settle(replace=present is not None or self._force)
                except FileExistsAlreadyError:
                    return Refused(str(target), "it appeared while this was written")
            self._keep(name, key, stamp, written, entry)
        return None

    def write_beside(self, name: str, content: bytes) -> None:
        """Write a file that a session refers to; its name says what it holds, so it is written once."""
        target = self.path / name
        if not target.exists():
            with naming(target):
                target.parent.mkdir(exist_ok=True)
            write_file(target, [content], force=False)

    def write_contents(self, name: str, pieces: Iterable[bytes]) -> Refused | None:
        """Write the table of contents, unless somebody else wrote a file of that name."""
        target = self.path / name
        before = self._manifest.contents.get(name)
        with naming(target), NewFile(target) as new:
            written, present = new.write(pieces), _present(target)
            if present is not None and present not in (before, written) and not self._force:
                return Refused(str(target), "it is not ours, or was changed")
            new.settle(replace=True)
        self._manifest.contents[name] = written
        return None

    def entries(self) -> Iterator[Entry]:
        """What the table of contents tells of: all files of the format that are there."""
        for name, kept in self._manifest.files.items():
            if kept.format == self._format and (self.path / name).is_file():
                yield kept.entry

    def save(self) -> None:
        """Remember what was written."""
        write_file(self.path / MANIFEST, [encode(self._manifest), b"\n"], force=True)

    def _keep(self, name: str, key: str, stamp: str, written: Written, entry: Entry) -> None:
        kept = Kept(
            format=self._format,
            key=key,
            stamp=stamp,
            size=written.size,
            digest=written.digest,
            mtime_ns=(self.path / name).stat().st_mtime_ns,
            entry=entry,
        )
        self._manifest.files[name] = kept
        self._by_key[key] = name
        self._stems.add(_stem(name))

    def _is_as_we_left_it(self, name: str, present: Written) -> bool:
        kept = self._manifest.files.get(name)
        return kept is not None and (kept.size, kept.digest) == present

    def _why_refused(self, name: str) -> str:
        return "it was changed since" if name in self._manifest.files else "it is not ours"


def _stem(name: str) -> str:
    return name.partition(".")[0].casefold()


def _present(target: Path) -> Written | None:
    """What a name holds now; None if it is free."""
    try:
        return digest_of(target)
    except FileNotFoundError:
        if target.is_symlink():
            # A link to nowhere is somebody's too.
            return Written(0, "a link")
        return None


def _read_manifest(path: Path) -> _Manifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Manifest)
    except FileNotFoundError:
        return _Manifest({}, {})
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedManifestError(str(path), str(error)) from error
