"""What a store is: a folder of files that are written and read by their names, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


class Stored(NamedTuple):
    """A file of a store."""

    name: str
    size: int
    mtime_ns: int


class Store(Protocol):
    """A folder somewhere. Raises PlaceError and StoreFailedError, which say what to do."""

    @property
    def uri(self) -> str:
        """What people call it."""
        ...

    def listed(self, below: str = "") -> Iterator[Stored]:
        """All files below a folder of it, by their whole names; nothing where that is not there."""
        ...

    def read(self, name: str) -> bytes | None:
        """All that is in a file; None if there is none."""
        ...

    def put(self, name: str, content: Path | bytes) -> None:
        """Write a file, whole or not at all."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...

    def file_system(self) -> tuple[FileSystem, str]:
        """The same for pyarrow: what files are read through, and the folder in it."""
        ...
