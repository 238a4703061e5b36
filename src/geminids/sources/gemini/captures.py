"""Conversations that were saved, shared, printed or reported: told by their content, read as sessions."""

from __future__ import annotations

from pathlib import Path

from geminids.sources.base import Reading


def read_copy(path: Path, content: bytes) -> Reading | None:
    """The conversation in a file that is no session file; None if there is none that we know."""
    return None
