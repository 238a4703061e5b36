"""Sessions that the user has marked: also those whose files are gone, since what he said of them stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.query.sessions import ids
from geminids.storage.durable.values import Marks
from geminids.storage.index import reader

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.storage.index.database import Index


class Marked(NamedTuple):
    """A session, and what was said of it."""

    id: str
    title: str | None
    is_here: bool
    """Whether it is among the sessions that are looked at. Else it is gone, or in another home."""
    marks: Marks = Marks()


class MarkedSessions(NamedTuple):
    """All sessions that are marked, and their tags."""

    tags: Mapping[str, int]
    """How many sessions have each, the most used first."""
    sessions: Sequence[Marked]
    """The newest first, and last those that are not here."""


class _Nowhere(NamedTuple):
    name: str


class _Elsewhere(NamedTuple):
    """A session of which nothing is left here but its marks."""

    id: str
    title: str | None
    file: str | None = None
    last_at: datetime | None = None
    project: _Nowhere = _Nowhere("not here")

    @property
    def native_id(self) -> str:
        return self.id.partition(":")[2]


def elsewhere(known: Mapping[str, Marks], wanted: str) -> Marked | None:
    """The marked session that is meant by its name, an id or its beginning. Raises if several may be."""
    gone = [_Elsewhere(session, said.name) for session, said in known.items()]
    named = [session for session in gone if session.title and session.title.casefold() == wanted.casefold()]
    found = ids.pick_named(named, wanted) or ids.pick(gone, wanted)
    return Marked(found.id, None, is_here=False) if found else None


def marked_sessions(index: Index, known: Mapping[str, Marks], tags: Mapping[str, int]) -> MarkedSessions:
    """All that is marked, here or elsewhere."""
    titles = {row.id: row.title for row in reader.sessions(index, [reader.among(known)])}
    here = [Marked(session, title, True, known[session]) for session, title in titles.items()]
    others = [Marked(session, None, False, said) for session, said in known.items() if session not in titles]
    return MarkedSessions(tags, [*here, *sorted(others)])
