"""Sessions that are to be exported, and what became of those that went into a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from geminids.sharing.export.folder import Done, Refused

if TYPE_CHECKING:
    from geminids.core.model import Session

PLACE_PARTS = 4
"""Parts of a path, from its end, that tell two sessions of the same id apart."""


class Item(NamedTuple):
    """A session to be written, which is read when its turn comes."""

    id: str
    file: str | None
    """What tells it from another of the same id."""
    read: Callable[[], Session | None]
    """None if its file is gone."""
    stamp: bytes | None = None
    """The state it is in; None if that is not known, and it is always written anew."""
    kind: str = "main"

    @property
    def key(self) -> str:
        """A name for it that may be shared: ids are made of what people typed, and paths of their names."""
        place = "/".join((self.file or "").replace("\\", "/").split("/")[-PLACE_PARTS:])
        return digest(f"{self.id}\0{place}")


class FolderOutcome(NamedTuple):
    """What became of a folder of exports."""

    written: int
    unchanged: int
    refused: Sequence[Refused]
    """Files that somebody else made or changed."""
    failed: Mapping[str, str]
    """Sessions that were not written, and why: gone meanwhile, or not to be redacted."""
    contents: Refused | None
    """The table of contents, where it is somebody else's."""


class FolderCount:
    """What becomes of the files of a folder, counted."""

    def __init__(self) -> None:
        self.written = 0
        self._unchanged = 0
        self._refused: list[Refused] = []
        self._failed: dict[str, str] = {}

    def count(self, item: Item, done: Done | Refused | str) -> None:
        """Count what became of one session; a text says why it was not written."""
        match done:
            case Done.WRITTEN:
                self.written += 1
            case Done.SAME:
                self._unchanged += 1
            case Refused():
                self._refused.append(done)
            case reason:
                self._failed[item.id] = reason

    def result(self, contents: Refused | None) -> FolderOutcome:
        """All of it; `contents` is the table of contents where it is somebody else's."""
        return FolderOutcome(self.written, self._unchanged, self._refused, self._failed, contents)


def digest(text: str) -> str:
    """A short name for a text, from which nobody can tell what it says."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
