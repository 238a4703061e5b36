"""The words of sessions as their files hold them, for searches that the index cannot answer alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geminids.core.agents.homes import Home
from geminids.query.sessions.session_reader import SessionReader
from geminids.storage.codec.texts import words
from geminids.storage.index.database import Index
from geminids.storage.index.reader import holds_every_word
from geminids.storage.index.schema import COLUMNS


class SessionTexts:
    """The words of sessions, read from their files."""

    def __init__(self, index: Index, homes: Sequence[Home], *, with_outputs: bool) -> None:
        """All there is, with what was moved to files of its own, or what is indexed."""
        self._sessions = SessionReader(index, homes, with_outputs=with_outputs)
        self._everything = with_outputs or holds_every_word(index)

    def texts_of(self, number: int) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The messages of a session: the place of each, and its words by column; none if it is gone."""
        session = self._sessions.numbered(number)
        if session is None:
            return
        for number_of_message, message in enumerate(session.messages):
            by_column = words(message, everything=self._everything)
            yield number_of_message, dict(zip(COLUMNS, by_column, strict=True))
