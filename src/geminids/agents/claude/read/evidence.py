"""The folders that a session names: those it was worked in, and those of the files it touched."""

from __future__ import annotations

from collections.abc import Iterator

from geminids.core.model import FileReference, Session, ToolCall
from geminids.core.spellings import ancestors
from geminids.reading.shapes import is_absolute

_PATHS = ("file_path", "path", "notebook_path", "cwd", "workdir")
_MOST_PATHS = 2_000


def named_folders(session: Session) -> Iterator[str]:
    """Every folder that a session names, and those above them, each once."""
    seen: set[str] = set()
    for count, path in enumerate(_paths(session)):
        if count >= _MOST_PATHS:
            return
        for folder in ancestors(path):
            if folder in seen:
                break
            seen.add(folder)
            yield folder


def _paths(session: Session) -> Iterator[str]:
    if session.project.path:
        yield session.project.path
    yield from session.directories
    for message in session.messages:
        for part in message.parts:
            match part:
                case ToolCall():
                    named = (part.arguments.get(name) for name in _PATHS)
                    yield from (path for path in named if isinstance(path, str) and is_absolute(path))
                    yield from (change.path for change in part.changes if is_absolute(change.path))
                case FileReference() if is_absolute(part.path):
                    yield part.path
