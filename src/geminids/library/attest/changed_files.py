"""Whether the files of a session still hold what it was read from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geminids.core.model import Location, Session, SessionFile
from geminids.sharing.records.natives import Natives


def changed_file(session: Session, natives: Natives) -> str | None:
    """A file that no longer holds what the session was read from; None if all do.

    Logs only grow, and what was read of them stays. That it did is seen by the places of messages, each of
    which must be a line.
    """
    for file in session.files:
        native = natives.files.get(file.path)
        if native is None or not _has_kept_size(file):
            return file.path
        is_log = "jsonl" in file.format
        if is_log and not all(_is_line(native.content, place) for place in _places_in(session, file.path)):
            return file.path
    return None


def _has_kept_size(file: SessionFile) -> bool:
    try:
        size = file.size if file.kept else Path(file.path).stat().st_size
    except OSError:
        # It was read a moment ago; what is kept elsewhere by now does not change.
        return True
    return size >= file.size if "jsonl" in file.format else size == file.size


def _is_line(content: bytes, place: Location) -> bool:
    """Whether a place still begins and ends where a line does."""
    line = content[place.start : place.end]
    before, after = content[max(place.start - 1, 0) : place.start], content[place.end : place.end + 1]
    is_whole = len(line) == place.end - place.start and line.strip() == line and b"\n" not in line
    return is_whole and before in {b"", b"\n"} and after in {b"", b"\n", b"\r"}


def _places_in(session: Session, path: str) -> Iterator[Location]:
    for message in session.messages:
        yield from (place for place in message.places if place.file == path)
