"""What the last list showed, so that `show 3` means its third line.

<data folder>/last-list.json    private to the user, replaced as a whole
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

FILE_NAME = "last-list.json"


class Listed(msgspec.Struct, frozen=True):
    """One line of a list: a session, and the file that tells it from another of the same id."""

    id: str
    file: str | None = None


def remember(folder: Path, lines: Sequence[Listed]) -> None:
    """Keep the lines of a list. Raises OSError if that is not possible."""
    import tempfile

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=FILE_NAME)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(lines))
        Path(name).replace(folder / FILE_NAME)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def recall(folder: Path) -> list[Listed]:
    """The lines of the last list; none if there is none that can be read."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=list[Listed])
    except (OSError, msgspec.DecodeError):
        return []
