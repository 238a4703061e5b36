"""What a library lends to whoever looks after its copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from geminids.core.agents.base import Home
    from geminids.core.agents.resume import Circumstances
    from geminids.core.model import Session
    from geminids.core.settings import Settings
    from geminids.storage.archive import Archive
    from geminids.storage.durable.tombstones import Tombstone
    from geminids.storage.index.database import Index

Answer = TypeVar("Answer")


class Asking(Protocol):
    """How the index is asked."""

    def __call__(self, question: Callable[[Index], Answer]) -> Answer: ...  # noqa: D102


class Surroundings(NamedTuple):
    """What a library lends to whoever looks after its copies."""

    archive: Archive | None
    data: str | None
    """Our own folder."""
    homes: Sequence[Home]
    settings: Settings
    ask: Asking
    find: Callable[[str], Session]
    """The one session that is meant."""
    forgotten: Callable[[], Mapping[str, Tombstone]]
    build_anew: Callable[[], object]
    """Makes the index from nothing."""
    circumstances: Callable[[datetime], Circumstances]
