"""What leaves the server as JSON: every answer, every fault and every event is written here, nowhere else.

So no field can be forgotten, also none that is added tomorrow: all are looked through for secrets where these
are hidden, and no character that steers or reorders is left in any. What the page sends back to mean
something (`Handle`) must still mean it: where such a one cannot be shown as it is, a mark stands for it, the
same at every start as long as the key of the redaction is.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache, partial
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from geminids.core.model import SessionKind
from geminids.faces.documents.base import Document, Handle
from geminids.faces.documents.sessions import project_key
from geminids.faces.serving.redaction import Redaction
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.query.usage.stats import StatsQuestion
from geminids.sharing.export.data import encode
from geminids.sharing.transcript import safe

MOST_MARKS = 100_000
"""Handles of which is remembered what they stand for."""
_MARK = re.compile(r"@[0-9a-f]{20}\b")
_VALUE = re.compile(r"(?P<exactly>=?)(?P<mark>@[0-9a-f]{20}\b)")

Answer = TypeVar("Answer", bound=Document)
Struct = TypeVar("Struct", bound=msgspec.Struct)
Mark = Callable[[str, str], str]
"""What is shown for a handle, of itself and of the same without secrets."""


class HandleMarks:
    """What stands for handles that cannot be shown as they are, and what is meant by it."""

    def __init__(self) -> None:
        self._meant: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def of(self, handle: str, hidden: str) -> str:
        """What is shown for a handle; `hidden` is the same without secrets."""
        if handle == hidden == safe.line(handle) or _MARK.fullmatch(handle):
            return handle
        mark = f"@{blake2b(hidden.encode('utf-8', 'surrogatepass'), digest_size=10).hexdigest()}"
        with self._lock:
            self._meant[mark] = handle
            self._meant.move_to_end(mark)
            if len(self._meant) > MOST_MARKS:
                self._meant.popitem(last=False)
        return mark

    def unknown(self, asked: Sequence[str]) -> bool:
        """Whether there is a mark in some words that nobody remembers."""
        with self._lock:
            return any(mark not in self._meant for words in asked for mark in _MARK.findall(words))

    def meant(self, words: str) -> str:
        """Some words with what was meant in the place of each mark."""
        if "@" not in words:
            return words
        with self._lock:
            known = {mark: self._meant[mark] for mark in _MARK.findall(words) if mark in self._meant}
        return known.get(words) or _VALUE.sub(lambda found: _written_out(found, known), words)


def _written_out(found: re.Match[str], known: dict[str, str]) -> str:
    """What a mark stands for, as a value in the language of searches: in quotes, if it is in none yet."""
    if (meant := known.get(found["mark"])) is None:
        return found[0]
    value = found["exactly"] + meant.replace('"', "")
    return value if found.string.count('"', 0, found.start()) % 2 else f'"{value}"'


class JsonWriter:
    """Writes what leaves the server."""

    def __init__(self, redaction: Redaction) -> None:
        self.marks = HandleMarks()
        self._redaction = redaction

    def encoded(
        self, document: Document, library: Library | None = None, *, hides_itself: bool = False
    ) -> bytes:
        """A document as JSON; with a library, without secrets, unless it was made of what has none."""
        if library is None or hides_itself:
            return harmless(self.marked(document))
        return harmless(self.hidden(document, library))

    def piece(self, document: Document) -> msgspec.Raw:
        """A part of an answer, made of what has no secrets, as the JSON that it will be."""
        return msgspec.Raw(encode(self.marked(document)))

    def marked(self, document: Answer) -> Answer:
        """Return a document with marks for the handles that cannot be shown as they are."""
        answer: Answer = _marked(document, document, self.marks.of)
        return answer

    def hidden(self, document: Answer, library: Library) -> Answer:
        """A document without secrets, with marks for the handles that have some."""
        redacted = self._redaction.value(library, document)
        answer: Answer = _marked(document, redacted, partial(self.mark, library))
        return answer

    def mark(self, library: Library, handle: str, hidden: str) -> str:
        """What is shown for a handle. It is looked at alone, to be the same wherever it stands."""
        alone = self._redaction.text(library, handle) if handle != hidden else handle
        return self.marks.of(handle, hidden if alone == handle else alone)

    def meant(self, asked: Struct, library: Library, *, is_redacted: bool) -> Struct:
        """What is asked, with what is meant in the place of marks."""
        fields = {name: getattr(asked, name) for name in asked.__struct_fields__}
        words = {
            name: value
            for name, value in fields.items()
            if isinstance(value, str | tuple) and "@" in str(value)
        }
        if not words:
            return asked
        flat = [one for value in words.values() for one in ([value] if isinstance(value, str) else value)]
        if self.marks.unknown(flat):
            self._learn(library, is_redacted=is_redacted)
        meant = self.marks.meant
        changed = {
            name: meant(value) if isinstance(value, str) else tuple(map(meant, value))
            for name, value in words.items()
        }
        return msgspec.structs.replace(asked, **changed)

    def _learn(self, library: Library, *, is_redacted: bool) -> None:
        """Find out what marks of an earlier start stand for."""
        handles = [
            *library.keys(library.listing(Filter(kinds=frozenset(SessionKind))).sessions),
            *(
                project_key(one)
                for report in library.projects().projects
                for one in (report.project, *report.also)
            ),
            *(group.key for by in ("model", "tool") for group in library.stats(StatsQuestion(by=by)).groups),
        ]
        hidden = self._redaction.value(library, handles) if is_redacted else handles
        for handle, one in zip(handles, hidden, strict=True):
            self.mark(library, handle, one)


def harmless(document: object) -> bytes:
    """A document as JSON in which no character steers, reorders or hides anything."""
    return safe.shown_json(encode(document))


def _marked(value: Any, hidden: Any, mark: Mark) -> Any:
    if isinstance(value, msgspec.Struct):
        return _marked_struct(value, hidden, mark)
    if isinstance(value, list | tuple):
        items = [_marked(one, other, mark) for one, other in zip(value, hidden, strict=True)]
        return hidden if all(new is old for new, old in zip(items, hidden, strict=True)) else items
    return hidden


def _marked_struct(value: msgspec.Struct, hidden: Any, mark: Mark) -> Any:
    handles, inside = _fields(type(value))
    shown: dict[str, Any] = {}
    for name in handles:
        handle, other = getattr(value, name), getattr(hidden, name)
        if isinstance(handle, str):
            shown[name] = mark(handle, other)
        elif handle is not None:
            shown[name] = [mark(one, another) for one, another in zip(handle, other, strict=True)]
    shown |= {name: _marked(getattr(value, name), getattr(hidden, name), mark) for name in inside}
    changed = {name: one for name, one in shown.items() if one is not getattr(hidden, name)}
    return msgspec.structs.replace(hidden, **changed) if changed else hidden


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which fields of a document are handles, and which hold documents that may have some."""
    hints = get_type_hints(kind, include_extras=True) if issubclass(kind, Document) else {}
    handles = tuple(name for name, hint in hints.items() if _is_handle(hint))
    return handles, tuple(
        name for name, hint in hints.items() if name not in handles and _has_documents(hint)
    )


def _is_handle(hint: Any) -> bool:
    return hint == Handle or any(map(_is_handle, get_args(hint)))


def _has_documents(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, Document):
        handles, inside = _fields(hint)
        return bool(handles or inside)
    return any(map(_has_documents, get_args(hint)))
