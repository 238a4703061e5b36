"""Paths in the database: as text where they are text, as bytes where they are no UTF-8."""

from __future__ import annotations

import os


def stored(path: str) -> str | bytes:
    """A path as the database keeps it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def opened(kept: str | bytes) -> str:
    """A path as the system opens it."""
    return os.fsdecode(kept) if isinstance(kept, bytes) else kept
