"""The bytes of the files that a session was read from, and the JSON that stands in them at a place.

A file is a log, in which a place is a line or a piece of one, or a document, in which a place is an element
with a pointer. Bytes that are no JSON are read as text, with replacement characters where they are no UTF-8:
nothing here fails because an agent wrote something odd. A file that is gone is named as missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

from geminids.core.model import Location, Session
from geminids.reading.jsonl import UndecodableError, decode

_NO_JSON = object()
"""Instead of a document, where the bytes hold none."""
_PACKED = "-zst"
"""How formats end whose files are packed: the size on the disk says nothing about what is in them."""


class NativeFile:
    """The bytes of one file, up to where the session was read."""

    def __init__(self, path: str, content: bytes, *, is_log: bool, is_own: bool) -> None:
        self.path = path
        self.content = content
        self.is_own = is_own
        """Whether the session lies in it; if not, the file of another session tells some of this one."""
        self._is_log = is_log
        self._values: dict[tuple[int, int], Any] = {}
        self._unread: set[tuple[int, int]] = set()
        """Spans that hold no JSON."""
        self._hashes: dict[tuple[int, int], str] = {}

    @cached_property
    def sha256(self) -> str:
        """The hash of all its bytes."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def document(self) -> Any:
        """What the file holds as one JSON value; see `is_document`."""
        if self._is_log:
            return _NO_JSON
        value = _value_of(self.content)
        return value if type(value) in (dict, list) else _NO_JSON

    @property
    def is_document(self) -> bool:
        """Whether the file is one JSON value, and not a log, a text or what is left of a document."""
        return self.document is not _NO_JSON

    def holds(self, place: Location) -> bool:
        """Whether the file still has the bytes of a place."""
        return 0 <= place.start <= place.end <= len(self.content)

    def hash_of(self, place: Location) -> str:
        """The hash of the bytes from start to end. Many places may be in the same line."""
        span = place.start, place.end
        if span == (0, len(self.content)):
            return self.sha256
        known = self._hashes.get(span)
        if known is None:
            view = memoryview(self.content)[place.start : place.end]
            known = self._hashes[span] = hashlib.sha256(view).hexdigest()
        return known

    def value_at(self, place: Location) -> Any:
        """The JSON at a place; the text if its bytes are no JSON."""
        if place.pointer is not None and self.is_document:
            found = pointed_at(self.document, place.pointer)
            if found is not MISSING:
                return found
        value = self.value_of(place.start, place.end)
        if place.pointer is None:
            return value
        # In what is left of a document the bytes are those of the element itself.
        found = pointed_at(value, place.pointer)
        return value if found is MISSING else found

    def value_of(self, start: int, end: int) -> Any:
        """The JSON of these bytes, read once; the text if they are none."""
        known = self._values.get((start, end), _NO_JSON)
        if known is _NO_JSON:
            raw = self.content[start:end]
            known = _value_of(raw)
            if known is _NO_JSON:
                self._unread.add((start, end))
                known = raw.decode("utf-8", "replace")
            self._values[start, end] = known
        return known

    def is_json(self, start: int, end: int) -> bool:
        """Whether these bytes hold a JSON value."""
        self.value_of(start, end)
        return (start, end) not in self._unread

    def lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where the lines of some bytes begin and end in the file, without white space around them."""
        content = self.content
        while start < end:
            line_end = content.find(b"\n", start, end)
            line_end = end if line_end < 0 else line_end
            written = content[start:line_end]
            stripped = written.lstrip()
            if stripped:
                begin = line_end - len(stripped)
                yield begin, begin + len(stripped.rstrip())
            start = line_end + 1


class Natives(NamedTuple):
    """The files of one session, by their paths."""

    files: Mapping[str, NativeFile]
    missing: tuple[str, ...] = ()
    """Files that could not be read; what stands in them has no evidence."""

    def file_of(self, place: Location) -> NativeFile | None:
        """The file that a place is in; None if its bytes are not there any more."""
        file = self.files.get(place.file)
        return file if file is not None and file.holds(place) else None


def read_natives(session: Session, content: Callable[[str], bytes]) -> Natives:
    """The files that a session was read from.

    `content` gives the bytes of a path, unpacked if the agent packs them, or raises OSError. Of a file that
    has grown since, what was read then counts; of a file of another session, which may grow as well, what
    stands up to the last place in it.
    """
    files: dict[str, NativeFile] = {}
    missing: list[str] = []
    ends = _last_places(session)
    own = {file.path: file for file in session.files}
    for path in dict.fromkeys([*own, *ends]):
        try:
            stored = content(path)
        except OSError:
            missing.append(path)
            continue
        known = own.get(path)
        file_format = known.format if known else session.files[0].format if session.files else ""
        if known is None:
            stored = stored[: ends[path]]
        elif not file_format.endswith(_PACKED):
            stored = stored[: known.size]
        files[path] = NativeFile(path, stored, is_log="jsonl" in file_format, is_own=known is not None)
    return Natives(files, tuple(missing))


def _last_places(session: Session) -> dict[str, int]:
    """Where the last place of the messages ends, in each file that they name."""
    ends: dict[str, int] = {}
    for message in session.messages:
        for place in message.places:
            if place.end > ends.get(place.file, -1):
                ends[place.file] = place.end
    return ends


MISSING = object()
"""What a pointer gives that leads nowhere."""


def pointed_at(value: Any, pointer: str) -> Any:
    """The value that a JSON pointer leads to; MISSING if it leads nowhere."""
    for step in steps_of(pointer):
        if type(value) is dict:
            value = value.get(step, MISSING)
        elif type(value) is list and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def steps_of(pointer: str) -> list[str]:
    """The steps of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _value_of(raw: bytes) -> Any:
    """The JSON of these bytes; _NO_JSON if they are none, or if a number in them is too large to be one."""
    try:
        decoded = decode(raw)
        is_sound = decoded.forgiven is None or _is_finite(decoded.value)
    except (UndecodableError, RecursionError):
        return _NO_JSON
    return decoded.value if is_sound else _NO_JSON


def _is_finite(value: Any) -> bool:
    match value:
        case float():
            return isfinite(value)
        case list():
            return all(map(_is_finite, value))
        case dict():
            return all(map(_is_finite, value.values()))
        case _:
            return True
