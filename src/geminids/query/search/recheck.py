"""The words of sessions as their files hold them, for searches that the index cannot answer alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geminids.core import agents
from geminids.core.agents.homes import Home, disk_of
from geminids.query.sessions.rereading import RereadingMany
from geminids.storage.codec.texts import words
from geminids.storage.index.database import Index
from geminids.storage.index.schema import COLUMNS


class Verifying:
    """The words of sessions, read from their files."""

    def __init__(self, index: Index, homes: Sequence[Home], *, with_outputs: bool) -> None:
        self._homes = homes
        self._sessions = RereadingMany(index, homes)
        self._with_outputs = with_outputs
        """Whether outputs that were moved to files of their own are read too."""

    def texts_of(self, number: int) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The messages of a session: the place of each, and its words by column; none if it is gone."""
        session = self._sessions.numbered(number)
        if session is None:
            return
        if self._with_outputs:
            disk = disk_of(self._homes, session.file or "")
            session = agents.load(session.agent).companions().with_outputs(session, disk)
        for number_of_message, message in enumerate(session.messages):
            by_column = words(message, everything=True)
            yield number_of_message, dict(zip(COLUMNS, by_column, strict=True))
