"""What a store is: a folder of files that are written and read by their names, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class Stored(NamedTuple):
    """A file of a store."""

    name: str
    size: int
    mtime_ns: int
    is_plain: bool = True
    """False for links, pipes and devices."""


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

    def read_all(self, names: Sequence[str]) -> Sequence[bytes | None]:
        """Return the contents of small files; None for those that are gone."""
        ...

    def part(self, name: str, start: int, end: int) -> bytes | memoryview:
        """Return the bytes of a file between two places. Raises FileNotFoundError if it is gone."""
        ...

    def put(self, name: str, content: Path | bytes) -> None:
        """Write a file, whole or not at all."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...

    def fetched(self, files: Sequence[Stored], folder: Path) -> Sequence[str]:
        """Return paths at which engines read files; where engines need copies, these go to the folder."""
        ...
