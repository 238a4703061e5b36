"""Segments in little: zstd, which Python has itself since 3.14; before, a package does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

LEVEL = 4
"""Takes a tenth longer than 3, and a fiftieth less room."""
UnpackError = (zstd.ZstdError, EOFError, MemoryError)
"""What unpacking raises where the bytes are not what was packed."""


class Packer:
    """Packs segments one by one. Its tables are made once, which takes longer than a small segment."""

    def __init__(self) -> None:
        self._compressor = zstd.ZstdCompressor(level=LEVEL)

    def packed(self, content: bytes | memoryview) -> bytes:
        """One frame, which says how long its content is."""
        return self._compressor.compress(content, zstd.ZstdCompressor.FLUSH_FRAME)


def unpacked(frame: bytes | memoryview, size: int) -> bytes:
    """The content of one frame, of which the size is known. Raises `UnpackError`."""
    unpacker = zstd.ZstdDecompressor()
    # One byte more than there may be: what was tampered with must not fill the memory.
    content = unpacker.decompress(frame, size + 1)
    if len(content) != size or not unpacker.eof or unpacker.unused_data:
        raise EOFError(f"{size:,} bytes were expected")
    return content


def unpacker() -> Any:
    """For frames that come piece by piece."""
    return zstd.ZstdDecompressor()
