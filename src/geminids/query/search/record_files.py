"""The records of messages in the agents' files, by the places that the index knows.

A file may have changed or gone since it was taken in. Then a record is None or another one, and never an
exception.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType

from geminids.core.disk import HOW_TO_OPEN, REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from geminids.core.disk import Disk

_PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""How packed files begin: places in them are places in what is in them."""
_LONGEST_SIGNATURE = max(map(len, _PACKED))


class RecordFiles:
    """Reads pieces of files; keeps them open as long as it is used."""

    def __init__(self, paths: Mapping[int, str], disk: Disk | None = None) -> None:
        self._paths = paths
        self._opened: dict[int, int | None] = {}
        self._contents: dict[int, BinaryIO] = {}
        """What is in files that are packed, or gone."""
        self._disk = disk
        """Has copies of what is gone; not asked as long as a file is there."""

    def __enter__(self) -> RecordFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._opened.values():
            if handle is not None:
                os.close(handle)
        for content in self._contents.values():
            content.close()

    def read(self, file: int, start: int, end: int) -> bytes | None:
        """The bytes between two places; None if the file is gone or cannot be read."""
        handle = self._handle(file)
        if handle is None and file not in self._contents:
            return None
        try:
            if file in self._contents:
                self._contents[file].seek(start)
                return self._contents[file].read(end - start)
            assert handle is not None
            return os.pread(handle, end - start, start)
        except OSError:
            return None

    def _handle(self, file: int) -> int | None:
        if file not in self._opened:
            if self._disk is not None and self._disk.is_foreign(self._paths.get(file, "")):
                self._opened[file] = None
                self._open_copy(file)
                return None
            try:
                handle = self._opened[file] = os.open(self._paths[file], HOW_TO_OPEN)
                if os.pread(handle, _LONGEST_SIGNATURE, 0).startswith(_PACKED):
                    self._contents[file] = _unpacked(self._paths[file], REAL)
            except (FileNotFoundError, NotADirectoryError):
                self._opened[file] = None
                self._open_copy(file)
            except (OSError, KeyError, ValueError):
                self._opened.setdefault(file, None)
        return self._opened[file]

    def _open_copy(self, file: int) -> None:
        """Take what was in a file that is gone, if there is a copy."""
        if self._disk is None:
            return
        path = self._paths[file]
        try:
            content = self._contents[file] = self._disk.opened(path)
            if content.read(_LONGEST_SIGNATURE).startswith(_PACKED):
                self._contents[file] = _unpacked(path, self._disk)
                content.close()
        except OSError:
            return


def _unpacked(path: str, disk: Disk) -> BinaryIO:
    """What is in a packed file, as the agent that packed it says; nothing if none does, or too much."""
    # Few files are packed, and a reader takes long to load.
    from io import BytesIO
    from pathlib import Path

    from geminids.core import agents

    answers = (source.files().unpacked(Path(path), disk) for source in agents.every())
    try:
        return BytesIO(next((answer for answer in answers if answer is not None), b""))
    except OSError:
        return BytesIO()
