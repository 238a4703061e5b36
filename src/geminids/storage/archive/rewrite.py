"""Packs written anew without what is no longer wanted.

The new pack is written beside the old ones and gets its name when it is whole, then the manifest is switched,
then the old ones go. Its first record names them, so that also without a manifest they never come back.
Of a pack that is gone the manifest goes on telling what was in it, but for what is forgotten.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.atomic_files import sync_folder
from geminids.storage.archive import packs as pack_files
from geminids.storage.archive.failures import FailedToKeepError
from geminids.storage.archive.manifest import Manifest
from geminids.storage.archive.manifest_rows import Pack, PlacedRecord, RecordRow
from geminids.storage.archive.packs import (
    NewPack,
    opened_pack,
    pack_file,
    pack_size,
    packs_on_disk,
    remove_files,
)
from geminids.storage.archive.rebuild import former_lists
from geminids.storage.archive.records import Segment, WrittenVersion

if TYPE_CHECKING:
    from geminids.storage.archive.keeper import Writer

_DEAD_SHARE = 3
"""Packs are written anew when one in so many bytes is dead."""
_LEAST_DEAD = 4 << 20
"""Bytes that may be dead all the same."""


class _Wanted(NamedTuple):
    """What is to stay."""

    versions: dict[int, WrittenVersion]
    segments: dict[bytes, tuple[int, int]]
    """Where each one lies: pack, and offset of its payload."""


def remove(writer: Writer, numbers: Collection[int]) -> int:
    """Forget versions for good; how many bytes the packs are smaller by."""
    writer.commit()
    manifest = writer.manifest
    known = [written for number in set(numbers) if (written := manifest.written(number)) is not None]
    if not known:
        return 0
    writer.close()
    gone = {written.version.number for written in known}
    segments = {segment.digest for written in known for segment in written.segments}
    touched = {row.pack for row in manifest.records() if row.number in gone or row.segment in segments}
    # What was once moved aside still holds their names.
    remove_files(former_lists(writer.folder))
    return _rewrite(writer, sorted(touched), gone)


def tidy(writer: Writer) -> None:
    """Write those packs anew that are full of segments which larger ones have swallowed."""
    # It is only for the sake of room: without room for it, it has to wait.
    with suppress(FailedToKeepError, sqlite3.OperationalError):
        _tidy(writer)


def _tidy(writer: Writer) -> None:
    manifest = writer.manifest
    packs = manifest.packs()
    size = sum(pack.size for pack in packs)
    least = max(_LEAST_DEAD, size // _DEAD_SHARE)
    # Only an estimate, but to know exactly takes longer than most of what is kept at a time.
    if manifest.dead_bytes() < least:
        return
    wanted = _wanted(manifest, ())
    dead = {pack.number: pack.size - _live_bytes(manifest, pack, wanted) for pack in packs}
    with manifest.transaction():
        manifest.set_dead_bytes(sum(dead.values()))
    worst = [pack for pack in packs if dead[pack.number] * _DEAD_SHARE >= pack.size]
    # One that is cut is left as it is: somebody may have a whole one to put in its place.
    whole = [pack.number for pack in worst if pack_size(writer.folder, pack.number) >= pack.size]
    if whole and sum(dead.values()) >= least:
        writer.close()
        _rewrite(writer, whole, frozenset())


def _wanted(manifest: Manifest, without: Collection[int]) -> _Wanted:
    versions = {
        written.version.number: written
        for written in manifest.all_written()
        if written.version.number not in without
    }
    segments = {}
    for digest in {segment.digest for written in versions.values() for segment in written.segments}:
        place = manifest.place(Segment(digest, 0))
        if place is not None:
            segments[digest] = (place.pack, place.offset)
    return _Wanted(versions, segments)


def _live_bytes(manifest: Manifest, pack: Pack, wanted: _Wanted) -> int:
    return sum(
        row.payload_offset - row.offset + (row.payload_length if keeps_segment else 0)
        for row in manifest.records(pack.number)
        for keeps_segment in [_keeps_segment(row, wanted)]
        if keeps_segment or _keeps_version(row, wanted)
    )


def _keeps_segment(row: RecordRow, wanted: _Wanted) -> bool:
    return row.segment is not None and wanted.segments.get(row.segment) == (row.pack, row.payload_offset)


def _keeps_version(row: RecordRow, wanted: _Wanted) -> bool:
    written = wanted.versions.get(row.number)
    return row.revision is not None and written is not None and written.revision == row.revision


def _rewrite(writer: Writer, packs: Sequence[int], without: Collection[int]) -> int:
    from geminids.storage.archive.lock import trouble

    manifest = writer.manifest
    packs = _on_disk(writer, packs)
    wanted = _wanted(manifest, without)
    made: list[tuple[NewPack, list[PlacedRecord]]] = []
    sizes = {pack.number: pack.size for pack in manifest.packs()}
    number = max([*packs_on_disk(writer.folder), *sizes], default=0)
    try:
        for group in _groups(manifest, packs, wanted):
            number += 1
            made.append(_written_anew(writer, number, group, wanted))
        _switch(writer, packs, made, without, wanted)
    except (OSError, sqlite3.OperationalError) as error:
        for pack, _ in made:
            pack.discard()
        raise trouble(writer.folder, error) from error
    remove_files(pack_file(writer.folder, pack) for pack in packs)
    sync_folder(f"{writer.folder}/{pack_files.FOLDER}")
    _drop_empty(writer, made)
    return sum(sizes[pack] for pack in packs) - sum(pack.size for pack, records in made if records)


def _groups(manifest: Manifest, packs: Sequence[int], wanted: _Wanted) -> Iterable[list[int]]:
    """Packs that fit into one together."""
    group: list[int] = []
    size = 0
    for pack in packs:
        live = _live_bytes(manifest, Pack(pack, 0, ()), wanted)
        if group and size + live > pack_files.LIMIT:
            yield group
            group, size = [], 0
        group.append(pack)
        size += live
    if group:
        yield group


def _written_anew(
    writer: Writer, number: int, packs: Sequence[int], wanted: _Wanted
) -> tuple[NewPack, list[PlacedRecord]]:
    new = NewPack(writer.folder, number, writer.archive)
    placed: list[PlacedRecord] = []
    try:
        new.create([*packs, *_replaced_before(writer, packs)], under_way=True)
        for pack in packs:
            placed += _copied(writer, pack, new, wanted)
        new.finish()
    except BaseException:
        new.discard()
        raise
    return new, placed


def _replaced_before(writer: Writer, packs: Sequence[int]) -> list[int]:
    """Packs that could not be removed when these took their place."""
    known = {pack.number: pack for pack in writer.manifest.packs()}
    return _on_disk(writer, [old for pack in packs if pack in known for old in known[pack].replaces])


def _on_disk(writer: Writer, packs: Sequence[int]) -> list[int]:
    return [pack for pack in packs if os.path.lexists(pack_file(writer.folder, pack))]


def _copied(writer: Writer, pack: int, new: NewPack, wanted: _Wanted) -> Iterable[PlacedRecord]:
    """What is to stay of a pack, as it lies there: also what is damaged may still be healed."""
    handle = opened_pack(writer.folder, pack)
    try:
        for row in writer.manifest.records(pack):
            segment, payload = None, b""
            if _keeps_segment(row, wanted):
                payload = os.pread(handle, row.payload_length, row.payload_offset)
                assert row.segment is not None
                segment = Segment(row.segment, row.size or 0)
            written = wanted.versions[row.number] if _keeps_version(row, wanted) else None
            if segment is not None or written is not None:
                yield PlacedRecord(new.number, new.append(row.number, segment, written, payload))
    finally:
        os.close(handle)


def _switch(
    writer: Writer,
    packs: Sequence[int],
    made: Sequence[tuple[NewPack, list[PlacedRecord]]],
    without: Collection[int],
    wanted: _Wanted,
) -> None:
    manifest = writer.manifest
    with manifest.transaction():
        manifest.note_last_number()
        for number in without:
            manifest.drop_version(number)
        for old in packs:
            manifest.drop_pack(old)
        # What is left of them is in packs that are gone.
        for row in manifest.records() if without else ():
            if row.number in without and not _keeps_segment(row, wanted):
                manifest.drop_record(row)
        groups = iter(made)
        for new, placed in groups:
            manifest.put((), placed)
            manifest.put_pack(Pack(new.number, new.size, new.replaces))
        manifest.set_dead_bytes(0)
        if without:
            manifest.note_change()


def _drop_empty(writer: Writer, made: Sequence[tuple[NewPack, list[PlacedRecord]]]) -> None:
    """Packs of which nothing was wanted: they only had to say that the old ones are gone."""
    empty = [new for new, placed in made if not placed and not _on_disk(writer, new.replaces)]
    if not empty:
        return
    with writer.manifest.transaction():
        for new in empty:
            writer.manifest.drop_pack(new.number)
    remove_files(pack_file(writer.folder, new.number) for new in empty)
