"""What the last list showed, so that `show 3` means its third line.

<data folder>/last-list.json    private to the user, replaced as a whole
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from geminids.model import SessionSummary

FILE_NAME = "last-list.json"


class Listed(msgspec.Struct, frozen=True):
    """One line of a list: a session, and the file that tells it from another of the same id."""

    id: str
    file: str | None = None

    @classmethod
    def of(cls, summary: SessionSummary) -> Listed:
        """The line of a session."""
        return cls(keepable(summary.id), keepable(summary.files[0].path) if summary.files else None)


class LastList(msgspec.Struct, frozen=True):
    """The lines of a list, and the homes whose sessions it showed."""

    places: tuple[str, ...]
    lines: tuple[Listed, ...]


def remember(folder: Path, shown: LastList) -> None:
    """Keep what a list showed. Raises OSError if that is not possible."""
    import tempfile

    written = msgspec.json.encode(shown)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=FILE_NAME)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(written)
        Path(name).replace(folder / FILE_NAME)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def recall(folder: Path) -> LastList | None:
    """The last list; None if there is none that can be read."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=LastList)
    except (OSError, msgspec.DecodeError):
        return None


def keepable(name: str) -> str:
    """A path or a name in letters that can be kept: not every name of a file is UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()
