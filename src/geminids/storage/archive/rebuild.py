"""The manifest made anew from the packs, and what a killed process has left behind its end.

    manifest.db.damaged-1    a list that could not be used, moved aside
    manifest.db.before-1     a list as it was before it was corrected or brought up to date

Of both kinds the last few stay. Nothing that a list knew is dropped because a pack does not say it: a pack
may be cut, empty or gone. What the rows of the former list say, as far as they are whole, goes into the new
one beside what the packs say; `keep verify` then names what cannot be read. Only what is forgotten leaves,
and with it all former lists.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from typing import NamedTuple

from geminids.core.atomic_files import sync_folder
from geminids.storage.archive.failures import BusyArchiveError, DamagedArchiveError, FailedToKeepError
from geminids.storage.archive.manifest import (
    Manifest,
    ReadableRows,
    manifest_in_memory,
    naming_damage,
    new_manifest,
    open_manifest,
    rows_as_far_as_whole,
)
from geminids.storage.archive.manifest_rows import (
    DamagedManifestError,
    EarlierManifestError,
    Pack,
    PlacedRecord,
    RecordRow,
    SegmentAddress,
)
from geminids.storage.archive.packs import (
    FIRST_LINE,
    first_record,
    opened_pack,
    pack_file,
    pack_size,
    packs_on_disk,
    packs_under_way,
    remove_files,
)
from geminids.storage.archive.reader import segment as read_segment
from geminids.storage.archive.records import Broken, Record, Segment, WrittenVersion, scan
from geminids.storage.archive.values import MANIFEST_FILE
from geminids.storage.index.database import closed_on_error

ASIDE = f"{MANIFEST_FILE}.damaged-"
BEFORE = f"{MANIFEST_FILE}.before-"
MOST_ASIDE = 3
"""So many former lists of each kind stay."""
_JOURNAL = "-journal"
_LITTLE_PATIENCE = 2.0
_MOMENT = 0.02


class FoundPack(NamedTuple):
    """What a pack says when it is read from its beginning."""

    pack: Pack
    records: list[Record]
    broken: list[Broken]

    def lacks(self, row: RecordRow) -> bool:
        """Whether a record that was once written here may be in what cannot be read, or is not there."""
        is_behind = row.offset >= self.pack.size
        return is_behind or any(stretch.offset <= row.offset < stretch.end for stretch in self.broken)


class _Filled(NamedTuple):
    """What a manifest was made of."""

    packs: int
    unread: int
    """Stretches of packs that could not be read."""
    unfound: int
    """Versions that only the former list tells of."""
    left_out: int
    """Rows of the former list that are not what was written."""


def manifest_to_write(folder: str, said: list[str], *, is_thorough: bool = False) -> tuple[Manifest, int]:
    """The manifest, in step with the packs, and how many bytes were cut off; the caller holds the lock."""
    try:
        with naming_damage(folder):
            manifest = _checked(_opened(folder)) if is_thorough else _opened(folder)
    except DamagedManifestError as error:
        manifest = _made_anew(folder, str(error), said)
    with closed_on_error(manifest):
        return manifest, catch_up(folder, manifest)


def _opened(folder: str) -> Manifest:
    """The manifest, one of an earlier release brought up to date. Raises DamagedManifestError."""
    try:
        manifest = open_manifest(folder, to_write=True)
    except EarlierManifestError:
        _bring_up_to_date(folder)
        manifest = open_manifest(folder, to_write=True)
    with closed_on_error(manifest):
        manifest.identity()
        return manifest


def _bring_up_to_date(folder: str) -> None:
    """Give the rows of an earlier release their checksums. Raises DamagedManifestError."""
    file = f"{folder}/{MANIFEST_FILE}"
    known = rows_as_far_as_whole(file)
    if known is None or known.left_out or known.identity is None:
        raise DamagedManifestError("it is of an earlier release, and damaged")
    new = f"{file}.new"
    remove_files([new, new + _JOURNAL])
    with closing(new_manifest(new)) as manifest, manifest.transaction():
        manifest.set_identity(*known.identity)
        manifest.put(known.versions, ())
        manifest.put_records(known.records)
        for pack in known.packs:
            manifest.put_pack(pack)
        manifest.note_last_number(known.last_number)
        manifest.set_dead_bytes(known.dead)
    keep_former(folder)
    os.replace(new, file)  # noqa: PTH105
    sync_folder(folder)


def mended(folder: str, reason: str, said: list[str]) -> Manifest:
    """The manifest for somebody who reads and found it damaged; in memory where nothing can be written."""
    from geminids.storage.archive.lock import alone

    until = time.monotonic() + _LITTLE_PATIENCE
    while True:
        with suppress(DamagedManifestError):
            # Another process was quicker, or was only about to make the first one.
            return _sound(folder)
        try:
            with alone(folder, 0):
                # Still damaged: then it is made anew, and that is said.
                with suppress(DamagedManifestError), naming_damage(folder):
                    return _checked(_opened(folder))
                return _made_anew(folder, reason, said)
        except BusyArchiveError:
            if time.monotonic() > until:
                return _in_memory(folder)
        except FailedToKeepError:
            return _in_memory(folder)
        except OSError as error:
            raise DamagedArchiveError(folder, error.strerror or str(error)) from error
        time.sleep(_MOMENT)


def _sound(folder: str) -> Manifest:
    """The manifest, if nothing is wrong with it. Raises DamagedManifestError."""
    with naming_damage(folder):
        return _checked(open_manifest(folder))


def _in_memory(folder: str) -> Manifest:
    manifest = manifest_in_memory(folder)
    with closed_on_error(manifest):
        _fill(folder, manifest)
        return manifest


def _checked(manifest: Manifest) -> Manifest:
    """The manifest, of which every page and every row was looked at. Raises DamagedManifestError."""
    with closed_on_error(manifest):
        with naming_damage(manifest.file):
            (answer,) = manifest.connection.execute("PRAGMA integrity_check(1)").fetchone()
            manifest.read_all()
        if answer != "ok":
            raise DamagedManifestError(answer)
        return manifest


def make_anew(folder: str, reason: str) -> None:
    """Make the manifest anew, where its damage was met late; the caller holds the lock."""
    _made_anew(folder, reason, []).close()


def _made_anew(folder: str, reason: str, said: list[str]) -> Manifest:
    """A manifest in the place of one that cannot be used, which is moved aside; the caller holds the lock."""
    file = f"{folder}/{MANIFEST_FILE}"
    new = f"{file}.new"
    remove_files([new, new + _JOURNAL])
    with closing(new_manifest(new)) as manifest:
        filled = _fill(folder, manifest)
    aside = _move_aside(folder)
    os.rename(new, file)  # noqa: PTH104
    sync_folder(folder)
    if filled.packs or filled.unfound:
        where = f" The damaged list is now {aside!r}." if aside else ""
        said.append(
            f"The list of the kept copies could not be read ({reason}) and was made again from the "
            f"copies.{_told(filled)}{where}"
        )
    return open_manifest(folder, to_write=True)


def _told(filled: _Filled) -> str:
    unread = f" {filled.unread} parts of them could not be read." if filled.unread else ""
    unfound = f" {filled.unfound} copies were only on the former list." if filled.unfound else ""
    if not unread and not unfound:
        return ""
    left_out = f" {filled.left_out} rows of that could not be read." if filled.left_out else ""
    return f"{unread}{unfound}{left_out} `geminids keep verify` shows more."


def _move_aside(folder: str) -> str | None:
    """Put a manifest that cannot be used where nobody takes it for a good one; where that is."""
    file = f"{folder}/{MANIFEST_FILE}"
    # First: a journal that stayed would be taken for one of the new file.
    remove_files([file + _JOURNAL])
    if not os.path.lexists(file):
        return None
    aside = _free_name(folder, ASIDE)
    os.rename(file, aside)  # noqa: PTH104
    return aside


def keep_former(folder: str) -> None:
    """Keep a copy of the manifest before it is corrected; the caller holds the lock, and has nothing open."""
    copy = _free_name(folder, BEFORE)
    made = f"{copy}.new"
    import shutil

    shutil.copyfile(f"{folder}/{MANIFEST_FILE}", made)
    os.chmod(made, 0o600)  # noqa: PTH101
    os.replace(made, copy)  # noqa: PTH105


def _free_name(folder: str, beginning: str) -> str:
    """The name of a former list; of those that are there, all but the last few are removed."""
    known = sorted(_numbers_of(folder, beginning))
    remove_files(f"{folder}/{beginning}{number}" for number in known[: 1 - MOST_ASIDE])
    return f"{folder}/{beginning}{1 + max(known, default=0)}"


def _numbers_of(folder: str, beginning: str) -> Iterator[int]:
    for name in os.listdir(folder):  # noqa: PTH208
        number = name.removeprefix(beginning)
        if name != number and number.isdecimal():
            yield int(number)


def former_lists(folder: str) -> list[str]:
    """All lists that were moved aside, and copies of lists; unfinished ones too."""
    return [f"{folder}/{name}" for name in os.listdir(folder) if name.startswith((ASIDE, BEFORE))]  # noqa: PTH208


def _fill(folder: str, manifest: Manifest) -> _Filled:
    """Fill an empty manifest from the packs, and from what former lists know beyond them."""
    found = found_packs(folder)
    former = rows_as_far_as_whole(f"{folder}/{MANIFEST_FILE}")
    placed = [
        PlacedRecord(pack.pack.number, record) for pack in found for record in pack.records if record.number
    ]
    said = {written.version.number: written for written in latest_versions(placed)}
    known = _known_before(folder, former)
    versions = {number: _better(said.get(number), known.get(number)) for number in {*said, *known}}
    lost = _lost_records(former, found)
    archives = Counter(record.archive for pack in found for record in pack.records)
    archive = archives.most_common(1)[0][0].hex() if archives else None
    if archive is None:
        archive = former.identity[0] if former and former.identity else os.urandom(16).hex()
    with manifest.transaction():
        # Nobody knows how often it was changed before: the clock is ahead of any count.
        manifest.set_identity(archive, int(time.time()) if found or versions else 0)
        manifest.put([written for written in versions.values() if written], placed)
        manifest.put_records(lost)
        for pack in [*(pack.pack for pack in found), *_lost_packs(former, found)]:
            manifest.put_pack(pack)
        manifest.note_last_number(former.last_number if former else 0)
    unread = sum(len(pack.broken) for pack in found)
    left_out = former.left_out if former else 0
    return _Filled(len(found), unread, len(known.keys() - said.keys()), left_out)


def _known_before(folder: str, former: ReadableRows | None) -> Mapping[int, WrittenVersion]:
    """The versions that former lists tell of, in their last states."""
    known: dict[int, WrittenVersion] = {}
    copies = (rows_as_far_as_whole(file) for file in former_lists(folder))
    for rows in (former, *copies):
        for written in rows.versions if rows else ():
            number = written.version.number
            if number not in known or known[number].revision < written.revision:
                known[number] = written
    return known


def _better(said: WrittenVersion | None, known: WrittenVersion | None) -> WrittenVersion | None:
    """Of what a record and a list say of a version, what is further; of the same, what was seen last."""
    if said is None or known is None:
        return said or known
    if known.revision > said.revision:
        return known
    return known if agree(known, said) else said


def agree(known: WrittenVersion, said: WrittenVersion) -> bool:
    """Whether a list has a version as its record has it, but for what files look like from outside."""
    return _unmoved(known) == _unmoved(said)


def _unmoved(written: WrittenVersion) -> WrittenVersion:
    return written._replace(version=written.version._replace(mtime_ns=0, inode=0, mode=0), is_imported=False)


def _lost_records(former: ReadableRows | None, found: Iterable[FoundPack]) -> list[RecordRow]:
    """Rows of the former list for records that are not to be found: their pack may come back."""
    by_number = {pack.pack.number: pack for pack in found}
    rows = former.records if former else ()
    return [row for row in rows if row.pack not in by_number or by_number[row.pack].lacks(row)]


def _lost_packs(former: ReadableRows | None, found: Iterable[FoundPack]) -> list[Pack]:
    """Packs of the former list that are gone, or shorter than it says."""
    there = {pack.pack.number: pack.pack for pack in found}
    packs = former.packs if former else ()
    return [pack for pack in packs if pack.number not in there or pack.size > there[pack.number].size]


def found_packs(folder: str) -> list[FoundPack]:
    """All packs that count, the oldest first: what another one replaces does not."""
    found = [pack for number in _numbers(folder) if (pack := _found_pack(folder, number)) is not None]
    replaced = {number for pack in found for number in pack.pack.replaces}
    return [pack for pack in found if pack.pack.number not in replaced]


def _numbers(folder: str) -> list[int]:
    try:
        return packs_on_disk(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _found_pack(folder: str, number: int) -> FoundPack | None:
    try:
        handle = opened_pack(folder, number)
    except OSError:
        return None
    try:
        first = first_record(handle)
        stretches = list(scan(handle, len(FIRST_LINE)))
        size = os.fstat(handle).st_size
    except OSError:
        # A disk that fails, or no plain file: what is in it is as good as gone.
        return None
    finally:
        os.close(handle)
    records = [stretch for stretch in stretches if isinstance(stretch, Record)]
    broken = [stretch for stretch in stretches if isinstance(stretch, Broken)]
    if first is None and not stretches:
        # No pack was ever shorter than what it says of itself.
        broken = [Broken(0, len(FIRST_LINE))]
    return FoundPack(Pack(number, size, first.replaces if first else ()), records, broken)


def latest_versions(placed: Iterable[PlacedRecord]) -> list[WrittenVersion]:
    """The last state of every version; an earlier one if that is all that can be read."""
    placed = list(placed)
    present = {entry.record.segment.digest for entry in placed if entry.record.segment is not None}
    states: dict[int, list[WrittenVersion]] = {}
    for entry in placed:
        if entry.record.written is not None:
            states.setdefault(entry.record.number, []).append(entry.record.written)

    def rank(written: WrittenVersion) -> tuple[bool, int]:
        return all(segment.digest in present for segment in written.segments), written.revision

    return [max(written, key=rank) for written in states.values()]


def catch_up(folder: str, manifest: Manifest) -> int:
    """Take in what a killed process wrote whole, and cut off the rest; how many bytes that was."""
    cut = 0
    remove_files(packs_under_way(folder))
    known = {pack.number: pack for pack in manifest.packs()}
    replaced = {number for pack in known.values() for number in pack.replaces}
    for number in packs_on_disk(folder):
        if number in known:
            if pack_size(folder, number) > known[number].size:
                cut += _take_in_tail(folder, manifest, known[number])
        elif number in replaced or _was_to_replace(folder, number, known):
            remove_files([pack_file(folder, number)])
        else:
            cut += _take_in_tail(folder, manifest, Pack(number, 0, ()))
    return cut


def _was_to_replace(folder: str, number: int, known: dict[int, Pack]) -> bool:
    """Whether a pack was to take the place of others, and did not get to it."""
    handle = opened_pack(folder, number)
    try:
        first = first_record(handle)
    finally:
        os.close(handle)
    return first is not None and bool(first.replaces) and all(pack in known for pack in first.replaces)


def _take_in_tail(folder: str, manifest: Manifest, known: Pack) -> int:
    handle = os.open(pack_file(folder, known.number), os.O_RDWR | os.O_CLOEXEC)
    try:
        archive = bytes.fromhex(manifest.identity()[0])
        # What the manifest has records of is never cut off, whatever it says of the size.
        known = known._replace(size=max(known.size, manifest.known_end(known.number)))
        start = known.size or len(FIRST_LINE)
        records = [stretch for stretch in scan(handle, start, archive) if isinstance(stretch, Record)]
        whole = [record for record in records if _is_whole(folder, known.number, record)]
        end = whole[-1].end if whole else known.size
        cut = os.fstat(handle).st_size - end
        if not end:
            if any(isinstance(stretch, Record) for stretch in scan(handle, start)):
                # Of another archive: whoever put it here may want it back.
                return 0
            remove_files([pack_file(folder, known.number)])
            return cut
        os.ftruncate(handle, end)
        os.fsync(handle)
    finally:
        os.close(handle)
    placed = [PlacedRecord(known.number, record) for record in whole if record.number]
    with manifest.transaction():
        manifest.put((), placed)
        manifest.put_pack(Pack(known.number, end, known.replaces))
        manifest.put([written for written in latest_versions(placed) if _is_news(manifest, written)], ())
    return cut


def _is_whole(folder: str, pack: int, record: Record) -> bool:
    if record.segment is None:
        return True
    try:
        read_segment(
            folder, SegmentAddress(pack, record.payload_offset, record.payload_length, record.segment)
        )
    except (OSError, ValueError):
        return False
    return True


def _is_news(manifest: Manifest, written: WrittenVersion) -> bool:
    """Whether a version is whole, and further than what is known of it."""
    known = manifest.written(written.version.number)
    if known is not None and known.revision >= written.revision:
        return False
    return all(manifest.place(Segment(*segment)) is not None for segment in written.segments)
