"""Changing what users say of sessions: all of a change is made, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from unicodedata import category, normalize

from geminids.core.errors import NOTHING_FOUND, GeminidsError
from geminids.storage.durable.database import (
    FILE_NAME,
    MARKS,
    VERSION,
    Reader,
    changing,
    is_expected,
    next_generation,
)
from geminids.storage.durable.marks import read
from geminids.storage.durable.values import MarkChange, Marks

if TYPE_CHECKING:
    from pathlib import Path
    from sqlite3 import Connection

LONGEST_NAME = 200
LONGEST_TAG = 64
LONGEST_NOTE = 20_000
_LONGEST_ID = 512
_UNSHOWN = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Letters that break lines or turn their direction: what follows would be shown wrongly."""

_TAKE_NAME = "DELETE FROM names WHERE session = ?"
_GIVE_NAME = (
    "INSERT INTO names (session, name) VALUES (?, ?) "
    "ON CONFLICT (session) DO UPDATE SET name = excluded.name, sum = NULL WHERE name != excluded.name"
)
_TAKE_TAG = "DELETE FROM tags WHERE session = ? AND tag = ?"
_GIVE_TAG = "INSERT OR IGNORE INTO tags (session, tag) VALUES (?, ?)"
_TAKE_NOTE = "DELETE FROM notes WHERE session = ? AND id = ?"
_GIVE_NOTE = "INSERT INTO notes (session, at, text) VALUES (?, ?, ?)"


class BadMarkError(GeminidsError):
    """A name, tag or note that cannot be kept."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"A {what} {reason}.")


class NoSuchNoteError(GeminidsError):
    """A note that the session does not have."""

    exit_code = NOTHING_FOUND

    def __init__(self, session: object, note_id: object) -> None:
        super().__init__(
            f"{session} has no note {note_id}. Nothing was changed; `geminids mark` shows the notes."
        )


def change(folder: Path | str, session_id: str, wanted: MarkChange, at: datetime) -> Marks:
    """Change what is said of a session, all of it or nothing; what is said of it then.

    Raises BadMarkError, NoSuchNoteError, and whatever `changing` does.
    """
    from pathlib import Path

    session = _session(session_id)
    statements = list(_statements(session, wanted, at))
    data = Path(folder)
    if not _gives(wanted) and not is_expected(data / FILE_NAME):
        # What only takes makes no file.
        for note_id in wanted.without_notes:
            raise NoSuchNoteError(session, note_id)
        return Marks()
    with changing(data, asked=True) as connection:
        _execute(connection, statements)
        return read(Reader(connection, VERSION), [session]).get(session, Marks())


def as_kept(tag: str) -> str:
    """A tag as it is kept: in small letters, without a `#`. Raises BadMarkError for what is none."""
    kept = _plain("tag", tag, LONGEST_TAG).removeprefix("#").casefold()
    if not kept:
        raise BadMarkError("tag", "needs at least one letter")
    if len(kept.split()) > 1 or "," in kept:
        raise BadMarkError("tag", f"is one word, without blanks or commas; {tag!r} is not. Give several tags")
    return kept


def _gives(wanted: MarkChange) -> bool:
    return wanted.name is not None or bool(wanted.tags or wanted.notes)


_Statement = tuple[str, tuple[object, ...]]
"""SQL, and its values."""


def _statements(session: str, wanted: MarkChange, at: datetime) -> Iterator[_Statement]:
    """What is to be done, first what takes. Raises BadMarkError."""
    if wanted.without_name:
        yield _TAKE_NAME, (session,)
    for tag in wanted.without_tags:
        yield _TAKE_TAG, (session, as_kept(tag))
    for note_id in wanted.without_notes:
        # As text: what SQLite has no room for as a number is the id of no note.
        yield _TAKE_NOTE, (session, str(note_id))
    if wanted.name is not None:
        yield _GIVE_NAME, (session, _plain("name", wanted.name, LONGEST_NAME))
    for tag in wanted.tags:
        yield _GIVE_TAG, (session, as_kept(tag))
    for note in wanted.notes:
        text = _plain("note", note.replace("\r\n", "\n"), LONGEST_NOTE, allowed="\n\t")
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
    _plain("session id", session_id, _LONGEST_ID)
    return session_id


def _plain(what: str, text: str, longest: int, allowed: str = "") -> str:
    """The text as it is kept. Raises BadMarkError if it is blank, too long or not to be shown."""
    kept = normalize("NFC", text.strip())
    if not kept:
        raise BadMarkError(what, "needs at least one letter")
    if len(kept) > longest:
        raise BadMarkError(what, f"may have {longest:,} characters; this one has {len(kept):,}")
    for letter in kept:
        if letter not in allowed and _is_control(letter):
            raise BadMarkError(what, f"may not hold control characters; this one holds U+{ord(letter):04X}")
    return kept


def _is_control(letter: str) -> bool:
    # Cs: half an emoji, which cannot be stored.
    return letter in _UNSHOWN or category(letter) in ("Cc", "Cs")
