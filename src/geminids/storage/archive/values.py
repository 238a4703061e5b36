"""Kept copies, and what came of moving and of checking them, as values."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.config import KEPT_FOLDER
from geminids.core.values import NamedTuple, Value

FOLDER = KEPT_FOLDER
MANIFEST_FILE = "manifest.db"
MANIFEST_VERSION = 2
PATIENCE = 10.0
"""Seconds to wait for another process that keeps copies."""


class Version(NamedTuple):
    """A kept copy of a file, as it was at one moment."""

    number: int
    """Its name in the archive; stays the same when the file only grows."""
    agent: str
    home: str
    path: str
    size: int
    mtime_ns: int
    inode: int
    mode: int
    digest: str
    """SHA-256 of the whole content."""
    kept_at: int
    """Microseconds since 1970."""


class KeptHome(Value):
    """The folder of an agent of which there are copies."""

    agent: str
    folder: str
    is_imported: bool
    """Whether all of its copies came from another archive."""
    files: int
    size: int
    """Bytes of the newest version of each file."""
    first: int
    last: int
    """When its copies were kept, in microseconds since 1970."""


class Totals(Value):
    """What an archive holds."""

    files: int
    versions: int
    size: int
    """Bytes of the newest version of each file."""
    size_of_all: int
    """Bytes of all versions."""
    size_on_disk: int
    packs: int


class Exported(Value):
    """What was written."""

    versions: int
    size: int
    """Bytes of content, each one once."""
    damaged: Sequence[tuple[Version, str]]
    """Copies that were left out, and what is wrong with them."""


class Imported(Value):
    """What was taken in."""

    versions: int
    known: int
    """Versions that were there already, or were the beginning of one."""
    homes: Sequence[tuple[str, str]]
    """Agents and folders that the copies are of."""


class Damage(Value):
    """A copy that is not what was kept, or was not."""

    version: Version
    what: str
    pack: int
    offset: int
    is_healed: bool


class Verified(Value):
    """What came of reading everything."""

    versions: int
    size: int
    """Bytes of content that were read."""
    damage: Sequence[Damage]
    mended: Sequence[str]
    """What was wrong with the list or the records and is right again, in sentences."""
    cut: int
    """Bytes that a killed process had left half-written, which were cut off; no copy was in them."""

    @property
    def is_sound(self) -> bool:
        """Whether every copy can be read now."""
        return all(damage.is_healed for damage in self.damage)
