"""What became of a sync, as values."""

from __future__ import annotations

from geminids.core.values import NamedTuple


class Kept(NamedTuple):
    """What became of the copies."""

    files: int = 0
    bytes: int = 0
    troubles: tuple[str, ...] = ()
    """Why copies could not be kept, in sentences."""
    is_settled: bool = True
    """Whether all that there is was kept, as far as we may read it."""


class Outcome(NamedTuple):
    """What became of a sync."""

    built: bool = False
    """Whether the index was made from nothing."""
    bundles: int = 0
    """How many were read."""
    bytes: int = 0
    left: int = 0
    """Bundles that there was no time for."""
    seconds: float = 0.0
    said: tuple[str, ...] = ()
    """What the user should know: an index that was damaged, one that cannot be kept or is behind."""
    failed: bool = False
    """Whether the index could not be brought up to date or not be kept, or copies could not."""
    kept: int = 0
    """Of how many files copies were kept."""
    others_write: bool = False
    """Whether another process is reading what is left."""
