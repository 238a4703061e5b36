"""Records of sessions, made from them and from what their files hold. Whoever has the bytes lends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from geminids.core.model import Session
from geminids.sharing.records.evidence import Evidence, evidence_of
from geminids.sharing.records.natives import Natives, read_natives
from geminids.sharing.records.translation import record_of

Content = Callable[[Session, str], bytes]
"""The bytes that a file of a session held when it was read; raises OSError."""


class Recorded(NamedTuple):
    """A session, what its files say beside it, and the record of both, which nothing was taken out of."""

    session: Session
    evidence: Evidence | None
    """None for the plainer translation."""
    record: dict[str, Any]


class RecordMaker:
    """Makes records of sessions, from them and from what their files hold."""

    def __init__(self, content: Content) -> None:
        self._content = content

    def whole(self, session: Session) -> Recorded:
        """A session with all its evidence."""
        evidence = evidence_of(session, self.natives(session))
        return Recorded(session, evidence, record_of(session, evidence))

    def natives(self, session: Session) -> Natives:
        """The records of a session as its agent wrote them."""
        return read_natives(session, lambda path: self._content(session, path))
