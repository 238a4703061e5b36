"""The disk with the copies of an archive, which another process opens for itself."""

from __future__ import annotations

from functools import cache

from geminids.core.agents import available, load
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.disk import KeptDisk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from geminids.storage.archive.values import Version

    Base = KeptDisk[Version]
else:
    Base = KeptDisk


class ArchiveDisk(Base):
    """The disk as it is, and the newest copy in an archive of each file that is gone from it."""

    def __init__(self, archive: Archive, here: Sequence[str], foreign: Sequence[str]) -> None:
        super().__init__(archive.newest, archive.content, moved_names(), archive.versions, archive.part)
        self.know_homes(here, foreign)
        self._origin = archive.folder, tuple(here), tuple(foreign)

    def __reduce__(self) -> tuple[object, ...]:
        """How another process makes the same of it, once however often it is told."""
        return _opened_again, self._origin


@cache
def _opened_again(folder: str, here: Sequence[str], foreign: Sequence[str]) -> ArchiveDisk:
    return ArchiveDisk(Archive(folder), here, foreign)


def moved_names() -> Callable[[str], str | None]:
    """What stays the same of a file when an agent moves or packs it; asked for each of many files."""

    @cache
    def asked() -> list[Callable[[str], str | None]]:
        # Where nothing was moved or packed, nobody asks.
        return [load(name).files().moved_name for name in available()]

    return lambda path: next((name for ask in asked() if (name := ask(path))), None)
