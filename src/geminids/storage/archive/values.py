"""What came of moving and of checking kept copies, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geminids.core.values import Value

if TYPE_CHECKING:
    from geminids.storage.archive import Version


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
