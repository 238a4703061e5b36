"""All copies read and compared with their digests; what is damaged is named, and healed where that can be.

A segment is healed from the original if that still is what was kept, a record that cannot be read from the
manifest, and the manifest from the records. The manifest gets no smaller by it: what it knows of a pack that
is cut, empty or gone is damage, and stays on the list. Before it is corrected, a copy of it is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from operator import attrgetter
from typing import NamedTuple

from geminids.core.grouping import grouped
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.exclusive import writing
from geminids.storage.archive.keeper import Writer
from geminids.storage.archive.manifest import Manifest
from geminids.storage.archive.manifest_rows import PlacedRecord, RecordRow, SegmentAddress, record_row
from geminids.storage.archive.reader import said_of, segment
from geminids.storage.archive.rebuild import FoundPack, agree, found_packs, keep_former, latest_versions
from geminids.storage.archive.records import Broken, Segment, WrittenVersion
from geminids.storage.archive.values import PATIENCE, Damage, Verified, Version

Original = Callable[[Version], bytes | None]
Progress = Callable[[int, int], None]
"""Is told how many bytes of content were read, of how many."""
_WORKERS = 2
_IN_FLIGHT = 4
_BATCH = 2 << 20
"""Bytes of packed segments that are read at once."""


class _Fault(NamedTuple):
    place: SegmentAddress
    what: str


def verify(archive: Archive, original: Original, progress: Progress | None = None) -> Verified:
    """Read everything, heal what can be healed. Raises BusyArchiveError, FailedToKeepError."""
    if not archive.exists():
        return Verified(0, 0, (), (), 0)
    # Whoever opened the library may already have mended the list.
    mended = list(archive.said)
    with writing(archive.folder, mended, PATIENCE, None, is_thorough=True) as writer:
        found = found_packs(archive.folder)
        mended += _brought_in_step(writer, found)
        versions = writer.manifest.all_written()
        places, missing = _places(writer, versions)
        faults = [*missing, *_faults(archive.folder, places, progress)]
        broken = _heal_records(writer, found, versions, {fault.place.segment.digest for fault in faults})
        if broken:
            mended.append(f"{broken} records could not be read and were written again from the list.")
        damage = _heal_segments(writer, versions, faults, original)
        _forget_missing_packs(writer, found)
        size = sum(place.segment.size for place in places)
        return Verified(len(versions), size, damage, mended, writer.cut)


def _brought_in_step(writer: Writer, found: Sequence[FoundPack]) -> list[str]:
    """Correct what the manifest has otherwise than the packs; what was wrong.

    A version that is in no record stays on the list: it was durable, so its record is lost, not the version.
    """
    manifest = writer.manifest
    placed = [
        PlacedRecord(pack.pack.number, record) for pack in found for record in pack.records if record.number
    ]
    known = {written.version.number: written for written in manifest.all_written()}
    said = {written.version.number: written for written in latest_versions(placed)}
    wrong = [written for number, written in said.items() if not _is_known(known.get(number), written)]
    real, rows = {record_row(entry) for entry in placed}, set(manifest.records())
    strange = _strange_rows(rows - real, found)
    if not (wrong or real - rows or strange):
        return []
    keep_former(writer.folder)
    with manifest.transaction():
        for row in strange:
            manifest.drop_record(row)
        manifest.put(wrong, [entry for entry in placed if record_row(entry) not in rows])
    writer.note_change()
    return ["The list of the kept copies was not what the copies themselves say, and was corrected."]


def _strange_rows(rows: Iterable[RecordRow], found: Sequence[FoundPack]) -> list[RecordRow]:
    """Rows for records that are not there, and not only cannot be read."""
    by_number = {pack.pack.number: pack for pack in found}
    return [row for row in rows if row.pack in by_number and not by_number[row.pack].lacks(row)]


def _missing_packs(manifest: Manifest, found: Sequence[FoundPack]) -> set[int]:
    return {pack.number for pack in manifest.packs()} - {pack.pack.number for pack in found}


def _forget_missing_packs(writer: Writer, found: Sequence[FoundPack]) -> None:
    """Take packs from the manifest that are gone, once nothing lies in them any more."""
    writer.commit()
    manifest = writer.manifest
    for number in _missing_packs(manifest, found):
        places = [manifest.place(wanted) for written in manifest.all_written() for wanted in written.segments]
        if not any(place is not None and place.pack == number for place in places):
            with manifest.transaction():
                manifest.drop_pack(number)


def _is_known(known: WrittenVersion | None, said: WrittenVersion) -> bool:
    """Whether the manifest has a version as its record has it, or further than any that can be read."""
    return known is not None and (known.revision > said.revision or agree(known, said))


def _places(writer: Writer, versions: Sequence[WrittenVersion]) -> tuple[list[SegmentAddress], list[_Fault]]:
    """Where all segments lie, in the order of the disk; and those that lie nowhere."""
    places, missing = [], []
    for wanted in {wanted for written in versions for wanted in written.segments}:
        place = writer.place(wanted)
        if place is None or place.segment != wanted:
            missing.append(_Fault(SegmentAddress(0, 0, 0, wanted), "a part of it is not there"))
        else:
            places.append(place)
    return sorted(places, key=lambda place: (place.pack, place.offset)), missing


def _faults(folder: str, places: Sequence[SegmentAddress], progress: Progress | None) -> Iterator[_Fault]:
    """Read segments, a few at a time; which are damaged."""
    done, total = 0, sum(place.segment.size for place in places)
    waiting: deque[tuple[Future[list[_Fault]], int]] = deque()
    with ThreadPoolExecutor(_WORKERS) as workers:
        for batch in grouped(places, attrgetter("length"), _BATCH):
            waiting.append(
                (workers.submit(_checked, folder, batch), sum(place.segment.size for place in batch))
            )
            while len(waiting) >= _IN_FLIGHT:
                future, size = waiting.popleft()
                yield from future.result()
                done += size
                if progress:
                    progress(done, total)
        for future, size in waiting:
            yield from future.result()
            done += size
            if progress:
                progress(done, total)


def _checked(folder: str, places: Sequence[SegmentAddress]) -> list[_Fault]:
    faults = []
    for place in places:
        try:
            segment(folder, place)
        except (OSError, ValueError) as error:
            faults.append(_Fault(place, said_of(error)))
    return faults


def _heal_records(
    writer: Writer, found: Sequence[FoundPack], versions: Sequence[WrittenVersion], damaged: set[bytes]
) -> int:
    """Write records anew that cannot be read: without them a new manifest would lack what they say."""
    by_number = {written.version.number: written for written in versions}
    readable = {
        (record.number, record.written.revision)
        for pack in found
        for record in pack.records
        if record.written is not None
    }
    lost = [written for number, written in by_number.items() if (number, written.revision) not in readable]
    unreadable = _unreadable_segments(writer, found, versions, damaged)
    for number, wanted, place in unreadable:
        writer.rewrite_segment(number, wanted, segment(writer.folder, place))
    for written in lost:
        writer.rewrite_version(written)
    return len(lost) + len(unreadable)


def _unreadable_segments(
    writer: Writer, found: Sequence[FoundPack], versions: Sequence[WrittenVersion], damaged: set[bytes]
) -> list[tuple[int, Segment, SegmentAddress]]:
    """Segments that are whole, in records that are not."""
    stretches = {pack.pack.number: pack.broken for pack in found if pack.broken}
    numbers = {wanted: written.version.number for written in versions for wanted in written.segments}
    return [
        (number, wanted, place)
        for wanted, number in numbers.items()
        if wanted.digest not in damaged
        and (place := writer.place(wanted)) is not None
        and any(_is_in(place, stretch) for stretch in stretches.get(place.pack, ()))
    ]


def _is_in(place: SegmentAddress, stretch: Broken) -> bool:
    return stretch.offset <= place.offset < stretch.end


def _heal_segments(
    writer: Writer, versions: Sequence[WrittenVersion], faults: Sequence[_Fault], original: Original
) -> list[Damage]:
    """Keep segments once more that are damaged, where the original still is what was kept."""
    by_segment = {fault.place.segment: fault for fault in faults}
    healed: set[Segment] = set()
    for written in versions:
        if any(wanted in by_segment and wanted not in healed for wanted in written.segments):
            healed |= _healed(writer, written, by_segment.keys() - healed, original)
    return [
        Damage(written.version, fault.what, fault.place.pack, fault.place.offset, wanted in healed)
        for written in versions
        for wanted in written.segments
        if (fault := by_segment.get(wanted)) is not None
    ]


def _healed(
    writer: Writer, written: WrittenVersion, damaged: set[Segment], original: Original
) -> set[Segment]:
    content = original(written.version)
    if content is None or sha256(content).hexdigest() != written.version.digest:
        return set()
    healed = set()
    offset = 0
    for wanted in written.segments:
        piece = content[offset : offset + wanted.size]
        offset += wanted.size
        if wanted in damaged and sha256(piece).digest() == wanted.digest:
            writer.rewrite_segment(written.version.number, wanted, piece)
            healed.add(wanted)
    return healed
