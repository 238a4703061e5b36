"""The manifest made anew from the packs, and what a killed process has left behind its end."""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from geminids.archive import MANIFEST_FILE
from geminids.archive.failures import BusyArchiveError, DamagedArchiveError, FailedToKeepError
from geminids.archive.manifest import (
    DamagedManifestError,
    Manifest,
    Pack,
    Place,
    PlacedRecord,
    manifest_in_memory,
    naming_damage,
    new_manifest,
    open_manifest,
)
from geminids.archive.packs import (
    FIRST_LINE,
    first_record,
    opened_pack,
    pack_file,
    packs_on_disk,
    packs_under_way,
    remove_files,
    sync_folder,
)
from geminids.archive.reading import segment as read_segment
from geminids.archive.records import Broken, Record, Segment, WrittenVersion, scan
from geminids.store.index import closed_on_error

ASIDE = f"{MANIFEST_FILE}.damaged-"
_JOURNAL = "-journal"
_LITTLE_PATIENCE = 2.0
_MOMENT = 0.02


class FoundPack(NamedTuple):
    """What a pack says when it is read from its beginning."""

    pack: Pack
    records: list[Record]
    broken: list[Broken]


def manifest_to_write(folder: str, said: list[str], *, is_thorough: bool = False) -> tuple[Manifest, int]:
    """The manifest, in step with the packs, and how many bytes were cut off; the caller holds the lock."""
    try:
        with naming_damage(folder):
            manifest = open_manifest(folder, to_write=True)
            with closed_on_error(manifest):
                manifest.identity()
                if is_thorough:
                    _check_all(manifest)
    except DamagedManifestError as error:
        manifest = _made_anew(folder, str(error), said)
    with closed_on_error(manifest):
        return manifest, catch_up(folder, manifest)


def mended(folder: str, reason: str, said: list[str]) -> Manifest:
    """The manifest for somebody who reads and found it damaged; in memory where nothing can be written."""
    from geminids.archive.keeping import alone

    until = time.monotonic() + _LITTLE_PATIENCE
    while True:
        with suppress(DamagedManifestError):
            # Another process was quicker, or was only about to make the first one.
            return _sound(folder)
        try:
            with alone(folder, 0):
                with suppress(DamagedManifestError):
                    return _sound(folder)
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
        manifest = open_manifest(folder)
        with closed_on_error(manifest):
            _check_all(manifest)
            return manifest


def _in_memory(folder: str) -> Manifest:
    manifest = manifest_in_memory(folder)
    with closed_on_error(manifest):
        rebuild(folder, manifest)
        return manifest


def _check_all(manifest: Manifest) -> None:
    """Look at every page and every row. Raises DamagedManifestError."""
    with naming_damage(manifest.file):
        (answer,) = manifest.connection.execute("PRAGMA integrity_check(1)").fetchone()
        manifest.read_all()
    if answer != "ok":
        raise DamagedManifestError(answer)


def _made_anew(folder: str, reason: str, said: list[str]) -> Manifest:
    """A manifest in the place of one that cannot be used, which is moved aside; the caller holds the lock."""
    file = f"{folder}/{MANIFEST_FILE}"
    new = f"{file}.new"
    remove_files([new, new + _JOURNAL])
    manifest = new_manifest(new)
    try:
        unread = rebuild(folder, manifest)
        packs = len(manifest.packs())
    finally:
        manifest.close()
    aside = move_aside(folder)
    os.rename(new, file)  # noqa: PTH104
    sync_folder(folder)
    if packs:
        lost = (
            f" {unread} stretches of them could not be read; `geminids keep verify` says more."
            if unread
            else ""
        )
        where = f" What was there lies in {aside!r}." if aside else ""
        said.append(
            f"The list of the kept copies could not be read ({reason}) and was made anew from the copies "
            f"themselves.{lost}{where}"
        )
    return open_manifest(folder, to_write=True)


def move_aside(folder: str) -> str | None:
    """Put a manifest that cannot be used where nobody takes it for a good one; where that is."""
    file = f"{folder}/{MANIFEST_FILE}"
    # First: a journal that stayed would be taken for one of the new file.
    remove_files([file + _JOURNAL])
    if not os.path.lexists(file):
        return None
    number = 1
    while os.path.lexists(aside := f"{folder}/{ASIDE}{number}"):
        number += 1
    os.rename(file, aside)  # noqa: PTH104
    return aside


def manifests_aside(folder: str) -> list[str]:
    """Manifests that were damaged and moved aside."""
    return [f"{folder}/{name}" for name in os.listdir(folder) if name.startswith(ASIDE)]  # noqa: PTH208


def rebuild(folder: str, manifest: Manifest) -> int:
    """Fill an empty manifest from the packs; how many stretches could not be read."""
    found = found_packs(folder)
    archives = Counter(record.archive for pack in found for record in pack.records)
    archive = archives.most_common(1)[0][0] if archives else secrets.token_bytes(16)
    placed = [
        PlacedRecord(pack.pack.number, record) for pack in found for record in pack.records if record.number
    ]
    with manifest.transaction():
        # Nobody knows how often it was changed before: the clock is ahead of any count.
        manifest.set_identity(archive.hex(), int(time.time()) if found else 0)
        manifest.put(latest_versions(placed), placed)
        for pack in found:
            manifest.put_pack(pack.pack)
    return sum(len(pack.broken) for pack in found)


def found_packs(folder: str) -> list[FoundPack]:
    """All packs that count, the oldest first: what another one replaces does not."""
    found = [pack for number in _numbers(folder) if (pack := _found_pack(folder, number)) is not None]
    replaced = {number for pack in found for number in pack.pack.replaces}
    return [pack for pack in found if pack.pack.number not in replaced]


def _numbers(folder: str) -> list[int]:
    try:
        return packs_on_disk(folder)
    except FileNotFoundError:
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
    finally:
        os.close(handle)
    records = [stretch for stretch in stretches if isinstance(stretch, Record)]
    broken = [stretch for stretch in stretches if isinstance(stretch, Broken)]
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
            if _size(folder, number) > known[number].size:
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
        read_segment(folder, Place(pack, record.payload_offset, record.payload_length, record.segment))
    except (OSError, ValueError):
        return False
    return True


def _is_news(manifest: Manifest, written: WrittenVersion) -> bool:
    """Whether a version is whole, and further than what is known of it."""
    known = manifest.written(written.version.number)
    if known is not None and known.revision >= written.revision:
        return False
    return all(manifest.place(Segment(*segment)) is not None for segment in written.segments)


def _size(folder: str, number: int) -> int:
    with suppress(OSError):
        return os.stat(pack_file(folder, number)).st_size  # noqa: PTH116
    return 0
