"""A full text as the index has it, to ask FTS5 itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from geminids.query.search.language import Query
from geminids.storage.index.schema import COLUMNS
from geminids.storage.index.terms import Terms
from geminids.storage.text.words import indexed

TOKENIZER = "tokenize='unicode61 remove_diacritics 2'"


class FullText:
    """Rows with texts by column, prepared as those of the index are; numbered from 0."""

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._every_row = set(range(len(rows)))
        self._database.execute(
            f"CREATE VIRTUAL TABLE texts USING fts5 ({', '.join(COLUMNS)}, content='', {TOKENIZER})"
        )
        self._database.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (texts, 'instance')")
        self._database.executemany(
            f"INSERT INTO texts (rowid, {', '.join(COLUMNS)}) VALUES ({', '.join('?' * 8)})",
            [
                [number, *(indexed(row.get(column, "")) for column in COLUMNS)]
                for number, row in enumerate(rows)
            ],
        )

    def __enter__(self) -> FullText:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def words(self) -> list[list[str]]:
        """The words of each row in their order."""
        found: dict[int, list[str]] = {number: [] for number in self._every_row}
        for number, word in self._database.execute("SELECT doc, term FROM vocabulary ORDER BY doc, offset"):
            found[number].append(word)
        return [found[number] for number in sorted(found)]

    def rows(self, expression: str | None) -> set[int]:
        """The rows that match."""
        if expression is None:
            return set()
        found = self._database.execute("SELECT rowid FROM texts WHERE texts MATCH ?", [expression])
        return {number for (number,) in found}

    def terms(self) -> Terms:
        """Its words, as they are kept beside an index."""
        return Terms(
            "\n".join(sorted({word for words in self.words() for word in words})), len(self._every_row)
        )

    def candidates(self, query: Query) -> set[int]:
        """The rows that a query leaves to be looked at."""
        match = query.fts(terms=self.terms() if query.must_verify else None)
        matching = self.rows(match.expression)
        return self._every_row - matching if match.is_complement else matching
