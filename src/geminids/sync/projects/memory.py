"""What is remembered of projects: links given by the user, and what searches have taught.

    <data folder>/geminids.db                 the durable file, in which it stands (`storage/durable/`)
    <data folder>/projects.json               where earlier releases kept it
    <data folder>/projects.json.taken-over    the same, once a change has put it into the durable file
    <data folder>/projects.json.bak-1         one that could not be read, moved aside

Until it is taken over, `projects.json` is read together with the durable file. It is always the newer of
both, because a change takes it over and renames it: one that is there again was written by an earlier
release since, so its links go before those in the durable file, and its lessons are added to them.

Links cannot be had again, so a file that cannot be read is never written over, and one that a newer
geminids has written is left alone. What was learnt is believed only if the hash still fits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from geminids.core.errors import PARTLY_DONE, GeminidsError
from geminids.core.locks import locked
from geminids.core.model import KnownBy
from geminids.core.spellings import as_agents_read, verified
from geminids.storage.durable import database
from geminids.storage.durable.changes import changing
from geminids.storage.durable.database import EARLIER_NAME, FILE_NAME, NewerStoreError
from geminids.storage.durable.project_tables import Knowledge, read_knowledge, write_knowledge
from geminids.sync.projects.resolution import Found

VERSION = 1
"""Of `projects.json`. No later one was ever written."""


class DamagedMemoryError(GeminidsError):
    """The links of an earlier release could not be read; they were moved aside, and nothing was changed."""

    exit_code = PARTLY_DONE

    def __init__(self, file: Path, moved_to: Path) -> None:
        super().__init__(
            f"Cannot read the links in {str(file)!r}; the file is now {str(moved_to)!r}. Repair it and "
            "move it back, or run the command again to start without links."
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
    """What is remembered; nothing if there is no file, `damaged` if one of them cannot be read."""
    try:
        with database.reading(folder) as reader:
            stored = read_knowledge(reader) if reader else Knowledge()
            taken_over = database.stamp_taken_over(reader) if reader else None
    except (OSError, GeminidsError):
        return _UNREADABLE
    known = _memory(stored)
    try:
        return _with_earlier(known, _earlier(folder, taken_over))
    except (OSError, ValueError, NewerStoreError):
        return msgspec.structs.replace(known, damaged=True)


def link(folder: Path, wanted: str, path: str) -> Remembered:
    """Remember that a hash stands for a folder because the user says so. Raises OSError if it cannot."""
    spelled = as_agents_read(path)
    _change(folder, lambda known: msgspec.structs.replace(known, links={**known.links, wanted: spelled}))
    return _linked(wanted, spelled)


def _linked(wanted: str, path: str) -> Remembered:
    """A link as the user gave it; one that is proven is spelled as it was hashed."""
    spelled = verified(wanted, [path])
    return Remembered(spelled or path, KnownBy.LINK, certain=spelled is not None)


def unlink(folder: Path, wanted: str) -> bool:
    """Forget a link; whether there was one. Raises OSError if it cannot be done."""
    if not database.is_expected(folder / FILE_NAME) and not (folder / EARLIER_NAME).exists():
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
            _change(folder, lambda known: _with_lessons(known, found, looked_for, trees), asked=False)
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


class _Earlier(msgspec.Struct, frozen=True):
    """What stands in the file of earlier releases."""

    version: int
    links: dict[str, str]
    learnt: dict[str, Learnt]
    looked_for: dict[str, Look]
    repositories: dict[str, str] = {}


class _Version(msgspec.Struct):
    """What stands in a file of any release."""

    version: int = 0


def _earlier(folder: Path, taken_over: str | None) -> _Earlier | None:
    """What an earlier release has kept, if it was not taken over yet.

    Raises OSError, NewerStoreError, or ValueError for a file that is damaged.
    """
    file = folder / EARLIER_NAME
    if database.earlier_stamp(folder) in (None, taken_over):
        return None
    written = file.read_bytes()
    try:
        known = msgspec.json.decode(written, type=_Earlier)
        version = known.version
    except ValueError:
        version = msgspec.json.decode(written, type=_Version).version
        if version <= VERSION:
            raise
    if version > VERSION:
        raise NewerStoreError(file, version, VERSION)
    return known


def _with_earlier(known: Memory, earlier: _Earlier | None) -> Memory:
    """The memory with what an earlier release has kept since: it goes before what was known."""
    if earlier is None:
        return known
    learnt = {**known.learnt, **earlier.learnt}
    looks = {**known.looked_for, **earlier.looked_for}
    return Memory(
        {**known.links, **earlier.links},
        learnt,
        {name: look for name, look in looks.items() if name not in learnt},
        {**known.repositories, **earlier.repositories},
    )


def _change(folder: Path, change: Callable[[Memory], Memory | None], *, asked: bool = True) -> Memory:
    """Change what is remembered, alone; what it was before."""
    with (
        _earlier_release_locked_out(folder, database.PATIENCE if asked else database.LITTLE_PATIENCE),
        changing(folder, asked=asked) as connection,
    ):
        reader = database.Reader(connection, database.VERSION)
        stored = read_knowledge(reader)
        taken_over = database.stamp_taken_over(reader)
        stamp = database.earlier_stamp(folder)
        before = _with_earlier(_memory(stored), _readable(folder, taken_over, may_move=asked))
        after = change(before) or before
        write_knowledge(connection, stored, _knowledge(after))
        if stamp not in (None, taken_over):
            database.note_taken_over(connection, str(stamp))
    if stamp is not None:
        _move_taken_over(folder / EARLIER_NAME, stamp)
    return before


def _memory(stored: Knowledge) -> Memory:
    return Memory(
        dict(stored.links),
        {name: Learnt(path, known_by) for name, (path, known_by) in stored.learnt.items()},
        {name: look for name, row in stored.looked_for.items() if (look := _look(*row))},
        dict(stored.repositories),
    )


def _look(at: str, depth: int) -> Look | None:
    try:
        return Look(datetime.fromisoformat(at), depth)
    except ValueError:
        # One looks again.
        return None


def _knowledge(known: Memory) -> Knowledge:
    return Knowledge(
        known.links,
        {name: (each.path, each.known_by) for name, each in known.learnt.items()},
        {name: (look.at.astimezone(UTC).isoformat(), look.depth) for name, look in known.looked_for.items()},
        known.repositories,
    )


def _readable(folder: Path, taken_over: str | None, *, may_move: bool) -> _Earlier | None:
    """What an earlier release has kept; a file that is damaged is moved aside before that is said."""
    try:
        return _earlier(folder, taken_over)
    except ValueError as error:
        file = folder / EARLIER_NAME
        moved_to = _free_name(file, "bak-{}", first=1)
        if may_move:
            file.rename(moved_to)
        raise DamagedMemoryError(file, moved_to) from error


def _move_taken_over(file: Path, stamp: str) -> None:
    """Rename a file that was taken over."""
    if database.earlier_stamp(file.parent) == stamp:
        # Where that fails its stamp is known, so it is not read again.
        with suppress(OSError):
            file.rename(_free_name(file, "taken-over"))


def _free_name(file: Path, ending: str, first: int = 2) -> Path:
    name = file.with_name(f"{file.name}.{ending.format(1)}")
    while name.exists():
        numbered = ending if "{}" in ending else ending + "-{}"
        name = file.with_name(f"{file.name}.{numbered.format(first)}")
        first += 1
    return name


@contextmanager
def _earlier_release_locked_out(folder: Path, patience: float) -> Iterator[None]:
    """A while in which no earlier release writes its file: it asks for this lock, and for no other."""
    file = folder / EARLIER_NAME
    if not file.exists():
        yield
        return
    handle = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + patience
        while not locked(handle):
            if time.monotonic() >= until:
                raise database.BusyStoreError(file, None)
            time.sleep(0.005)
        yield
    finally:
        # Closing gives the lock back.
        os.close(handle)
