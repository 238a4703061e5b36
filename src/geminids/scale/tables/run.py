"""Bringing tables up to date: which parts have changed, and by which processes they are written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from geminids import __version__
from geminids.core.collecting import without_collecting
from geminids.core.config import TABLES_FOLDER, is_below
from geminids.core.errors import AgentFolderError
from geminids.core.locks import locked
from geminids.core.workers import Workers, wanted_workers
from geminids.scale.places.errors import (
    BusyPlaceError,
    NoTablesFolderError,
    PlaceError,
)
from geminids.scale.places.stored import Store, Stored
from geminids.scale.places.stores import LocalStore, open_store
from geminids.scale.schema import FORMER, TABLES, VERSION
from geminids.scale.tables.forgotten import hashed, read_forgotten, write_forgotten
from geminids.scale.tables.manifest import (
    FOLDER,
    HIDDEN,
    Manifest,
    WrittenPart,
    file_name,
    machine_of,
    may_be_read,
    own_manifest,
    part_of,
    write_manifest,
)
from geminids.scale.tables.part import Manner, PartToWrite, WroteWhat, write_part
from geminids.scale.tables.written import TablesWritten

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.query.sessions.by_month import Part, Parts

LONGEST_NAME = 64
_PATIENCE, _PAUSE = 60.0, 0.1
"""Seconds that are waited for another process, and between two looks."""
_OURS = "here"
"""The prefix of files in tables of the data directory; the machine in them if it has no id."""
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")

Progress = Callable[[int, int], None]
"""Is told how many sessions of how many are written."""


class TablesWriter:
    """The tables of one machine in one place."""

    def __init__(self, library: Library, manner: Manner) -> None:
        """Raises an error for a place or a name that cannot be used; nothing is written yet."""
        if not _is_name(manner.machine):
            raise PlaceError(
                manner.machine,
                f"a machine is named with 1 to {LONGEST_NAME} letters, digits, and any of . _ -, "
                "the first of them no . or _",
            )
        self._library = library
        self._manner = manner
        self._homes = library.homes_digest
        self._store = open_store(manner.uri)
        if isinstance(self._store, LocalStore):
            self._refuse_folder(self._store.uri)

    def _refuse_folder(self, folder: str) -> None:
        if is_below(folder, self._library.agents_folders):
            raise AgentFolderError(folder)
        if os.path.islink(folder):  # noqa: PTH114
            real = os.path.realpath(folder)
            raise PlaceError(folder, f"it is a link; give the folder itself, {real!r}")
        data = self._library.data_folder
        if data and is_below(folder, [data]) and not is_below(folder, [f"{data}/{TABLES_FOLDER}"]):
            raise PlaceError(folder, "it is in the data directory of geminids; choose another folder")

    def bring_up_to_date(
        self,
        *,
        anew: bool = False,
        jobs: int | None = None,
        patience: float = 0.0,
        progress: Progress | None = None,
    ) -> TablesWritten:
        """Write what changed since the last time, or all of it anew.

        For another process of this machine that writes there, so many seconds are waited.
        """
        with self._alone(patience) as lock, without_collecting():
            before = self._before()
            manner = self._manner._replace(files=before.machine, costs=self._library.request_costs())
            gone = self._forgotten(before)
            parts = self._library.parts((lambda sid: hashed(sid) in gone) if gone else None)
            run = _Run(self._store, manner, before, parts, anew=anew, holding=lock, former=self._former)
            written = run.run(self._library.jobs if jobs is None else jobs, progress)
            if written.parts:
                self._note_forgotten(before.machine)
            return written

    def _before(self) -> Manifest:
        """Return the manifest of the last run with the same machine and homes."""
        id_of_homes = self._manner.files or self._id
        wanted = Manifest(id_of_homes, id_of_homes, self._manner.machine, self._homes)
        return own_manifest(self._store, wanted, self._former)

    @property
    def _id(self) -> str:
        """The id of the machine and its chosen homes; its name if there is no data directory."""
        machine = self._library.machine()
        if machine is None or not self._homes:
            return machine or self._manner.machine
        return blake2b(f"{machine}\0{self._homes}".encode(), digest_size=6).hexdigest()

    @property
    def _former(self) -> set[str]:
        """The prefixes that earlier releases gave the files of this machine."""
        return {name for name in (self._manner.machine, self._library.machine()) if name}

    def _forgotten(self, before: Manifest) -> frozenset[str]:
        """Write the sessions that are forgotten here; return all hashes of the place."""
        if before.parts:
            self._note_forgotten(before.machine)
        return read_forgotten(self._store).union(map(hashed, self._library.forgotten_ids()))

    def _note_forgotten(self, machine: str) -> None:
        write_forgotten(self._store, machine, set(map(hashed, self._library.forgotten_ids())))

    @contextmanager
    def _alone(self, patience: float) -> Iterator[Sequence[int]]:
        """A while in which no other process of this machine writes tables there; what holds the lock."""
        folder = self._library.data_folder
        if folder is None:
            yield ()
            return
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        place = blake2b(_one_name(self._store).encode("utf-8", "surrogatepass"), digest_size=8)
        until = time.monotonic() + patience
        with Path(folder, f"tables-{place.hexdigest()}.lock").open("ab") as lock:
            while not locked(lock.fileno()):
                if time.monotonic() >= until:
                    raise BusyPlaceError(self._store.uri)
                time.sleep(_PAUSE)
            if not lock.tell():
                # `doctor` looks at the places that are noted.
                lock.write(self._store.uri.encode("utf-8", "surrogateescape"))
                lock.flush()
            # Elsewhere nothing but pipes can be handed on.
            yield (lock.fileno(),) if os.name == "posix" else ()


class _Run:
    """One attempt."""

    def __init__(
        self,
        store: Store,
        manner: Manner,
        before: Manifest,
        parts: Parts,
        *,
        anew: bool,
        holding: Sequence[int],
        former: Collection[str],
    ) -> None:
        self._store = store
        self._holding = holding
        self._manner = manner
        self._parts = parts
        self._every = parts.every()
        self._before = before
        self._anew = anew
        self._now: dict[str, WrittenPart] = dict(before.parts)
        self._machine = manner.prefix
        self._former = former
        self._torn: set[str] = set()
        self._strays: list[str] = []
        self._hidden = 0
        self._failed: dict[str, str] = {}
        self._unreadable: list[str] = []

    def run(self, jobs: int | None, progress: Progress | None) -> TablesWritten:
        self._look()
        changed = [part for part in self._every if not self._is_as_it_was(part)]
        if changed:
            # Files are there before they are noted: nobody takes them for strays meanwhile.
            self._save()
        removed = self._remove_gone() if self._parts.complete else 0
        self._write(changed, jobs, progress)
        if not self._before.finished:
            self._remove(lambda table, part: part in self._now and table not in self._now[part].rows)
        if changed or removed or not self._before.finished:
            self._save(finished=True)
        redactor = self._manner.redactor
        return TablesWritten(
            uri=self._store.uri,
            machine=self._manner.machine,
            schema_version=VERSION,
            parts=len(self._now),
            written=len(changed),
            removed=removed,
            rows=_summed(part.rows for part in self._now.values()),
            hidden=self._hidden,
            redacted=redactor.describe() if redactor else None,
            failed=self._failed,
            unreadable=self._unreadable,
            strays=self._strays,
        )

    def _look(self) -> None:
        """Find files of this machine that are damaged or gone, and files that no machine wrote."""
        noted = list(self._store.listed(FOLDER))
        machines = set(filter(_is_name, (Path(stored.name).stem for stored in noted)))
        missing = self._before.files()
        try:
            for stored in [stored for table in TABLES for stored in self._store.listed(table)]:
                self._look_at(stored, machines, missing)
        except PlaceError:
            # Folders of other users may be closed; what cannot be listed is neither damaged nor gone.
            self._torn.clear()
        else:
            self._torn |= {of[1] for name in missing if (of := part_of(name, self._machine))}

    def _look_at(
        self, stored: Stored, machines: Collection[str], missing: dict[str, tuple[str, int | None]]
    ) -> None:
        machine = machine_of(stored.name)
        of = part_of(stored.name, machine) if stored.is_plain else None
        if of and machine == self._machine:
            _, size = missing.pop(stored.name, ("", None))
            if size not in (None, stored.size):
                self._torn.add(of[1])
            if of[1] not in self._now and self._before.finished:
                self._strays.append(stored.name)
        elif of and machine in self._former and machine not in machines:
            # A release that knew no ids wrote it, and its manifest is lost.
            self._store.delete(stored.name)
        elif not (of and machine in machines) and may_be_read(stored):
            self._strays.append(stored.name)

    def _write(self, changed: Sequence[Part], jobs: int | None, progress: Progress | None) -> None:
        total, done = sum(part.sessions for part in changed), 0
        number = wanted_workers(jobs) if len(changed) > 1 else 0
        with Workers(number, f"{write_part.__module__}:write_part", self._holding) as workers:
            for some in self._in_order(changed):
                for part, wrote in zip(some, workers.answers(self._to_write(some)), strict=True):
                    self._note(part, wrote)
                    done += part.sessions
                    if progress:
                        progress(done, total)

    def _in_order(self, parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
        """Parts in the order in which they are written.

        What was part of another before leaves that one first: whoever reads meanwhile finds nothing twice.
        The largest come first: else one process may be left with it at the end.
        """
        ordered = sorted(parts, key=lambda part: (-part.sessions, part.name))
        for is_there in (True, False):
            yield [part for part in ordered if (part.name in self._before.parts) is is_there]

    def _is_as_it_was(self, part: Part) -> bool:
        before = self._before.parts.get(part.name)
        is_same = before is not None and before.digest == self._digest(part)
        return is_same and not self._anew and part.name not in self._torn

    def _digest(self, part: Part) -> str:
        """Of all that a part is made of, and of how."""
        priced = self._manner.costs.fingerprint if self._manner.costs else ""
        made = (part.digest, __version__, str(VERSION), self._hiding, self._manner.machine, priced)
        return blake2b("\0".join(made).encode(), digest_size=16).hexdigest()

    @property
    def _hiding(self) -> str:
        """What is left out and hidden."""
        words = "words" if self._manner.words else "no words"
        return f"{words}, {self._manner.redactor.fingerprint if self._manner.redactor else 'raw'}"

    def _to_write(self, parts: Sequence[Part]) -> Iterator[PartToWrite]:
        for part in parts:
            before = self._before.parts.get(part.name)
            yield PartToWrite(
                part.name,
                self._manner,
                list(self._parts.found(part)),
                part.problems,
                self._parts.projects,
                rows_may_stay=before is not None and before.hiding == self._hiding,
            )

    def _note(self, part: Part, wrote: WroteWhat) -> None:
        """Note what was written, so that whoever is stopped goes on from there."""
        self._hidden += wrote.hidden
        self._failed.update(wrote.failed)
        self._unreadable += wrote.unreadable
        gone = set(self._now[part.name].rows if part.name in self._now else ()) - set(wrote.rows)
        # What was left out, or could not be read, is tried again the next time.
        digest = "" if wrote.failed or wrote.unreadable else self._digest(part)
        self._now[part.name] = WrittenPart(digest, self._hiding, dict(wrote.rows), dict(wrote.sizes))
        self._save()
        for table in sorted(gone):
            self._store.delete(file_name(table, part.name, self._machine))

    def _remove_gone(self) -> int:
        """Remove the files of parts that are no more; those that nobody noted, where there may be any."""
        there = {part.name for part in self._every}
        gone = self._now.keys() - there
        for part in gone:
            for table in self._now.pop(part).rows:
                self._store.delete(file_name(table, part, self._machine))
        if not self._before.finished:
            self._remove(lambda _, part: part not in there)
        return len(gone)

    def _remove(self, is_over: Callable[[str, str], bool]) -> None:
        """Remove files of this machine, told by their table and part."""
        # What else lies there is not ours: there may be much of it, and folders that are closed.
        for folder in (*TABLES, *FORMER):
            for stored in list(self._store.listed(folder)):
                of = part_of(stored.name, self._machine)
                if of and is_over(*of):
                    self._store.delete(stored.name)

    def _save(self, *, finished: bool = False) -> None:
        parts = dict(sorted(self._now.items()))
        write_manifest(self._store, msgspec.structs.replace(self._before, parts=parts, finished=finished))


def _one_name(store: Store) -> str:
    """What a place is called, whatever leads there."""
    return os.path.realpath(store.uri) if isinstance(store, LocalStore) else store.uri.rstrip("/")


def _is_name(machine: str) -> bool:
    """Whether a machine can be called so: files are, too."""
    is_short = 1 <= len(machine) <= LONGEST_NAME
    return is_short and not set(machine) - _IN_NAMES and not machine.startswith(HIDDEN)


def _summed(counts: Collection[Mapping[str, int]] | Iterator[Mapping[str, int]]) -> dict[str, int]:
    summed: dict[str, int] = {}
    for count in counts:
        for name, number in count.items():
            summed[name] = summed.get(name, 0) + number
    return summed


def up_to_date_tables(library: Library, progress: Progress | None = None) -> str:
    """A folder of our own that holds all tables as they are now, with every word; nobody else sees it."""
    if library.data_folder is None:
        raise NoTablesFolderError
    homes = blake2b(
        "\0".join(sorted(library.searched_places)).encode("utf-8", "surrogatepass"), digest_size=8
    )
    folder = Path(library.data_folder, TABLES_FOLDER, f"{homes.hexdigest()}-{VERSION}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    writer = TablesWriter(library, Manner(str(folder), library.machine() or _OURS, files=_OURS))
    writer.bring_up_to_date(patience=_PATIENCE, progress=progress)
    return str(folder)
