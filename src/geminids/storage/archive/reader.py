"""Kept copies read again: every byte is compared with what was kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from geminids.storage.archive.compression import Packer, UnpackError, unpacked
from geminids.storage.archive.failures import DamagedCopyError
from geminids.storage.archive.manifest_rows import SegmentAddress
from geminids.storage.archive.packs import opened_pack
from geminids.storage.archive.records import Segment
from geminids.storage.archive.values import Version

Find = Callable[[Segment], SegmentAddress | None]
"""Where a segment lies now."""


def pieces(
    folder: str, version: Version, places: Sequence[SegmentAddress] | None, find: Find
) -> Iterator[bytes]:
    """What a version holds, piece by piece. Raises DamagedCopyError.

    A version that has grown since it was asked for is the beginning of what is there now.
    """
    left = version.size
    for place, content in _contents(folder, version, places, find):
        yield content[:left] if left < place.segment.size else content
        left -= min(left, place.segment.size)


def part(
    folder: str, version: Version, places: Sequence[SegmentAddress] | None, find: Find, wanted: range
) -> bytes:
    """Some of the bytes of a version. Each segment of them is compared with its digest, no other is read."""
    if places is None:
        raise DamagedCopyError(version.path, "a part of it is not there, or it was removed")
    at, found = 0, []
    start, end = wanted.start, min(wanted.stop, version.size)
    for place in places:
        size = place.segment.size
        if at < end and at + size > start:
            found.append(_read(folder, version, place, find)[1][max(0, start - at) : end - at])
        at += size
    return b"".join(found)


def packed_pieces(
    folder: str, version: Version, places: Sequence[SegmentAddress] | None, find: Find
) -> Iterator[bytes]:
    """The same, packed: frames that together are one packed file. Raises DamagedCopyError."""
    left = version.size
    packer = Packer()
    for place, content in _contents(folder, version, places, find):
        if left < place.segment.size:
            yield packer.packed(content[:left])
        else:
            yield packed_segment(folder, place)
        left -= min(left, place.segment.size)


def _contents(
    folder: str, version: Version, places: Sequence[SegmentAddress] | None, find: Find
) -> Iterator[tuple[SegmentAddress, bytes]]:
    """The segments that a version takes, with where they lie now, compared with all digests."""
    if places is None:
        raise DamagedCopyError(version.path, "a part of it is not there, or it was removed")
    is_one = [place.segment.digest.hex() for place in places] == [version.digest]
    digest = sha256()
    left = version.size
    for place in places:
        if not left:
            break
        now, content = _read(folder, version, place, find)
        if not is_one:
            digest.update(content[:left])
        left -= min(left, len(content))
        yield now, content
    if not is_one and digest.hexdigest() != version.digest:
        raise DamagedCopyError(version.path, "its parts together do not have the digest it was kept with")


def segment(folder: str, place: SegmentAddress) -> bytes:
    """One segment. Raises OSError, or ValueError with what is wrong with it."""
    frame = packed_segment(folder, place)
    where = f"pack {place.pack} at byte {place.offset:,}"
    try:
        content = unpacked(frame, place.segment.size)
    except UnpackError as error:
        raise ValueError(f"{where} cannot be unpacked ({error})") from error
    if sha256(content).digest() != place.segment.digest:
        raise ValueError(f"{where} does not have the digest it was kept with")
    return content


def packed_segment(folder: str, place: SegmentAddress) -> bytes:
    """One segment as it lies in its pack. Raises OSError, or ValueError if not all of it is there."""
    handle = opened_pack(folder, place.pack)
    try:
        size = os.fstat(handle).st_size
        frame = os.pread(handle, place.length, place.offset) if place.offset + place.length <= size else b""
    finally:
        os.close(handle)
    if len(frame) < place.length:
        raise ValueError(f"pack {place.pack} ends before byte {place.offset + place.length:,}")
    return frame


def _read(folder: str, version: Version, place: SegmentAddress, find: Find) -> tuple[SegmentAddress, bytes]:
    try:
        return place, segment(folder, place)
    except (OSError, ValueError) as error:
        elsewhere = find(place.segment)
        if elsewhere is not None and elsewhere != place:
            # The pack was written anew meanwhile.
            return _read(folder, version, elsewhere, find)
        raise DamagedCopyError(version.path, said_of(error)) from error


def said_of(error: OSError | ValueError) -> str:
    """What is wrong, without the names that only a system has for it."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
