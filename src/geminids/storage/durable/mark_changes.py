"""Changing what users say of sessions: all of a change is made, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from geminids.core.errors import NOTHING_FOUND, GeminidsError
from geminids.storage.durable.changes import changing
from geminids.storage.durable.database import (
    FILE_NAME,
    MARKS,
    VERSION,
    Reader,
    is_expected,
    next_generation,
)
from geminids.storage.durable.mark_texts import LONGEST_NAME, LONGEST_NOTE, stored_tag, stored_text
from geminids.storage.durable.marks import read
from geminids.storage.durable.values import MarkChange, Marks

if TYPE_CHECKING:
    from pathlib import Path
    from sqlite3 import Connection

_LONGEST_ID = 512
_TAKE_NAME = "DELETE FROM names WHERE session = ?"
_GIVE_NAME = (
    "INSERT INTO names (session, name) VALUES (?, ?) "
    "ON CONFLICT (session) DO UPDATE SET name = excluded.name, sum = NULL WHERE name != excluded.name"
)
_TAKE_TAG = "DELETE FROM tags WHERE session = ? AND tag = ?"
_GIVE_TAG = "INSERT OR IGNORE INTO tags (session, tag) VALUES (?, ?)"
_TAKE_NOTE = "DELETE FROM notes WHERE session = ? AND id = ?"
_GIVE_NOTE = "INSERT INTO notes (session, at, text) VALUES (?, ?, ?)"


class NoSuchNoteError(GeminidsError):
    """A note that the session does not have."""

    exit_code = NOTHING_FOUND

    def __init__(self, session: object, note_id: object) -> None:
        super().__init__(
            f"{session} has no note {note_id}. Nothing was changed; `geminids mark` shows the notes."
        )


def change(folder: Path | str, session_id: str, wanted: MarkChange, at: datetime) -> Marks:
    """Change the marks of one session as `change_each` does, and return its marks."""
    return change_each(folder, [session_id], wanted, at)[session_id]


def change_each(
    folder: Path | str, session_ids: Sequence[str], wanted: MarkChange, at: datetime
) -> dict[str, Marks]:
    """Change the marks of some sessions, all of them or none; return the marks of each by its id.

    Raises BadMarkError, NoSuchNoteError, and whatever `changing` does.
    """
    from pathlib import Path

    sessions = [_session(session_id) for session_id in session_ids]
    statements = [statement for session in sessions for statement in _statements(session, wanted, at)]
    data = Path(folder)
    if not _gives(wanted) and not is_expected(data / FILE_NAME):
        # What only takes makes no file.
        for note_id in wanted.without_notes:
            raise NoSuchNoteError(sessions[0], note_id)
        return dict.fromkeys(sessions, Marks())
    with changing(data, asked=True) as connection:
        _execute(connection, statements)
        return dict.fromkeys(sessions, Marks()) | read(Reader(connection, VERSION), sessions)


def _gives(wanted: MarkChange) -> bool:
    return wanted.name is not None or bool(wanted.tags or wanted.notes)


_Statement = tuple[str, tuple[object, ...]]
"""SQL, and its values."""


def _statements(session: str, wanted: MarkChange, at: datetime) -> Iterator[_Statement]:
    """What is to be done, first what takes. Raises BadMarkError."""
    if wanted.without_name:
        yield _TAKE_NAME, (session,)
    for tag in wanted.without_tags:
        yield _TAKE_TAG, (session, stored_tag(tag))
    for note_id in wanted.without_notes:
        # As text: what SQLite has no room for as a number is the id of no note.
        yield _TAKE_NOTE, (session, str(note_id))
    if wanted.name is not None:
        yield _GIVE_NAME, (session, stored_text("name", wanted.name, LONGEST_NAME))
    for tag in wanted.tags:
        yield _GIVE_TAG, (session, stored_tag(tag))
    for note in wanted.notes:
        text = stored_text("note", note.replace("\r\n", "\n"), LONGEST_NOTE, allowed="\n\t")
        yield _GIVE_NOTE, (session, at.astimezone(UTC).isoformat(), text)


def _execute(connection: Connection, statements: Iterable[_Statement]) -> None:
    changed = 0
    for statement, values in statements:
        rows = connection.execute(statement, values).rowcount
        if not rows and statement is _TAKE_NOTE:
            raise NoSuchNoteError(*values)
        changed += rows
    if changed:
        next_generation(connection, MARKS)


def _session(session_id: str) -> str:
    """The id as it is: people name saved chats, and agents compare those names letter by letter."""
    stored_text("session id", session_id, _LONGEST_ID)
    return session_id
