"""What a pack consists of: records that can be understood without anything else.

    magic 8 · id of the archive 16 · length of the header 4 · length of the payload 8 · checksum 4
    header: JSON, all that is needed to make the manifest anew
    payload: one segment, packed

The checksum covers all before the payload but the magic; the payload is covered by the digest of its content,
which the header names. A header is one of these:

    {"pack": 3, "replaces": [1, 2]}                                the first record of every pack
    {"of": 17, "segment": "<sha256>", "size": 5, "version": {…}}   a segment, a version, or both

If the segment is all of the version it is not named again.

`of` is the number of the version a segment was written for, also if it takes more records to be whole.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from geminids.storage.archive.values import Version

MAGIC = b"\x91gKept\xd7\n"
_PREFIX = struct.Struct(">8s16sIQI")
_COVERED = struct.Struct(">16sIQ")
PREFIX_SIZE = _PREFIX.size
_LONGEST_HEADER = 1 << 26
"""Bytes of a header: a file of a terabyte has so many segments. What is longer is damage."""
_USUAL_HEADER = 4096
_PIECE = 1 << 20
DIGEST_SIZE = 32


class Segment(NamedTuple):
    """A piece of a file's content."""

    digest: bytes
    size: int


class WrittenVersion(NamedTuple):
    """A version as a record has it."""

    version: Version
    revision: int
    """How often it has grown: of two records of one version the later one counts."""
    segments: Sequence[Segment]
    is_imported: bool


class Record(NamedTuple):
    """A record of a pack, without its payload."""

    offset: int
    header_length: int
    payload_length: int
    number: int
    """Of the version it was written for; 0 in the first record of a pack."""
    segment: Segment | None
    written: WrittenVersion | None
    replaces: Sequence[int] = ()
    """Packs that were written anew with this one; only in the first record."""
    archive: bytes = b""

    @property
    def payload_offset(self) -> int:
        """Where the payload begins."""
        return self.offset + PREFIX_SIZE + self.header_length

    @property
    def end(self) -> int:
        """Where the next record begins."""
        return self.payload_offset + self.payload_length


class Broken(NamedTuple):
    """A stretch of a pack in which no record can be made out."""

    offset: int
    end: int


def begin(archive: bytes, header: dict[str, Any], payload_length: int) -> bytes:
    """All of a record that stands before its payload."""
    text = json.dumps(header, separators=(",", ":")).encode()
    check = crc32(text, crc32(_COVERED.pack(archive, len(text), payload_length)))
    return _PREFIX.pack(MAGIC, archive, len(text), payload_length, check) + text


def pack_header(number: int, replaces: Sequence[int]) -> dict[str, Any]:
    """What the first record of a pack says."""
    return {"pack": number, "replaces": list(replaces)}


def header(number: int, segment: Segment | None, written: WrittenVersion | None) -> dict[str, Any]:
    """What any other record says."""
    header: dict[str, Any] = {"of": number}
    if segment is not None and not _is_whole(segment, written):
        header |= {"segment": segment.digest.hex(), "size": segment.size}
    if written is not None:
        header["version"] = _version_fields(written)
    return header


def _is_whole(segment: Segment, written: WrittenVersion | None) -> bool:
    return written is not None and list(written.segments) == [segment]


def _version_fields(written: WrittenVersion) -> dict[str, Any]:
    # Names that are no text hold half characters, which JSON can spell.
    header = written.version._asdict()
    del header["number"]
    header["revision"] = written.revision
    if written.is_imported:
        header["imported"] = True
    if len(written.segments) != 1:
        header["segments"] = [[segment.digest.hex(), segment.size] for segment in written.segments]
    return header


def record_at(handle: int, offset: int) -> Record | None:
    """The record that begins here; None if none does, or not all of it is there."""
    known = os.pread(handle, PREFIX_SIZE + _USUAL_HEADER, offset)
    if len(known) < PREFIX_SIZE:
        return None
    magic, archive, length, payload_length, check = _PREFIX.unpack_from(known)
    if magic != MAGIC or length > _LONGEST_HEADER:
        return None
    text = known[PREFIX_SIZE : PREFIX_SIZE + length]
    if len(text) < length:
        text += os.pread(handle, length - len(text), offset + PREFIX_SIZE + len(text))
    if len(text) < length or check != crc32(text, crc32(_COVERED.pack(archive, length, payload_length))):
        return None
    read = _read(json.loads(text), archive, offset, length, payload_length)
    return read if read.end <= os.fstat(handle).st_size else None


def _read(header: dict[str, Any], archive: bytes, offset: int, length: int, payload_length: int) -> Record:
    if "pack" in header:
        return Record(offset, length, payload_length, 0, None, None, header["replaces"], archive)
    number = header["of"]
    written = _read_version(number, header["version"]) if "version" in header else None
    segment = None
    if "segment" in header:
        segment = Segment(bytes.fromhex(header["segment"]), header["size"])
    elif written is not None and payload_length:
        segment = written.segments[0]
    return Record(offset, length, payload_length, number, segment, written, (), archive)


def _read_version(number: int, header: dict[str, Any]) -> WrittenVersion:
    version = Version(number, *(header[name] for name in Version._fields[1:]))
    if "segments" in header:
        segments = [Segment(bytes.fromhex(digest), size) for digest, size in header["segments"]]
    else:
        segments = [Segment(bytes.fromhex(version.digest), version.size)]
    return WrittenVersion(version, header["revision"], segments, header.get("imported", False))


def scan(handle: int, offset: int, archive: bytes | None = None) -> Iterator[Record | Broken]:
    """The records of a pack from here on, in order, with what lies between them.

    After damage the next record is searched for; only one of the same archive counts, since a file that was
    kept may be a pack itself.
    """
    size = os.fstat(handle).st_size
    while offset < size:
        record = record_at(handle, offset)
        if record is not None and (archive is None or record.archive == archive):
            archive = record.archive
            yield record
            offset = record.end
            continue
        following = _next_record(handle, offset + 1, archive)
        yield Broken(offset, size if following is None else following)
        if following is None:
            return
        offset = following


def _next_record(handle: int, offset: int, archive: bytes | None) -> int | None:
    while piece := os.pread(handle, _PIECE + len(MAGIC) - 1, offset):
        found = piece.find(MAGIC)
        while found >= 0:
            record = record_at(handle, offset + found)
            if record is not None and (archive is None or record.archive == archive):
                return offset + found
            found = piece.find(MAGIC, found + 1)
        offset += _PIECE
    return None
