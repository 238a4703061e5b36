"""Which session: its id, and the file that tells it from another of the same id."""

from __future__ import annotations

from geminids.core.names import storable
from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class _Session(Protocol):
        @property
        def id(self) -> str: ...
        @property
        def file(self) -> str | None: ...


class SessionRef(NamedTuple):
    """A session by its id and its first file, both as the index spells them."""

    id: str
    file: str | None = None

    @classmethod
    def of(cls, session: _Session) -> SessionRef:
        """What means this session and no other."""
        return cls(storable(session.id), storable(session.file) if session.file else None)
