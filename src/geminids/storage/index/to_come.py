"""How much is still to be read, where the newest sessions are in the index and the rest is not yet."""

from __future__ import annotations

from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.index.database import Index

_NAME = "to come"


class ToCome(NamedTuple):
    """What was found and is not read yet."""

    bundles: int
    """Groups of files; nearly always each holds one session."""
    bytes: int
    free_from: int
    free_to: int
    """The numbers of messages that were left free for it."""


def to_come(index: Index) -> ToCome | None:
    """What is still to be read; None if all is in that there was at the last sync."""
    written = index.meta(_NAME)
    return ToCome(*map(int, written.split())) if written else None


def note_to_come(index: Index, left: ToCome | None) -> None:
    """Note what is still to be read, in the transaction that writes what was."""
    index.note(_NAME, " ".join(map(str, left)) if left else None)
