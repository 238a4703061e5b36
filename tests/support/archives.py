"""Archives of kept copies in tests: files to keep, and what lies in a folder afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from backports import zstd

from geminids.storage.archive.archive import Archive
from geminids.storage.archive.packs import FIRST_LINE, opened_pack, packs_on_disk
from geminids.storage.archive.records import Record, scan
from geminids.storage.archive.values import Version

HOME = "/"
AGENT = "gemini"


def files_below(folder: Path) -> list[Path]:
    """All plain files, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def keep_all(archive: Archive, files: Iterable[Path]) -> list[Version]:
    """Keep files at once."""
    with archive.writing() as writer:
        kept = [writer.keep(AGENT, HOME, str(file)) for file in files]
    assert None not in kept
    return [version for version in kept if version is not None]


def contents(archive: Archive) -> dict[str, list[bytes]]:
    """What every version of every path holds, the oldest first."""
    return {
        path: [archive.content(version) for version in archive.versions(path)] for path in archive.newest()
    }


def unpacked_bytes(folder: Path) -> bytes:
    """All that can be found in an archive: every file as it is, and every payload unpacked."""
    found = [path.read_bytes() for path in files_below(folder)]
    for number in packs_on_disk(str(folder)):
        handle = opened_pack(str(folder), number)
        try:
            for stretch in scan(handle, len(FIRST_LINE)):
                assert isinstance(stretch, Record)
                payload = os.pread(handle, stretch.payload_length, stretch.payload_offset)
                found.append(zstd.decompress(payload) if payload else b"")
        finally:
            os.close(handle)
    return b"\n".join(found)


def size_of_packs(folder: Path) -> int:
    """Bytes of all packs."""
    return sum(path.stat().st_size for path in (folder / "packs").iterdir())
