"""What is remembered of projects: links given by the user, and what searches have taught.

    <data folder>/projects.json         private to the user, replaced as a whole
    <data folder>/projects.json.lock    held by whoever replaces it; readers never wait
    <data folder>/projects.json.bak-1   a file that could not be read, moved aside

Links cannot be had again, so a file that cannot be read is never written over, and one that a newer
geminids has written is left alone. What was learnt is believed only if the hash still fits.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from geminids.errors import PARTLY_DONE, GeminidsError
from geminids.model import KnownBy
from geminids.projects.resolving import Found
from geminids.projects.spellings import as_agents_read, verified

FILE_NAME = "projects.json"
VERSION = 1
_PATIENCE = 5.0
"""Seconds to wait for another process that writes."""
_LITTLE_PATIENCE = 0.2
"""The same for what can be learnt again."""
_NEW = ".new"


class DamagedMemoryError(GeminidsError):
    """The links could not be read; their file was moved aside, and nothing was changed."""

    exit_code = PARTLY_DONE

    def __init__(self, file: Path, moved_to: Path) -> None:
        super().__init__(
            f"Cannot read the links in {str(file)!r}; the file is now {str(moved_to)!r}. Mend it and move it "
            "back, or give the command again to begin with no links."
        )


class NewerMemoryError(GeminidsError):
    """The links were written by a newer release, which knows more than this one."""

    def __init__(self, file: Path, version: int) -> None:
        super().__init__(
            f"{str(file)!r} was written by a newer geminids (version {version} of the file, we know "
            f"{VERSION}). Nothing was changed; upgrade geminids, or use another folder with --data."
        )


class BusyMemoryError(GeminidsError):
    """Another process holds the links for too long."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"Another geminids is writing {str(file)!r}. Nothing was changed; try again in a moment."
        )


class Remembered(NamedTuple):
    """The folder of a project, as it is remembered."""

    path: str
    known_by: KnownBy
    certain: bool
    """Whether the hash of the path, in one of its spellings, is the project's."""


class Learnt(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A folder that a search has found. `known_by` may be a word of a newer release."""

    path: str
    known_by: str


class Look(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A search that did not find a folder: when it was, and how deep."""

    at: Annotated[datetime, msgspec.Meta(tz=True)]
    depth: int


class Memory(msgspec.Struct, frozen=True):
    """All that is remembered, by hash."""

    links: dict[str, str] = {}
    learnt: dict[str, Learnt] = {}
    looked_for: dict[str, Look] = {}
    repositories: dict[str, str] = {}
    """The main folder of a repository, by the folder of another work tree of it."""
    damaged: bool = False
    """Whether there is a file that cannot be read, or not by this release."""

    def project_path(self, wanted: str) -> Remembered | None:
        """The folder of a hash: as the user said, else as it was learnt if the hash still fits."""
        if link := self.links.get(wanted):
            return _linked(wanted, link)
        learnt = self.learnt.get(wanted)
        if learnt is None or learnt.known_by not in _WORDS:
            return None
        path = verified(wanted, [learnt.path])
        return Remembered(path, KnownBy(learnt.known_by), certain=True) if path else None

    def was_looked_for(self, wanted: str, depth: int, since: datetime) -> bool:
        """Whether a search as deep as this one was in vain, not longer ago than `since`."""
        look = self.looked_for.get(wanted)
        return look is not None and look.depth >= depth and look.at >= since


_WORDS = frozenset(KnownBy)
_UNREADABLE = Memory(damaged=True)


def recall(folder: Path) -> Memory:
    """What is remembered; nothing if there is no file, nothing and `damaged` if it cannot be read."""
    try:
        return _read(folder / FILE_NAME)
    except (OSError, ValueError, NewerMemoryError):
        return _UNREADABLE


def link(folder: Path, wanted: str, path: str) -> Remembered:
    """Remember that a hash stands for a folder because the user says so. Raises OSError if it cannot."""
    kept = as_agents_read(path)
    _change(folder, lambda known: msgspec.structs.replace(known, links={**known.links, wanted: kept}))
    return _linked(wanted, kept)


def _linked(wanted: str, path: str) -> Remembered:
    """A link as the user gave it; one that is proven is spelled as it was hashed."""
    spelled = verified(wanted, [path])
    return Remembered(spelled or path, KnownBy.LINK, certain=spelled is not None)


def unlink(folder: Path, wanted: str) -> bool:
    """Forget a link; whether there was one. Raises OSError if it cannot be done."""
    if not (folder / FILE_NAME).exists():
        return False
    before = _change(
        folder, lambda known: msgspec.structs.replace(known, links=_without(known.links, wanted))
    )
    return wanted in before.links


def learn(
    folder: Path,
    found: Mapping[str, Found],
    looked_for: Mapping[str, Look],
    repositories: Mapping[str, str] | None = None,
) -> bool:
    """Remember what a search found and what not; whether that was possible.

    It can be learnt again, so nothing is moved aside for it and nobody waits long.
    """
    trees = {as_agents_read(path): as_agents_read(main) for path, main in (repositories or {}).items()}
    try:
        if _with_lessons(recall(folder), found, looked_for, trees) is not None:
            _change(folder, lambda known: _with_lessons(known, found, looked_for, trees), may_move=False)
    except (OSError, GeminidsError):
        return False
    return True


def _with_lessons(
    known: Memory,
    found: Mapping[str, Found],
    looked_for: Mapping[str, Look],
    trees: Mapping[str, str],
) -> Memory | None:
    """The memory with what was learnt; None if that is nothing new."""
    new = {name: Learnt(as_agents_read(each.path), each.known_by.value) for name, each in found.items()}
    learnt = {**known.learnt, **new}
    looks = {name: look for name, look in known.looked_for.items() if name not in new}
    for name, look in looked_for.items():
        before = looks.get(name)
        if name not in new:
            # The last look tells whether to look again, the deepest how far one has seen.
            looks[name] = Look(look.at, max(look.depth, before.depth)) if before else look
    repositories = {**known.repositories, **trees}
    if (learnt, looks, repositories) == (known.learnt, known.looked_for, known.repositories):
        return None
    return msgspec.structs.replace(known, learnt=learnt, looked_for=looks, repositories=repositories)


def _without(links: dict[str, str], wanted: str) -> dict[str, str]:
    return {name: path for name, path in links.items() if name != wanted}


class _File(msgspec.Struct, frozen=True):
    """What stands in the file."""

    version: int
    links: dict[str, str]
    learnt: dict[str, Learnt]
    looked_for: dict[str, Look]
    repositories: dict[str, str] = {}


class _Version(msgspec.Struct):
    """What stands in a file of any release."""

    version: int = 0


_DECODER = msgspec.json.Decoder(_File)


def _read(file: Path) -> Memory:
    """What a file holds. Raises OSError, NewerMemoryError, or ValueError for one that is damaged."""
    try:
        written = file.read_bytes()
    except FileNotFoundError:
        return Memory()
    try:
        known = _DECODER.decode(written)
        version = known.version
    except ValueError:
        version = msgspec.json.decode(written, type=_Version).version
        if version <= VERSION:
            raise
    if version > VERSION:
        raise NewerMemoryError(file, version)
    return Memory(known.links, known.learnt, known.looked_for, known.repositories)


def _change(folder: Path, change: Callable[[Memory], Memory | None], *, may_move: bool = True) -> Memory:
    """Replace what is remembered, alone; what it was before."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / FILE_NAME
    with _alone(file, _PATIENCE if may_move else _LITTLE_PATIENCE):
        before = _readable(file, may_move=may_move)
        after = change(before)
        if after is not None and after != before:
            kept = _File(VERSION, after.links, after.learnt, after.looked_for, after.repositories)
            _replace(file, msgspec.json.encode(kept))
    return before


def _readable(file: Path, *, may_move: bool) -> Memory:
    """What a file holds; one that is damaged is moved aside before that is said."""
    try:
        return _read(file)
    except ValueError as error:
        moved_to = _aside(file)
        if may_move:
            file.rename(moved_to)
        raise DamagedMemoryError(file, moved_to) from error


def _aside(file: Path) -> Path:
    number = 1
    while (name := file.with_name(f"{file.name}.bak-{number}")).exists():
        number += 1
    return name


def _replace(file: Path, written: bytes) -> None:
    import tempfile

    for left in file.parent.glob(f"{file.name}.*{_NEW}"):
        # Of a process that was killed: whoever writes is alone.
        left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.", suffix=_NEW)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(written)
            opened.flush()
            os.fsync(opened.fileno())
        Path(name).replace(file)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _alone(file: Path, patience: float) -> Iterator[None]:
    """A while in which no other process changes the file. The system ends it if this process dies."""
    handle = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + patience
        while not _locked(handle):
            if time.monotonic() >= until:
                raise BusyMemoryError(file)
            time.sleep(0.005)
        yield
    finally:
        # Closing gives the lock back.
        os.close(handle)


def _locked(handle: int) -> bool:
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
