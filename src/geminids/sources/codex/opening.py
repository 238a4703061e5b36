"""The bytes of a rollout, plain or compressed.

Python reads zstd itself since 3.14; before, a package does. A damaged archive gives what could be unpacked
of it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from geminids.disk import REAL, Disk
from geminids.sources.codex.rollouts import PACKED

LONGEST = 2_000_000_000
"""Bytes that are unpacked of one archive: a small one may hold no end of them."""
_PIECE = 1 << 20


class Opened(msgspec.Struct, frozen=True):
    """The text of a rollout, and what it took to get it."""

    content: bytes
    size: int
    """Bytes on the disk."""
    is_packed: bool = False
    trouble: str | None = None
    """What is wrong with the archive."""


def opened(path: Path, disk: Disk = REAL) -> Opened:
    """The text of a rollout. Raises OSError."""
    stored = disk.read(path)
    if not path.name.endswith(PACKED):
        return Opened(stored, len(stored))
    return _unpacked(stored)


def unpacked(path: Path, disk: Disk = REAL) -> bytes | None:
    """The text of a packed rollout, as far as it can be unpacked; None if it is not packed, or refused."""
    if not path.name.endswith(PACKED):
        return None
    try:
        return opened(path, disk).content
    except OSError:
        return None


def _zstd() -> Any:
    # Few homes hold an archive, and every command would pay for loading it.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd


def _unpacked(stored: bytes) -> Opened:
    zstd = _zstd()
    pieces: list[bytes] = []
    length, position, trouble = 0, 0, None
    unpacker = zstd.ZstdDecompressor()
    while position < len(stored):
        if unpacker.eof:
            # Archives may follow one another in a file.
            unpacker = zstd.ZstdDecompressor()
        piece = stored[position : position + _PIECE]
        try:
            pieces.append(unpacker.decompress(piece, LONGEST - length))
        except (zstd.ZstdError, EOFError) as error:
            trouble = f"the archive is damaged: {error}"
            break
        length += len(pieces[-1])
        position += len(piece) - len(unpacker.unused_data)
        if length >= LONGEST:
            trouble = f"more than the {LONGEST:,} bytes that are unpacked"
            break
    if trouble is None and not unpacker.eof:
        trouble = "the archive is cut off"
    return Opened(b"".join(pieces), len(stored), is_packed=True, trouble=trouble)
