"""Rows of the manifest, and the values they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from zlib import crc32

from geminids.storage.archive.records import DIGEST_SIZE, Record, Segment, WrittenVersion
from geminids.storage.archive.values import Version
from geminids.storage.checksums import summed
from geminids.storage.paths import opened, stored

STRANGE = "a row has values that nobody wrote"
LARGEST = 1 << 48
"""No pack and no segment has as many bytes."""
_SIZE_LENGTH = 8
_PART = DIGEST_SIZE + _SIZE_LENGTH
_FACTS = len(Version._fields)


class DamagedManifestError(Exception):
    """A manifest that cannot be used as it is, and is made anew from the packs."""


class EarlierManifestError(DamagedManifestError):
    """A manifest of an earlier release: whoever holds the lock brings it up to date."""


class SegmentAddress(NamedTuple):
    """Where a segment lies."""

    pack: int
    offset: int
    length: int
    segment: Segment


class Pack(NamedTuple):
    """A pack as far as the manifest knows it."""

    number: int
    size: int
    replaces: Sequence[int]


class RecordRow(NamedTuple):
    """A record as the manifest knows it."""

    pack: int
    offset: int
    payload_offset: int
    payload_length: int
    number: int
    revision: int | None
    segment: bytes | None
    size: int | None

    @property
    def end(self) -> int:
        """Where the next record begins."""
        return self.payload_offset + self.payload_length


class PlacedRecord(NamedTuple):
    """A record, and the pack it is in."""

    pack: int
    record: Record


def version_of(row: Sequence[Any]) -> Version:
    """A version as its row has it. Raises DamagedManifestError."""
    match row[:_FACTS]:
        case (
            int(number),
            str(agent),
            str() | bytes() as home,
            str() | bytes() as path,
            int(size),
            int() | str() as mtime_ns,
            int() | str() as inode,
            int(mode),
            bytes(digest),
            int(kept_at),
        ):
            facts = (size, _whole(mtime_ns), _whole(inode), mode)
            return Version(number, agent, opened(home), opened(path), *facts, digest.hex(), kept_at)
        case _:
            raise DamagedManifestError(STRANGE)


def written_of(row: Sequence[Any]) -> WrittenVersion:
    """A version and its segments as its row has them. Raises DamagedManifestError."""
    version = version_of(row)
    revision, parts, is_imported, _ = row[_FACTS:]
    if type(revision) is not int or not isinstance(parts, bytes | None) or len(parts or b"") % _PART:
        raise DamagedManifestError(STRANGE)
    if parts is None:
        whole = Segment(bytes.fromhex(version.digest), version.size)
        return WrittenVersion(version, revision, [whole], bool(is_imported))
    segments = [
        Segment(parts[at : at + DIGEST_SIZE], int.from_bytes(parts[at + DIGEST_SIZE : at + _PART], "big"))
        for at in range(0, len(parts), _PART)
    ]
    return WrittenVersion(version, revision, segments, bool(is_imported))


def version_row(written: WrittenVersion) -> tuple[Any, ...]:
    """A version as the manifest has it, with its checksum."""
    number, agent, home, path, size, mtime_ns, inode, mode, digest, kept_at = written.version
    return summed(
        (
            *(number, agent, stored(home), stored(path), size, _fitting(mtime_ns), _fitting(inode), mode),
            *(bytes.fromhex(digest), kept_at, written.revision, _parts(written), int(written.is_imported)),
            path_key(stored(path)),
        )
    )


def _parts(written: WrittenVersion) -> bytes | None:
    """The segments of a version; None for most, which have one that is all of it."""
    if len(written.segments) == 1:
        return None
    return b"".join(
        segment.digest + segment.size.to_bytes(_SIZE_LENGTH, "big") for segment in written.segments
    )


def _fitting(number: int) -> int | str:
    # Some systems have inodes, and files times, that SQLite has no room for.
    return number if -(1 << 63) <= number < 1 << 63 else str(number)


def _whole(number: int | str) -> int:
    try:
        return int(number)
    except ValueError as error:
        raise DamagedManifestError(STRANGE) from error


def path_key(path: str | bytes) -> int:
    """A number that few paths share."""
    # To have all paths twice, here and in an index, would make a third of the manifest.
    return crc32(path.encode() if isinstance(path, str) else path)


def keyed(path: str) -> tuple[int, str | bytes]:
    """What a path is looked for by."""
    return path_key(stored(path)), stored(path)


def record_row(placed: PlacedRecord) -> RecordRow:
    """A record as the manifest has it."""
    record = placed.record
    segment, size = record.segment or (None, None)
    revision = record.written.revision if record.written else None
    place = (placed.pack, record.offset, record.payload_offset, record.payload_length)
    return RecordRow(*place, record.number, revision, segment, size)


def record_of(row: Sequence[Any]) -> RecordRow:
    """A record as its row has it. Raises DamagedManifestError."""
    known = RecordRow(*row)
    numbers = [number for number in (*known[:6], known.size) if number is not None]
    is_plausible = all(type(number) is int and 0 <= number < LARGEST for number in numbers)
    if not is_plausible or not isinstance(known.segment, bytes | None):
        raise DamagedManifestError(STRANGE)
    return known


def pack_of(row: Sequence[Any]) -> Pack:
    """A pack as its row has it. Raises DamagedManifestError."""
    match row:
        case (int(number), int(size), str(replaces)) if 0 <= size < LARGEST:
            return Pack(number, size, tuple(map(_whole, replaces.split())))
        case _:
            raise DamagedManifestError(STRANGE)


def folder_of(home: object) -> str:
    """A folder as a row has it. Raises DamagedManifestError."""
    if not isinstance(home, str | bytes):
        raise DamagedManifestError(STRANGE)
    return opened(home)
