"""Snippets, cut from the agents' files: the index knows where a message stands, but does not keep its words.

A file may have changed or gone since it was taken in. Then there is no snippet, and never an exception.
What an agent calls things is not known here: texts are told apart by the keys above them, as far as these
speak for themselves, and a wrong guess only costs a less telling snippet.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from geminids.core.disk import HOW_TO_OPEN, REAL
from geminids.core.values import Value
from geminids.storage.index.values import file_spans
from geminids.storage.text import snippets

if TYPE_CHECKING:
    from typing import BinaryIO

    from geminids.core.disk import Disk
    from geminids.storage.text.values import Snippet
    from geminids.storage.text.words import Wanted

LARGEST = 4_000_000
"""Bytes of one record that are read; of a longer one, so many of its beginning."""
ENOUGH = 200
"""Texts of a record that are looked at: a huge list of little ones holds no better snippet."""
SAID = ("human", "model", "other")
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

_PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""How packed files begin: places in them are places in what is in them."""
_LONGEST_SIGNATURE = max(map(len, _PACKED))


class Cutter:
    """Cuts snippets; keeps files open as long as it is used."""

    def __init__(
        self, paths: Mapping[int, str], wanted: "Wanted", width: int, disk: "Disk | None" = None
    ) -> None:
        self._paths = paths
        self._wanted = wanted
        self._letters = [want.text.lower() for want in wanted]
        self._width = width
        self._opened: dict[int, int | None] = {}
        self._contents: dict[int, BinaryIO] = {}
        """What is in files that are packed, or gone."""
        self._disk = disk
        """Has copies of what is gone; not asked as long as a file is there."""

    def __enter__(self) -> "Cutter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._opened.values():
            if handle is not None:
                os.close(handle)
        for content in self._contents.values():
            content.close()

    def cut(self, spans: str, columns: Sequence[str]) -> "Cut | None":
        """The most telling piece of a message; None if what is looked for is not there any more."""
        for file, start, end in file_spans(spans):
            record = self._read(file, start, end)
            if record and (best := self._best(list(_texts(record)), columns)):
                return best
        return None

    def _best(self, pieces: "Sequence[Piece]", columns: Sequence[str]) -> "Cut | None":
        """The snippet with the most matches, one from where the index says it matched before any other."""
        if not self._wanted:
            said = max(pieces, key=lambda piece: (piece.column is None, " " in piece.text), default=None)
            return Cut(snippets.opening(said.text, self._width), _columns(said)) if said else None
        likely = [piece for piece in pieces if self._is_likely(piece.text)]
        return self._densest(likely, columns) or self._densest(pieces, columns)

    def _is_likely(self, text: str) -> bool:
        """Whether it holds something wanted letter by letter: quick to see, and nearly always so."""
        small = text.lower()
        return any(want in small for want in self._letters)

    def _densest(self, pieces: "Sequence[Piece]", columns: Sequence[str]) -> "Cut | None":
        cuts = ((snippets.cut(piece.text, self._wanted, self._width), _columns(piece)) for piece in pieces)
        found = [Cut(snippet, belongs_to) for snippet, belongs_to in cuts if snippet]
        there = frozenset(columns)
        return max(
            found, key=lambda cut: (not there.isdisjoint(cut.columns), *_density(cut.snippet)), default=None
        )

    def _read(self, file: int, start: int, end: int) -> bytes | None:
        handle = self._handle(file)
        if handle is None and file not in self._contents:
            return None
        try:
            if file in self._contents:
                self._contents[file].seek(start)
                return self._contents[file].read(min(end - start, LARGEST))
            assert handle is not None
            return os.pread(handle, min(end - start, LARGEST), start)
        except OSError:
            return None

    def _handle(self, file: int) -> int | None:
        if file not in self._opened:
            if self._disk is not None and self._disk.is_foreign(self._paths.get(file, "")):
                self._opened[file] = None
                self._open_copy(file)
                return None
            try:
                handle = self._opened[file] = os.open(self._paths[file], HOW_TO_OPEN)
                if os.pread(handle, _LONGEST_SIGNATURE, 0).startswith(_PACKED):
                    self._contents[file] = _unpacked(self._paths[file], REAL)
            except (FileNotFoundError, NotADirectoryError):
                self._opened[file] = None
                self._open_copy(file)
            except (OSError, KeyError, ValueError):
                self._opened.setdefault(file, None)
        return self._opened[file]

    def _open_copy(self, file: int) -> None:
        """Take what was in a file that is gone, if there is a copy."""
        if self._disk is None:
            return
        path = self._paths[file]
        try:
            content = self._contents[file] = self._disk.opened(path)
            if content.read(_LONGEST_SIGNATURE).startswith(_PACKED):
                self._contents[file] = _unpacked(path, self._disk)
                content.close()
        except OSError:
            return


class Cut(Value):
    """A snippet, and the columns that it may be from."""

    snippet: "Snippet"
    columns: tuple[str, ...]


class Piece(Value):
    """A text of a message, and the column that it seems to belong to."""

    text: str
    column: str | None
    """None: said by somebody."""


def _unpacked(path: str, disk: "Disk") -> "BinaryIO":
    """What is in a packed file, as the agent that packed it says; nothing if none does, or too much."""
    # Few files are packed, and a reader takes long to load.
    from io import BytesIO
    from pathlib import Path

    from geminids.core import agents

    answers = (source.files().unpacked(Path(path), disk) for source in agents.every())
    try:
        return BytesIO(next((answer for answer in answers if answer is not None), b""))
    except OSError:
        return BytesIO()


def _density(snippet: "Snippet") -> tuple[int, int]:
    """How many different words of those that are wanted it holds, then how many."""
    shown = [snippet.text[start:end].lower() for start, end in snippet.spans]
    return len(set(shown)), len(shown)


def _columns(piece: Piece) -> tuple[str, ...]:
    """The columns that a text may belong to."""
    return SAID if piece.column is None else (piece.column,)


def _texts(record: bytes) -> Iterator[Piece]:
    """The texts of a record; of what is no JSON, all of it."""
    text = record.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield Piece(text.replace("\\n", " ").replace("\\t", " "), None)
        return
    for number, piece in enumerate(_strings(value, None, 0)):
        if number >= ENOUGH:
            return
        if not _is_blob(piece.text):
            yield piece


def _is_blob(text: str) -> bool:
    start = text[:_BLOB]
    return len(start) == _BLOB and start.isascii() and not any(map(str.isspace, start))


def _strings(value: Any, column: str | None, depth: int) -> Iterator[Piece]:
    match value:
        case str() if value:
            yield Piece(value, column)
        case dict() if depth < _DEEPEST:
            for key, inner in value.items():
                if key not in _IDS or isinstance(inner, dict | list):
                    yield from _strings(inner, _column(key, column), depth + 1)
        case list() if depth < _DEEPEST:
            for inner in value:
                yield from _strings(inner, column, depth + 1)


def _column(key: str, above: str | None) -> str | None:
    if key.lower().endswith(_PATH_KEYS):
        return "path"
    return above or _COLUMNS_OF_KEYS.get(key)
