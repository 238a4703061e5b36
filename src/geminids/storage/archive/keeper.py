"""The one who keeps copies: what is new in a file, and the order in which it becomes durable.

First the bytes of the pack are really on the disk, then the manifest says so. Whoever is killed leaves at
most something behind the end that the manifest knows, which the next one takes in or cuts off.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.atomic_files import sync_folder
from geminids.storage.archive import packs
from geminids.storage.archive.compression import Packer
from geminids.storage.archive.failures import FailedToKeepError
from geminids.storage.archive.lock import trouble
from geminids.storage.archive.manifest import Manifest, naming_damage
from geminids.storage.archive.manifest_rows import DamagedManifestError, Pack, PlacedRecord, SegmentAddress
from geminids.storage.archive.packs import FOLDER as PACKS
from geminids.storage.archive.packs import (
    NewPack,
    packs_on_disk,
)
from geminids.storage.archive.reader import pieces
from geminids.storage.archive.records import Segment, WrittenVersion
from geminids.storage.archive.steady import Content, GivenContent, SteadyFile, TornError
from geminids.storage.archive.values import Version

if TYPE_CHECKING:
    from hashlib import _Hash

LARGEST = 1_000_000_000
"""Bytes; a larger file is no conversation, and would take minutes."""
LONGEST_SEGMENT = 8 << 20
"""Bytes of a segment: what is held in memory of a file of any size."""
ATTEMPTS = 3
"""How often a file is read that changes meanwhile."""
_PAUSE = 0.01
_MANY = 5_000
"""Records after which what was written is made durable, however small they are."""


@contextmanager
def naming_trouble(folder: str) -> Iterator[None]:
    """Turns what SQLite says while we write into errors of ours; the caller holds the lock."""
    from geminids.storage.archive.rebuild import make_anew

    try:
        with naming_damage(folder):
            yield
    except DamagedManifestError as error:
        # If this fails too, the list is still damaged, which the next one says and mends.
        with suppress(OSError, sqlite3.Error):
            make_anew(folder, str(error))
        raise FailedToKeepError(
            folder, f"their list is damaged ({error}); try again; it is made again"
        ) from error


class _Taken(NamedTuple):
    """What was read of a file, and how much of it is new."""

    digest: bytes
    segments: list[Segment]
    last: tuple[Segment, bytes] | None
    """A new segment that goes into one record with the version."""
    grown_from: WrittenVersion | None
    """The version that this is, or begins like this."""


class Put(NamedTuple):
    """A version that came from elsewhere, and whether it was not there yet."""

    version: Version
    is_new: bool


class _Mark(NamedTuple):
    commits: int
    pack: int | None
    size: int
    records: int


class Writer:
    """Keeps copies; to be had from `Archive.writing`."""

    def __init__(self, folder: str, manifest: Manifest, cut: int = 0) -> None:
        self.folder = folder
        self.manifest = manifest
        self.cut = cut
        """Bytes that a killed process had left half-written."""
        self.archive = bytes.fromhex(manifest.identity()[0])
        self._packer = Packer()
        self._next_number = manifest.next_number()
        self._pack: NewPack | None = None
        self._pack_is_new = False
        self._committed_size = 0
        self._commits = 0
        self._is_change = False
        self._dead_bytes = 0
        self._records: list[PlacedRecord] = []
        self._places: dict[bytes, SegmentAddress] = {}
        self._versions: dict[str, dict[int, WrittenVersion]] = {}
        """What the manifest does not know yet: versions by path and number."""

    def keep(self, agent: str, home: str, path: str) -> Version | None:
        """Keep a file as it is now; None if it changed whenever it was read.

        Raises OSError if it cannot be read, FailedToKeepError (or ArchiveFullError, which is one) if the copy
        cannot be written. A file with the content of its newest version makes no new one.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE * attempt)
            with SteadyFile(path) as file:
                mark = self._mark()
                known = self._known(path)
                newest = known[-1] if known else None
                try:
                    taken = self._take(file, newest)
                    file.check(taken.digest)
                except TornError:
                    self._back_to(mark)
                    continue
                except OSError:
                    self._back_to(mark)
                    raise
                now = max(time.time_ns() // 1000, newest.version.kept_at + 1 if newest else 0)
                facts = file.facts
                seen = Version(
                    *(0, agent, home, path, file.size, facts.st_mtime_ns, facts.st_ino, facts.st_mode),
                    *(taken.digest.hex(), now),
                )
                return self._settle(taken, seen, is_imported=False)
        return None

    def put(
        self, agent: str, home: str, path: str, content: bytes, *, mtime_ns: int, mode: int, kept_at: int
    ) -> Version:
        """Keep what another archive has kept."""
        given = GivenContent(content)
        put = self.put_content(agent, home, path, given, mtime_ns=mtime_ns, mode=mode, kept_at=kept_at)
        return put.version

    def put_content(
        self, agent: str, home: str, path: str, content: Content, *, mtime_ns: int, mode: int, kept_at: int
    ) -> Put:
        """The same for content of any size. What was kept here goes before what others have kept."""
        known = self._known(path)
        own = [written.version.kept_at for written in known if not written.is_imported]
        if own:
            kept_at = min(kept_at, max(own) - 1)
        before = [written for written in known if written.version.kept_at <= kept_at]
        after = known[len(before) : len(before) + 1]
        for later in after:
            if self._begins_like(later, content):
                return Put(later.version, is_new=False)
        taken = self._take(content, before[-1] if before else None)
        if taken.grown_from and taken.grown_from.version.digest == taken.digest.hex():
            return Put(taken.grown_from.version, is_new=False)
        self._is_change = True
        seen = Version(0, agent, home, path, content.size, mtime_ns, 0, mode, taken.digest.hex(), kept_at)
        return Put(self._settle(taken, seen, is_imported=True), is_new=True)

    def has(self, path: str, digest: str, kept_at: int) -> bool:
        """Whether this very version of a path is there."""
        return any(
            written.version.digest == digest and written.version.kept_at == kept_at
            for written in self._known(path)
        )

    def commit(self) -> None:
        """Make durable what was kept. Raises FailedToKeepError; then it is as it was after the last one."""
        if not self._records and not self._versions and not self._is_change:
            return
        try:
            self._sync_pack()
            with self.manifest.transaction():
                versions = [written for path in self._versions.values() for written in path.values()]
                self.manifest.put(versions, self._records)
                if self._pack is not None:
                    self.manifest.put_pack(Pack(self._pack.number, self._pack.size, ()))
                if self._dead_bytes:
                    self.manifest.set_dead_bytes(self.manifest.dead_bytes() + self._dead_bytes)
                if self._is_change:
                    self.manifest.note_change()
        except (OSError, sqlite3.OperationalError) as error:
            self.roll_back()
            raise trouble(self.folder, error) from error
        self._committed()

    def roll_back(self) -> None:
        """Take back what is not durable yet."""
        self._forget_pending()
        if self._pack is None:
            return
        if self._pack_is_new:
            self._pack.discard()
        else:
            self._pack.back_to(self._committed_size)
            self._pack.close()
        self._pack = None

    def close(self) -> None:
        """Let go of the pack."""
        if self._pack is not None:
            self._pack.close()
            self._pack = None

    def place(self, segment: Segment) -> SegmentAddress | None:
        """Where a segment lies, be it not yet durable."""
        return self._places.get(segment.digest) or self.manifest.place(segment)

    def rewrite_segment(self, number: int, segment: Segment, content: bytes) -> None:
        """Keep a segment once more, in place of a damaged one."""
        self._append(number, segment, None, self._packer.packed(content))
        self._is_change = True

    def rewrite_version(self, written: WrittenVersion) -> None:
        """Write once more what a version is, in place of a damaged record."""
        self._append(written.version.number, None, written, b"")
        self._is_change = True

    def note_change(self) -> None:
        """Something was changed other than by keeping."""
        self._is_change = True

    def _known(self, path: str) -> list[WrittenVersion]:
        """The versions of a path, also those that are not durable yet, the oldest first."""
        self.manifest.begin_reading()
        known = self.manifest.written_versions(path)
        pending = self._versions.get(path)
        if pending is None:
            return known
        merged = {written.version.number: written for written in known} | pending
        return sorted(merged.values(), key=_by_time)

    def _take(self, content: Content, base: WrittenVersion | None) -> _Taken:
        """Read content, and write those segments of it that are new, but for the last one."""
        if base is not None and base.version.size <= content.size:
            start, kept = _unswallowed(base.segments, content.size - base.version.size)
            digest = sha256()
            for offset in range(0, start, LONGEST_SEGMENT):
                digest.update(content.read_at(offset, min(LONGEST_SEGMENT, start - offset)))
            taken = self._take_rest(content, start, digest, kept, base)
            if taken is not None:
                return taken
        taken = self._take_rest(content, 0, sha256(), [], None)
        assert taken is not None
        return taken

    def _take_rest(
        self,
        content: Content,
        start: int,
        digest: _Hash,
        segments: list[Segment],
        base: WrittenVersion | None,
    ) -> _Taken | None:
        """Read from `start` on; None if the content does not begin like `base`."""
        last = None
        number = base.version.number if base else self._next_number
        offset = start
        if base is not None and offset == base.version.size and digest.hexdigest() != base.version.digest:
            return None
        while offset < content.size:
            if last is not None:
                self._append(number, last[0], None, last[1])
                self._commit_if_much()
            piece = content.read_at(offset, min(LONGEST_SEGMENT, content.size - offset))
            if base is not None and offset < base.version.size:
                # The swallowed segments are within the first piece.
                digest.update(piece[: base.version.size - offset])
                if digest.hexdigest() != base.version.digest:
                    return None
                digest.update(piece[base.version.size - offset :])
            else:
                digest.update(piece)
            is_all = len(piece) == content.size
            segment = Segment(digest.digest() if is_all else sha256(piece).digest(), len(piece))
            segments.append(segment)
            last = None if self.place(segment) else (segment, self._packer.packed(piece))
            offset += len(piece)
        return _Taken(digest.digest(), segments, last, base)

    def _settle(self, taken: _Taken, seen: Version, *, is_imported: bool) -> Version:
        """Note what was read as a version: the one that it has grown from, or a new one."""
        base = taken.grown_from
        # What is ours stays ours, whatever is imported on top of it.
        is_imported = is_imported and (base is None or base.is_imported)
        if base is not None and base.version.digest == seen.digest and base.is_imported == is_imported:
            return self._noted(base, seen)
        if base is None:
            number, revision = self._next_number, 0
            self._next_number += 1
        else:
            number, revision = base.version.number, base.revision + 1
            self._count_swallowed(base, taken)
        version = seen._replace(number=number)
        if base is not None and base.version.digest == seen.digest:
            version = version._replace(kept_at=base.version.kept_at)
        written = WrittenVersion(version, revision, taken.segments, is_imported)
        segment, payload = taken.last or (None, b"")
        self._append(number, segment, written, payload)
        self._versions.setdefault(seen.path, {})[number] = written
        self._commit_if_much()
        return version

    def _count_swallowed(self, base: WrittenVersion, taken: _Taken) -> None:
        swallowed = set(base.segments) - set(taken.segments)
        places = (self.place(segment) for segment in swallowed)
        self._dead_bytes += sum(place.length for place in places if place is not None)

    def _noted(self, known: WrittenVersion, seen: Version) -> Version:
        """The same content looks different from outside: no record says so, only the manifest."""
        version = seen._replace(number=known.version.number, kept_at=known.version.kept_at)
        if version != known.version:
            self._versions.setdefault(seen.path, {})[version.number] = known._replace(version=version)
        return version

    def _begins_like(self, written: WrittenVersion, content: Content) -> bool:
        """Whether content is the beginning of a version, or the whole of it."""
        if content.size > written.version.size:
            return False
        digest = sha256()
        for offset in range(0, content.size, LONGEST_SEGMENT):
            digest.update(content.read_at(offset, min(LONGEST_SEGMENT, content.size - offset)))
        return digest.digest() == self._digest_of_beginning(written, content.size)

    def _digest_of_beginning(self, written: WrittenVersion, size: int) -> bytes:
        if size == written.version.size:
            return bytes.fromhex(written.version.digest)
        if self._pack is not None:
            self._pack.flush()
        places = [self.place(segment) for segment in written.segments]
        digest = sha256()
        found = [place for place in places if place is not None]
        for piece in pieces(self.folder, written.version, found, self.place):
            digest.update(piece[:size])
            size -= min(size, len(piece))
        return digest.digest()

    def _append(
        self, number: int, segment: Segment | None, written: WrittenVersion | None, payload: bytes
    ) -> None:
        try:
            pack = self._pack or self._opened_pack()
            record = pack.append(number, segment, written, payload)
        except OSError as error:
            self.roll_back()
            raise trouble(self.folder, error) from error
        self._records.append(PlacedRecord(pack.number, record))
        if segment is not None:
            place = SegmentAddress(pack.number, record.payload_offset, record.payload_length, segment)
            self._places[segment.digest] = place

    def _opened_pack(self) -> NewPack:
        """The pack that is written to: the last one, if it is as long as we know and not full yet."""
        last = max(self.manifest.packs(), default=None)
        on_disk = packs_on_disk(self.folder)
        is_whole = last is not None and packs.pack_size(self.folder, last.number) == last.size
        self._pack_is_new = last is None or last.size >= packs.LIMIT or not is_whole
        if last is None or self._pack_is_new:
            number = 1 + max([*on_disk, last.number if last else 0])
            pack = NewPack(self.folder, number, self.archive)
            pack.create()
        else:
            pack = NewPack(self.folder, last.number, self.archive, size=last.size)
            pack.open()
        self._committed_size = pack.size
        self._pack = pack
        return pack

    def _sync_pack(self) -> None:
        if self._pack is None:
            return
        self._pack.sync()
        if self._pack_is_new:
            sync_folder(f"{self.folder}/{PACKS}")

    def _commit_if_much(self) -> None:
        is_full = self._pack is not None and self._pack.size >= packs.LIMIT
        if is_full or len(self._records) >= _MANY:
            self.commit()

    def _committed(self) -> None:
        self._commits += 1
        self._forget_pending()
        if self._pack is None:
            return
        self._pack_is_new = False
        self._committed_size = self._pack.size
        if self._pack.size >= packs.LIMIT:
            self.close()

    def _forget_pending(self) -> None:
        self._records.clear()
        self._places.clear()
        self._versions.clear()
        self._is_change = False
        self._dead_bytes = 0

    def _mark(self) -> _Mark:
        pack = self._pack
        return _Mark(
            self._commits, pack.number if pack else None, pack.size if pack else 0, len(self._records)
        )

    def _back_to(self, mark: _Mark) -> None:
        """Take back the segments of a file that turned out torn."""
        if mark.commits != self._commits or self._pack is None or mark.pack != self._pack.number:
            # Nothing refers to them; they go when their pack is written anew.
            return
        for placed in self._records[mark.records :]:
            if placed.record.segment is not None:
                self._places.pop(placed.record.segment.digest, None)
        del self._records[mark.records :]
        try:
            self._pack.flush()
            self._pack.back_to(mark.size)
        except OSError as error:
            self.roll_back()
            raise trouble(self.folder, error) from error


def _unswallowed(segments: Collection[Segment], growth: int) -> tuple[int, list[Segment]]:
    """The segments that stay when a file has grown by this, and how much of it they are.

    A new tail swallows the segments before it that are not larger than itself, as digits carry in a binary
    counter. So a file that grows a million times has some twenty segments, and each of its bytes is written
    again only when the segment it is in has at least doubled: as often as the logarithm of the growth.
    """
    kept = list(segments)
    while growth and kept and kept[-1].size <= growth and kept[-1].size + growth <= LONGEST_SEGMENT:
        growth += kept.pop().size
    return sum(segment.size for segment in kept), kept


def _by_time(written: WrittenVersion) -> tuple[int, int]:
    return written.version.kept_at, written.version.number
