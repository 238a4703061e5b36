"""Snippets, cut from the agents' files: the index knows where a message stands, but does not keep its words.

A file may have changed or gone since it was taken in. Then there is no snippet, and never an exception.
What an agent calls things is not known here: texts are told apart by the keys above them, as far as these
speak for themselves, and a wrong guess only costs a less telling snippet.
"""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.values import Value
from geminids.storage.index.values import file_spans
from geminids.storage.text import snippets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from geminids.query.search.record_files import RecordFiles
    from geminids.storage.text.values import Snippet
    from geminids.storage.text.words import Wanted

LARGEST = 4_000_000
"""Bytes of one record that are read; of a longer one, so many of its beginning."""
ENOUGH = 200
"""Texts of a record that are looked at: a huge list of little ones holds no better snippet."""
SAID = ("human", "model", "other")
TITLE = "title"
"""What titles count as that no record of a message holds."""
_DEEPEST = 30
_COLUMNS_OF_KEYS = {
    "thoughts": "thought",
    "thought": "thought",
    "thinking": "thought",
    "args": "tool",
    "arguments": "tool",
    "input": "tool",
    "result": "output",
    "resultDisplay": "output",
    "response": "output",
    "output": "output",
}
"""Under which keys agents write what; what stands under another is said by somebody."""
_PATH_KEYS = ("path", "paths", "file", "files", "filename", "dir", "directory", "folder", "cwd")
_IDS = frozenset(
    {
        *("id", "uuid", "sessionId", "session_id", "parentUuid", "requestId", "callId", "call_id", "turn_id"),
        *("projectHash", "type", "timestamp", "status", "model", "version", "gitBranch", "signature"),
    }
)
"""Keys of texts that nobody searches for."""
_BLOB = 400
"""Characters without any blank between them: pictures and signatures."""


Piece = tuple[str, "str | None"]
"""A text of a message, and the column that it seems to belong to; None: said by somebody."""


class Cutter:
    """Cuts snippets from records of agents' files."""

    def __init__(self, files: RecordFiles, wanted: Wanted, width: int) -> None:
        self._files = files
        self._wanted = wanted
        self._letters = [want.text.lower() for want in wanted]
        self._width = width

    def cut(self, spans: str, columns: Sequence[str]) -> Cut | None:
        """The most telling piece of a message; None if what is looked for is not there any more."""
        for file, start, end in file_spans(spans):
            record = self._files.read(file, start, min(end, start + LARGEST))
            if record and (best := self._best(_texts(record), columns)):
                return best
        return None

    def cut_title(self, title: str) -> Cut | None:
        """The piece of a title that has what is looked for; None if it has nothing of it."""
        snippet = snippets.cut(title, self._wanted, self._width)
        return Cut(snippet, (TITLE,)) if snippet else None

    def _best(self, pieces: Sequence[Piece], columns: Sequence[str]) -> Cut | None:
        """The snippet with the most matches, one from where the index says it matched before any other."""
        if not self._wanted:
            said = max(pieces, key=lambda piece: (piece[1] is None, " " in piece[0]), default=None)
            return Cut(snippets.opening(said[0], self._width), _columns(said[1])) if said else None
        likely = [piece for piece in pieces if self._is_likely(piece[0])]
        return self._densest(likely, columns) or self._densest(pieces, columns)

    def _is_likely(self, text: str) -> bool:
        """Whether it holds something wanted letter by letter: quick to see, and nearly always so."""
        small = text.lower()
        return any(want in small for want in self._letters)

    def _densest(self, pieces: Sequence[Piece], columns: Sequence[str]) -> Cut | None:
        cuts = ((snippets.cut(text, self._wanted, self._width), _columns(column)) for text, column in pieces)
        found = [Cut(snippet, belongs_to) for snippet, belongs_to in cuts if snippet]
        there = frozenset(columns)
        return max(
            found, key=lambda cut: (not there.isdisjoint(cut.columns), *_density(cut.snippet)), default=None
        )


class Cut(Value):
    """A snippet, and the columns that it may be from."""

    snippet: Snippet
    columns: tuple[str, ...]


def _density(snippet: Snippet) -> tuple[int, int]:
    """How many different words of those that are wanted it holds, then how many."""
    shown = [snippet.text[start:end].lower() for start, end in snippet.spans]
    return len(set(shown)), len(shown)


def _columns(column: str | None) -> tuple[str, ...]:
    """The columns that a text may belong to."""
    return SAID if column is None else (column,)


def _texts(record: bytes) -> list[Piece]:
    """The texts of a record; of what is no JSON, all of it."""
    from json import loads

    text = record.decode("utf-8", "replace")
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return [(text.replace("\\n", " ").replace("\\t", " "), None)]
    found: list[Piece] = []
    _gather(value, None, 0, found)
    return [piece for piece in found if not _is_blob(piece[0])]


def _is_blob(text: str) -> bool:
    start = text[:_BLOB]
    return len(start) == _BLOB and start.isascii() and not any(map(str.isspace, start))


def _gather(value: Any, column: str | None, depth: int, found: list[Piece]) -> None:
    """Gather the texts of a value, as many as are looked at."""
    # Once for each of many values: no `match` and no generators, which take several times as long.
    if len(found) >= ENOUGH or depth > _DEEPEST:
        return
    kind = type(value)
    if kind is str:
        if value:
            found.append((value, column))
    elif kind is dict:
        for key, inner in value.items():
            if type(inner) is str:
                if inner and key not in _IDS:
                    found.append((inner, _column(key, column)))
            elif type(inner) is dict or type(inner) is list:
                _gather(inner, _column(key, column), depth + 1, found)
    elif kind is list:
        for inner in value:
            _gather(inner, column, depth + 1, found)


def _column(key: str, above: str | None) -> str | None:
    if key.lower().endswith(_PATH_KEYS):
        return "path"
    return above or _COLUMNS_OF_KEYS.get(key)
